// fullwarp: param B = -5 0 1 ; kernel k ; grid = B * 4294967296, B ; block = B, B, 65 ; smem = B - 2 ; arg o f32[B] output
