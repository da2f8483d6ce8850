/*
 * 2-D convolution with a 15 x 15 filter: every thread makes TX x TY outputs. The tile of inputs may be staged in shared
 * memory, the filter too; PAD lets the two rows that a warp of half rows reads lie in different banks.
 *
 * fullwarp tune examples/tune/conv2d.cu
 */
// fullwarp: kernel conv2d ; block = BX, BY ; grid = ceil(W / (BX * TX)), ceil(H / (BY * TY))
// fullwarp: set W = 4096 ; set H = 4096 ; set F = 15 ; check W = 1000, H = 777 ; check W = 33, H = 129
// fullwarp: arg in f32[H + F - 1][W + F - 1] random ; arg filter f32[F][F] random ; arg out f32[H][W] output
// fullwarp: param BX = 16 32 48 64 96 128 default 16 ; param BY = 1 2 4 8 16 default 16
// fullwarp: param TX = 1 2 3 4 ; param TY = 1 2 4 6
// fullwarp: param TILE = 0 1 ; param PAD = 0 1 ; param FILTER = 0 1 ; param UNROLL = 1 3 15
// fullwarp: where BX * BY % 32 == 0 && BX * BY >= 64 && BX * BY <= 512
// fullwarp: where TX * TY <= 16 ; where UNROLL < 15 || TX * TY <= 8 ; where !PAD || (TILE && BX % 32 == 16)
// fullwarp: where !TILE || 4 * ((BX * TX + F - 1 + 32 * PAD) * (BY * TY + F - 1) + F * F) <= 48 * 1024
#ifndef BX
#define W      4096
#define H      4096
#define F      15
#define BX     16
#define BY     16
#define TX     1
#define TY     1
#define TILE   0
#define PAD    0
#define FILTER 0
#define UNROLL 1
#endif

constexpr int FACTOR = UNROLL; /* nvcc expands no macros in pragmas */

#define IN_W (W + F - 1)
#define IN_H (H + F - 1)

#define TILE_W (BX * TX + F - 1)
#define TILE_H (BY * TY + F - 1)
#if PAD
#define STRIDE ((TILE_W + 15) / 32 * 32 + 16) /* half of the banks more than a multiple of them */
#else
#define STRIDE TILE_W
#endif

__global__ void conv2d(const float *__restrict__ in, const float *__restrict__ filter,
		       float *__restrict__ out)
{
	const int x0 = blockIdx.x * (BX * TX), y0 = blockIdx.y * (BY * TY);
	float sum[TY][TX] = {};

#if FILTER
	__shared__ float weights[F * F];

	for (int i = threadIdx.y * BX + threadIdx.x; i < F * F; i += BX * BY)
		weights[i] = filter[i];
#else
	const float *__restrict__ weights = filter;
#endif
#if TILE
	__shared__ float tile[TILE_H][STRIDE];

	for (int y = threadIdx.y; y < TILE_H; y += BY)
		for (int x = threadIdx.x; x < TILE_W; x += BX)
			tile[y][x] = y0 + y < IN_H && x0 + x < IN_W ?
					     in[(y0 + y) * IN_W + x0 + x] :
					     0.0f;
#endif
#if TILE || FILTER
	__syncthreads();
#endif
#pragma unroll 1
	for (int fy = 0; fy < F; fy++) {
#pragma unroll FACTOR
		for (int fx = 0; fx < F; fx++) {
			const float weight = weights[fy * F + fx];

#pragma unroll
			for (int ty = 0; ty < TY; ty++) {
#pragma unroll
				for (int tx = 0; tx < TX; tx++) {
					const int x = threadIdx.x + tx * BX + fx;
					const int y = threadIdx.y + ty * BY + fy;
#if TILE
					sum[ty][tx] += tile[y][x] * weight;
#else
					/* What lies outside is not stored: any value serves. */
					sum[ty][tx] += in[min(y0 + y, IN_H - 1) * IN_W +
							  min(x0 + x, IN_W - 1)] *
						       weight;
#endif
				}
			}
		}
	}
#pragma unroll
	for (int ty = 0; ty < TY; ty++) {
#pragma unroll
		for (int tx = 0; tx < TX; tx++) {
			const int x = x0 + threadIdx.x + tx * BX, y = y0 + threadIdx.y + ty * BY;

			if (x < W && y < H)
				out[y * W + x] = sum[ty][tx];
		}
	}
}
