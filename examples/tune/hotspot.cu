/*
 * Heat that spreads over a chip, STEPS steps in one launch: a block loads a tile with a rim STEPS wide and computes all
 * steps in shared memory, on a region that shrinks by one cell a step. Larger tiles repeat less of their rims.
 *
 * fullwarp tune examples/tune/hotspot.cu
 */
// fullwarp: kernel hotspot ; block = BX, BY ; grid = ceil(W / (BX * TX)), ceil(H / (BY * TY))
// fullwarp: smem = 4 * (2 + POWER) * (BX * TX + 2 * STEPS) * (BY * TY + 2 * STEPS)
// fullwarp: set W = 4096 ; set H = 4096 ; set STEPS = 4 ; check W = 1000, H = 777 ; check W = 5, H = 300
// fullwarp: arg heat f32[H][W] random(20, 80) ; arg power f32[H][W] random ; arg next f32[H][W] output
// fullwarp: param BX = 16 32 64 128 ; param BY = 2 4 8 16 32 default 16 ; param TX = 1 2 4 ; param TY = 1 2 4 8
// fullwarp: param POWER = 0 1 ; param UNROLL = 1 4 ; param launch_bounds = 0 2
// fullwarp: where BX * BY >= 64 && BX * BY <= 1024 && (launch_bounds == 0 || BX * BY <= 512)
// fullwarp: where 4 * (2 + POWER) * (BX * TX + 2 * STEPS) * (BY * TY + 2 * STEPS) <= 96 * 1024
#ifndef BX
#define W      4096
#define H      4096
#define STEPS  4
#define BX     16
#define BY     16
#define TX     1
#define TY     1
#define POWER  0
#define UNROLL 1
#define FULLWARP_BOUNDS
#endif

constexpr int FACTOR = UNROLL; /* nvcc expands no macros in pragmas */

#define TILE_W (BX * TX + 2 * STEPS)
#define TILE_H (BY * TY + 2 * STEPS)

#define SPREAD 0.1f
#define GAIN   0.05f

__global__ void FULLWARP_BOUNDS hotspot(const float *__restrict__ heat,
					const float *__restrict__ power, float *__restrict__ next)
{
	extern __shared__ float tiles[];
	float *now = tiles, *then = tiles + TILE_W * TILE_H;
#if POWER
	float *const sources = tiles + 2 * TILE_W * TILE_H;
#endif
	const int x0 = (int)blockIdx.x * (BX * TX) - STEPS, y0 = (int)blockIdx.y * (BY * TY) - STEPS;

	for (int y = threadIdx.y; y < TILE_H; y += BY) {
		for (int x = threadIdx.x; x < TILE_W; x += BX) {
			if (x0 + x >= 0 && x0 + x < W && y0 + y >= 0 && y0 + y < H) {
				now[y * TILE_W + x] = heat[(y0 + y) * W + x0 + x];
#if POWER
				sources[y * TILE_W + x] = power[(y0 + y) * W + x0 + x];
#endif
			}
		}
	}
	__syncthreads();
#pragma unroll FACTOR
	for (int step = 1; step <= STEPS; step++) {
		for (int y = threadIdx.y + step; y < TILE_H - step; y += BY) {
			for (int x = threadIdx.x + step; x < TILE_W - step; x += BX) {
				const int gx = x0 + x, gy = y0 + y, at = y * TILE_W + x;

				if (gx < 0 || gx >= W || gy < 0 || gy >= H)
					continue;
				/* Beyond the chip's edge it is as warm as at the edge. */
				const float here = now[at];
				const float west = gx > 0 ? now[at - 1] : here;
				const float east = gx < W - 1 ? now[at + 1] : here;
				const float north = gy > 0 ? now[at - TILE_W] : here;
				const float south = gy < H - 1 ? now[at + TILE_W] : here;
#if POWER
				const float source = sources[at];
#else
				const float source = power[gy * W + gx];
#endif
				then[at] = here + SPREAD * (west + east + north + south - 4 * here) +
					   GAIN * source;
			}
		}
		__syncthreads();
		float *const swap = now;

		now = then;
		then = swap;
	}
	for (int y = threadIdx.y + STEPS; y < TILE_H - STEPS; y += BY)
		for (int x = threadIdx.x + STEPS; x < TILE_W - STEPS; x += BX)
			if (x0 + x < W && y0 + y < H)
				next[(y0 + y) * W + x0 + x] = now[y * TILE_W + x];
}
