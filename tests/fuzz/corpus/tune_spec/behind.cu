int x; // fullwarp: param B = 1
// fullwarp: kernel k ; grid = ceil(N / B) ; block = B ; arg o f32[N] output ; set N = 1000
