/*
 * Gravity of every body on every other: a thread accelerates BODIES of them. The others are read through the caches, or
 * a tile at a time through shared memory, as vectors or as four arrays.
 *
 * fullwarp tune examples/tune/nbody.cu
 */
// fullwarp: kernel nbody ; block = BLOCK ; grid = ceil(N / (BLOCK * BODIES))
// fullwarp: set N = 16384 ; check N = 1000 ; check N = 4099
// fullwarp: arg bodies f32[N][4] random ; arg accelerations f32[N][4] output rel 1e-3 abs 1e-4
// fullwarp: param BLOCK = 32 64 96 128 192 256 384 512 1024 default 256 ; param BODIES = 1 2 3 4 8
// fullwarp: param TILE = 0 1 2 ; param UNROLL = 1 4 8 16 32 ; param FAST = 0 1
// fullwarp: where BLOCK * BODIES <= 2048 ; where BODIES * UNROLL <= 64
#ifndef BLOCK
#define N      16384
#define BLOCK  256
#define BODIES 1
#define TILE   0
#define UNROLL 1
#define FAST   0
#endif

constexpr int FACTOR = UNROLL; /* nvcc expands no macros in pragmas */

#define SOFTENING 1e-2f

static __device__ __forceinline__ void attract(float4 from, const float4 &on, float3 &acceleration)
{
	const float x = from.x - on.x, y = from.y - on.y, z = from.z - on.z;
	const float square = x * x + y * y + z * z + SOFTENING;
#if FAST
	const float inverse = rsqrtf(square);
#else
	const float inverse = 1.0f / sqrtf(square);
#endif
	const float scale = from.w * inverse * inverse * inverse;

	acceleration.x += x * scale;
	acceleration.y += y * scale;
	acceleration.z += z * scale;
}

__global__ void nbody(const float4 *__restrict__ bodies, float4 *__restrict__ accelerations)
{
	const int first = blockIdx.x * (BLOCK * BODIES) + threadIdx.x;
	float4 mine[BODIES];
	float3 sum[BODIES];

#pragma unroll
	for (int b = 0; b < BODIES; b++) {
		mine[b] = bodies[min(first + b * BLOCK, N - 1)];
		sum[b] = make_float3(0, 0, 0);
	}
#if TILE == 0
#pragma unroll FACTOR
	for (int i = 0; i < N; i++) {
		const float4 from = bodies[i];

#pragma unroll
		for (int b = 0; b < BODIES; b++)
			attract(from, mine[b], sum[b]);
	}
#else
#if TILE == 1
	__shared__ float4 tile[BLOCK];
#else
	__shared__ float xs[BLOCK], ys[BLOCK], zs[BLOCK], masses[BLOCK];
#endif
	for (int start = 0; start < N; start += BLOCK) {
		float4 from = make_float4(0, 0, 0, 0); /* no mass: no force */

		if (start + threadIdx.x < N)
			from = bodies[start + threadIdx.x];
#if TILE == 1
		tile[threadIdx.x] = from;
#else
		xs[threadIdx.x] = from.x, ys[threadIdx.x] = from.y, zs[threadIdx.x] = from.z;
		masses[threadIdx.x] = from.w;
#endif
		__syncthreads();
#pragma unroll FACTOR
		for (int i = 0; i < BLOCK; i++) {
#if TILE == 1
			from = tile[i];
#else
			from = make_float4(xs[i], ys[i], zs[i], masses[i]);
#endif
#pragma unroll
			for (int b = 0; b < BODIES; b++)
				attract(from, mine[b], sum[b]);
		}
		__syncthreads();
	}
#endif
#pragma unroll
	for (int b = 0; b < BODIES; b++)
		if (first + b * BLOCK < N)
			accelerations[first + b * BLOCK] =
				make_float4(sum[b].x / N, sum[b].y / N, sum[b].z / N, 0);
}
