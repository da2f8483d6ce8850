/*
 * C = A * B in single precision without tensor cores, with the parameters that CLBlast made popular: a block makes an
 * MWG x NWG tile of C, in steps of KWG; MDIM x NDIM threads share it; SA and SB stage A and B in shared memory; VW is
 * the width of vectors along n.
 *
 * fullwarp tune examples/tune/gemm.cu
 */
// fullwarp: kernel gemm ; block = NDIM, MDIM ; grid = ceil(N / NWG), ceil(M / MWG)
// fullwarp: set M = 1024 ; set N = 1024 ; set K = 1024 ; check M = 1000, N = 777, K = 333 ; check M = 65, N = 130, K = 1024
// fullwarp: arg a f32[M][K] random(-1, 1) ; arg b f32[K][N] random(-1, 1) ; arg c f32[M][N] output rel 1e-4 abs 1e-4
// fullwarp: param MWG = 16 32 64 128 ; param NWG = 16 32 64 128 ; param KWG = 8 16 32 default 16
// fullwarp: param MDIM = 8 16 32 default 16 ; param NDIM = 8 16 32 default 16
// fullwarp: param VW = 1 2 4 ; param SA = 0 1 ; param SB = 0 1 ; param KUNROLL = 1 8 default 1
// fullwarp: where MDIM * NDIM >= 64 && MDIM * NDIM <= 512
// fullwarp: where MWG % MDIM == 0 && NWG % (NDIM * VW) == 0
// fullwarp: where (MWG / MDIM) * (NWG / NDIM) <= 64 && (MWG / MDIM) * (NWG / NDIM) >= 1
// fullwarp: where MWG / MDIM <= 8 && NWG / NDIM <= 8 ; where SA || SB || KWG == 16
// fullwarp: where SA == SB || (KWG == 16 && KUNROLL == 8)
#ifndef MWG
#define M	1024
#define N	1024
#define K	1024
#define MWG	16
#define NWG	16
#define KWG	16
#define MDIM	16
#define NDIM	16
#define VW	1
#define SA	0
#define SB	0
#define KUNROLL 1
#endif

constexpr int FACTOR = KUNROLL; /* nvcc expands no macros in pragmas */

#define WM	(MWG / MDIM) /* rows of C of a thread, MDIM apart */
#define WN	(NWG / NDIM) /* columns of C of a thread: groups of VW, NDIM * VW apart */
#define THREADS (MDIM * NDIM)

/* A tile is stored with rows along k, so that threads of a row read the same bank: one float more moves them apart. */
#define A_STRIDE (KWG + 1)

static __device__ __forceinline__ float load_a(const float *__restrict__ a, int row, int k)
{
	return row < M && k < K ? a[row * K + k] : 0.0f;
}

/* VW neighbours of a row of B; column is a multiple of VW. */
static __device__ __forceinline__ void load_b_vector(const float *__restrict__ b, int k, int column,
						     float *to)
{
#if VW == 4 && N % 4 == 0
	const float4 v = k < K && column < N ? *(const float4 *)(b + k * N + column) :
					       make_float4(0, 0, 0, 0);

	to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
#elif VW == 2 && N % 2 == 0
	const float2 v = k < K && column < N ? *(const float2 *)(b + k * N + column) :
					       make_float2(0, 0);

	to[0] = v.x, to[1] = v.y;
#else
#pragma unroll
	for (int i = 0; i < VW; i++)
		to[i] = k < K && column + i < N ? b[k * N + column + i] : 0.0f;
#endif
}

__global__ void gemm(const float *__restrict__ a, const float *__restrict__ b,
		     float *__restrict__ c)
{
	const int m0 = blockIdx.y * MWG, n0 = blockIdx.x * NWG;
	float sum[WM][WN] = {};

#if SA
	__shared__ float tile_a[MWG * A_STRIDE];
#endif
#if SB
	__shared__ __align__(16) float tile_b[KWG * NWG];
#endif
#if SA || SB
	const int thread = threadIdx.y * NDIM + threadIdx.x;
#endif
	for (int k0 = 0; k0 < K; k0 += KWG) {
#if SA
		for (int i = thread; i < MWG * KWG; i += THREADS)
			tile_a[i / KWG * A_STRIDE + i % KWG] =
				load_a(a, m0 + i / KWG, k0 + i % KWG);
#endif
#if SB
		for (int i = thread * VW; i < KWG * NWG; i += THREADS * VW)
			load_b_vector(b, k0 + i / NWG, n0 + i % NWG, tile_b + i);
#endif
#if SA || SB
		__syncthreads();
#endif
#pragma unroll FACTOR
		for (int k = 0; k < KWG; k++) {
			float left[WM], right[WN];

#pragma unroll
			for (int i = 0; i < WM; i++) {
				const int row = i * MDIM + threadIdx.y;
#if SA
				left[i] = tile_a[row * A_STRIDE + k];
#else
				left[i] = load_a(a, m0 + row, k0 + k);
#endif
			}
#pragma unroll
			for (int j = 0; j < WN; j += VW) {
				const int column = (j / VW * NDIM + threadIdx.x) * VW;
#if SB
#pragma unroll
				for (int v = 0; v < VW; v++)
					right[j + v] = tile_b[k * NWG + column + v];
#else
				load_b_vector(b, k0 + k, n0 + column, right + j);
#endif
			}
#pragma unroll
			for (int i = 0; i < WM; i++)
#pragma unroll
				for (int j = 0; j < WN; j++)
					sum[i][j] += left[i] * right[j];
		}
#if SA || SB
		__syncthreads();
#endif
	}
#pragma unroll
	for (int i = 0; i < WM; i++) {
		const int row = m0 + i * MDIM + threadIdx.y;

#pragma unroll
		for (int j = 0; j < WN; j++) {
			const int column = n0 + (j / VW * NDIM + threadIdx.x) * VW + j % VW;

			if (row < M && column < N)
				c[row * N + column] = sum[i][j];
		}
	}
}
