// fullwarp: kernel k ; grid = ceil(N / B) ; block = B ; arg o f32[N] output ; set N = 1000
// fullwarp: param B = 32 ; set M = 0 - 9223372036854775807 - 1 ; where M / -1 ; where -M ; where M % -1
