// fullwarp: kernel scale ; grid = ceil(N / BX) ; block = BX
// fullwarp: param BX = 32 64 128 256 512 default 256 ; param U = 1 2
// fullwarp: set N = 1000 ; check N = 777
// fullwarp: arg out f32[N] output rel 1e-5 ; arg in f32[N] random(1, 2) ; arg n i32 = N
__global__ void scale(float *out, const float *in, int n) { int i = BX + N + U; }
// fake scale: effect scale
// fake scale BX=64: time_us 50
// fake scale BX=128: time_us 40
// fake scale BX=128: registers 96
// fake scale BX=32: effect wrong 3
// fake * BX=512 U=2: error too many registers
