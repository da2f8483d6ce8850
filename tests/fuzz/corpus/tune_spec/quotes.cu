// fullwarp: kernel k ; grid = ceil(N / B) ; block = B ; arg o f32[N] output ; set N = 1000
// fullwarp: param B = 32 ; flags "a;b" c ; arg f f32[1] file "x;y" ; arg "
