/*
 * Parameters that only a GPU shows: clusters and the share of shared memory. Every block knows the size of its cluster as
 * the hardware has it, and gives a wrong result where that is not the one that was asked for. (It does not trap: traps in
 * clusters took a whole GPU down, Xid 119.)
 *
 * fullwarp tune tests/gpu/tune/kinds.cu
 */
// fullwarp: kernel blur ; block = BLOCK ; grid = ceil(N / BLOCK)
// fullwarp: set N = 4194304 ; check N = 65536
// fullwarp: arg in f32[N] random ; arg out f32[N] output
// fullwarp: param BLOCK = 128 256 ; param cluster = 1 2 4 8 ; param CLUSTER = 1 2 4 8
// fullwarp: where CLUSTER == cluster ; param carveout = -1 0 50 100
#ifndef BLOCK
#define BLOCK   128
#define N       4194304
#define CLUSTER 1
#endif

static __device__ unsigned blocks_of_cluster(void)
{
	unsigned n;

	asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n));
	return n;
}

__global__ void blur(const float *__restrict__ in, float *__restrict__ out)
{
	__shared__ float tile[BLOCK];
	const int i = blockIdx.x * BLOCK + threadIdx.x;

	tile[threadIdx.x] = in[i];
	__syncthreads();
	out[i] = 0.5f * (tile[threadIdx.x] + tile[threadIdx.x ^ 1]);
	if (blocks_of_cluster() != CLUSTER)
		out[i] = -1.0f;
}
