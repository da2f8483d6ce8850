// fullwarp: kernel k ; grid = ceil(N / B) ; block = B ; arg o f32[N] output ; set N = 1000
// fullwarp: param B = 1..1000 ; param P0 = 1..64 ; param P1 = 1..64 ; param P2 = 1..64 ; param P3 = 1..64 ; param P4 = 1..64 ; param P5 = 1..64 ; param P6 = 1..64 ; param P7 = 1..64 ; param P8 = 1..64
