// fullwarp: param B = 1 ; set S = 4000000000 ; kernel k ; grid = 1 ; block = B ; arg o f64[S][S][S] output ; arg n u8 = S ; check S = 0 - 1
