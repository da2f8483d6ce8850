// Launch bounds against spills: one matrix product, C = A B in float32, that keeps an 8 x 8 tile of C in registers,
// compiled for ever more blocks a SM. The compiler must cap the registers; past a point it spills them to memory. 1,024
// blocks: enough for 7 blocks on each of 132 SMs.
#include "measure.cuh"

enum { N = 4096, TILE = 128, DEPTH = 8, PER = 8, THREADS = 256 };

__device__ __forceinline__ void product(const float *a, const float *b, float *c)
{
	__shared__ float as[DEPTH][TILE], bs[DEPTH][TILE];
	int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
	int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
	float acc[PER][PER] = {};

	for (int k0 = 0; k0 < N; k0 += DEPTH) {
		for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
			as[i % DEPTH][i / DEPTH] = a[(size_t)(row0 + i / DEPTH) * N + k0 + i % DEPTH];
			bs[i / TILE][i % TILE] = b[(size_t)(k0 + i / TILE) * N + col0 + i % TILE];
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < DEPTH; k++) {
			float ra[PER], rb[PER];
#pragma unroll
			for (int i = 0; i < PER; i++) {
				ra[i] = as[k][ty * PER + i];
				rb[i] = bs[k][tx * PER + i];
			}
#pragma unroll
			for (int i = 0; i < PER; i++)
#pragma unroll
				for (int j = 0; j < PER; j++)
					acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < PER; i++)
#pragma unroll
		for (int j = 0; j < PER; j++)
			c[(size_t)(row0 + ty * PER + i) * N + col0 + tx * PER + j] = acc[i][j];
}

__global__ void __launch_bounds__(THREADS) product_free(const float *a, const float *b, float *c)
{
	product(a, b, c);
}

__global__ void __launch_bounds__(THREADS, 2) product_2(const float *a, const float *b, float *c)
{
	product(a, b, c);
}

__global__ void __launch_bounds__(THREADS, 3) product_3(const float *a, const float *b, float *c)
{
	product(a, b, c);
}

__global__ void __launch_bounds__(THREADS, 4) product_4(const float *a, const float *b, float *c)
{
	product(a, b, c);
}

__global__ void __launch_bounds__(THREADS, 8) product_8(const float *a, const float *b, float *c)
{
	product(a, b, c);
}

int main(int argc, char **argv)
{
	std::vector<float> ha = random_floats((size_t)N * N, 3), hb = random_floats((size_t)N * N, 4);
	Buffer a(ha), b(hb), c((size_t)N * N);
	std::vector<Variant> variants;
	typedef void (*Kernel)(const float *, const float *, float *);
	const std::pair<const char *, Kernel> kernels[] = { { "(256)", product_free },
							    { "(256, 2)", product_2 },
							    { "(256, 3)", product_3 },
							    { "(256, 4)", product_4 },
							    { "(256, 8)", product_8 } };

	for (auto &k : kernels) {
		Kernel f = k.second;
		auto reference = [&](size_t i) {
			double s = 0;
			for (size_t j = 0; j < N; j++)
				s += (double)ha[i / N * N + j] * hb[j * N + i % N];
			return s;
		};
		variants.push_back({ k.first, (const void *)f, THREADS, 0, (N / TILE) * (N / TILE),
				     [&, f] { f<<<dim3(N / TILE, N / TILE), THREADS>>>(a.dev, b.dev, c.dev); },
				     [&] { c.poison(); }, [&, reference] { return relative_error(c, 10007, reference); },
				     {} });
	}
	run("launch-bounds", variants, is_once(argc, argv));
	return 0;
}
