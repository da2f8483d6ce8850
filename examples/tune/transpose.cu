/*
 * Transposes a matrix: a block moves a tile of TX x TY elements, through shared memory or straight; SWAP makes the blocks
 * that run together walk down instead of along.
 *
 * fullwarp tune examples/tune/transpose.cu
 */
// fullwarp: kernel transpose ; block = BX, BY
// fullwarp: grid = SWAP ? ceil(H / TY) : ceil(W / TX), SWAP ? ceil(W / TX) : ceil(H / TY)
// fullwarp: set W = 4096 ; set H = 4096 ; check W = 1000, H = 777 ; check W = 31, H = 4097
// fullwarp: arg in f32[H][W] random ; arg out f32[W][H] output
// fullwarp: param TX = 16 32 64 ; param TY = 16 32 64 ; param BX = 8 16 32 64 default 16 ; param BY = 4 8 16 32 default 16
// fullwarp: param SHARED = 0 1 ; param PAD = 0 1 ; param SWAP = 0 1 ; param STREAM = 0 1
// fullwarp: where BX <= TX && BY <= TY && (!SHARED || (BX <= TY && BY <= TX))
// fullwarp: where BX * BY >= 64 && BX * BY <= 1024 ; where SHARED || !PAD
#ifndef TX
#define W      4096
#define H      4096
#define TX     16
#define TY     16
#define BX     16
#define BY     16
#define SHARED 0
#define PAD    0
#define SWAP   0
#define STREAM 0
#endif

/* STREAM: data that is used once need not stay in a cache. */
static __device__ __forceinline__ float load(const float *p)
{
#if STREAM
	return __ldcs(p);
#else
	return *p;
#endif
}

static __device__ __forceinline__ void store(float *p, float value)
{
#if STREAM
	__stcs(p, value);
#else
	*p = value;
#endif
}

__global__ void transpose(const float *__restrict__ in, float *__restrict__ out)
{
#if SWAP
	const int x0 = blockIdx.y * TX, y0 = blockIdx.x * TY;
#else
	const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
#endif

#if SHARED
	__shared__ float tile[TY][TX + PAD];

#pragma unroll
	for (int y = 0; y < TY; y += BY)
#pragma unroll
		for (int x = 0; x < TX; x += BX) {
			const int tx = x + threadIdx.x, ty = y + threadIdx.y;

			if (x0 + tx < W && y0 + ty < H)
				tile[ty][tx] = load(in + (y0 + ty) * W + x0 + tx);
		}
	__syncthreads();
#pragma unroll
	for (int x = 0; x < TX; x += BY)
#pragma unroll
		for (int y = 0; y < TY; y += BX) {
			const int tx = x + threadIdx.y, ty = y + threadIdx.x;

			if (x0 + tx < W && y0 + ty < H)
				store(out + (x0 + tx) * H + y0 + ty, tile[ty][tx]);
		}
#else
#pragma unroll
	for (int y = 0; y < TY; y += BY)
#pragma unroll
		for (int x = 0; x < TX; x += BX) {
			const int tx = x0 + x + threadIdx.x, ty = y0 + y + threadIdx.y;

			if (tx < W && ty < H)
				store(out + tx * H + ty, load(in + ty * W + tx));
		}
#endif
}
