/*
 * Which points lie inside a polygon: a thread turns the answer of each of POINTS points around at every edge to its
 * right. The slopes of the edges may
 * be computed once per block, the vertices staged in shared memory; BETWEEN and PARITY are ways to write the same test.
 * Rounding is written out, so that every way gives the same bits.
 *
 * fullwarp tune examples/tune/pnpoly.cu
 */
// fullwarp: kernel pnpoly ; block = BLOCK ; grid = ceil(N / (BLOCK * POINTS))
// fullwarp: set N = 2000000 ; set V = 600 ; check N = 100003 ; check N = 1000, V = 7
// fullwarp: arg points f32[N][2] random ; arg vertices f32[V][2] random ; arg inside i32[N] output
// fullwarp: param BLOCK = 64..512 step 64, 768, 1024 default 256 ; param POINTS = 1 2 3 4 6 8 12
// fullwarp: param BETWEEN = 0 1 2 3 ; param PARITY = 0 1 ; param STAGE = 0 1 2
// STAGE: 0 vertices through the caches, 1 in shared memory, 2 with their slopes
#ifndef BLOCK
#define N	2000000
#define V	600
#define BLOCK	256
#define POINTS	1
#define BETWEEN 0
#define PARITY	0
#define STAGE	0
#endif

/* Whether the edge from a to b crosses the height y. */
static __device__ __forceinline__ bool is_between(float a, float b, float y)
{
#if BETWEEN == 0
	return (a > y) != (b > y);
#elif BETWEEN == 1
	return (a > y && b <= y) || (a <= y && b > y);
#elif BETWEEN == 2
	return ((int)(a > y) ^ (int)(b > y)) != 0;
#else
	return fminf(a, b) <= y && fmaxf(a, b) > y;
#endif
}

static __device__ __forceinline__ float slope_of(float2 a, float2 b)
{
	return __fdiv_rn(__fsub_rn(b.x, a.x), __fsub_rn(b.y, a.y));
}

__global__ void pnpoly(const float2 *__restrict__ points, const float2 *__restrict__ vertices,
		       int *__restrict__ inside)
{
	const int first = blockIdx.x * (BLOCK * POINTS) + threadIdx.x;
	float2 mine[POINTS];
	int is_inside[POINTS] = {};

#if STAGE
	__shared__ float2 corners[V];
#if STAGE == 2
	__shared__ float slopes[V];
#endif
	for (int i = threadIdx.x; i < V; i += BLOCK) {
		corners[i] = vertices[i];
#if STAGE == 2
		slopes[i] = slope_of(vertices[i], vertices[i ? i - 1 : V - 1]);
#endif
	}
	__syncthreads();
#else
	const float2 *__restrict__ corners = vertices;
#endif
#pragma unroll
	for (int p = 0; p < POINTS; p++)
		mine[p] = points[min(first + p * BLOCK, N - 1)];
	float2 before = corners[V - 1];
	for (int i = 0; i < V; i++) {
		const float2 corner = corners[i];

#pragma unroll
		for (int p = 0; p < POINTS; p++) {
			if (is_between(corner.y, before.y, mine[p].y)) {
#if STAGE == 2
				const float slope = slopes[i];
#else
				const float slope = slope_of(corner, before);
#endif
				const bool is_right = mine[p].x < __fmaf_rn(slope, __fsub_rn(mine[p].y, corner.y),
									   corner.x);
#if PARITY == 0
				if (is_right)
					is_inside[p] = !is_inside[p];
#else
				is_inside[p] ^= is_right;
#endif
			}
		}
		before = corner;
	}
#pragma unroll
	for (int p = 0; p < POINTS; p++)
		if (first + p * BLOCK < N)
			inside[first + p * BLOCK] = is_inside[p];
}
