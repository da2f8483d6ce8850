// fullwarp: kernel conv<BX, T> ; grid = ceil(W / (BX * TX)), H ; block = BX, 2 ; smem = 4 * BX
// fullwarp: param BX = 16..64 step 16 default 32 ; param TX = 1..8 times 2 ; param T = float double
// fullwarp: where BX * TX % 32 == 0 && (TX < 8 || !(BX > 32)) ; set W = 4096 ; set H = W / 2 ; check W = 1000, H = 777
// fullwarp: arg in f16[H + 14][W] random(-1, 1) ; arg out f32[H][W] output rel 1e-3 abs 1e-5 ; arg n i32 = W * H
// fullwarp: arg a f64 = -2.5e3 ; arg t u8[W] file "t.bin" ; arg acc u64[1] zero inout ; arg s i16[4] sequence ; arg e bf16[2] ones
// fullwarp: flags -std=c++17 -I "a b" ; param maxrregcount = 0 32 ; param launch_bounds = 0 2 ; param cluster = 1 2
// fullwarp: param flags = "" "-G -lineinfo" ; param carveout = -1 50 ; reference kernel slow grid = W, ceil(H / 8) block = 32, 8
template <int BX, typename T> __global__ void FULLWARP_BOUNDS conv(T *in) { return TX; }
