// Is 192 threads a bad block size? The same two kernels with six block sizes: one limited by memory, one by arithmetic.
#include "measure.cuh"

static const size_t kCount = (size_t)1 << 26; // 256 MB an array: four times the L2

__global__ void axpy(const float *x, const float *y, float *out, float a, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a * x[i] + y[i];
}

// A chain of dependent multiply-adds: each must wait for the one before it, so other warps must fill in.
__global__ void chain(const float *x, float *out, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float v = x[i], s = v;

	for (int k = 0; k < 512; k++)
		s = fmaf(s, 0.5f, v);
	out[i] = s;
}

int main(int argc, char **argv)
{
	std::vector<float> hx = random_floats(kCount, 1), hy = random_floats(kCount, 2);
	Buffer x(hx), y(hy), out(kCount);
	std::vector<Variant> memory, arithmetic;

	for (int block : { 64, 128, 192, 256, 512, 1024 }) {
		long grid = (long)((kCount + block - 1) / block);
		auto poison = [&] { out.poison(); };

		memory.push_back({ std::to_string(block), (const void *)axpy, block, 0, grid,
				   [&, block, grid] { axpy<<<grid, block>>>(x.dev, y.dev, out.dev, 1.5f, kCount); }, poison,
				   [&] { return relative_error(out, 1009, [&](size_t i) { return 1.5 * hx[i] + hy[i]; }); },
				   {} });
		arithmetic.push_back({ std::to_string(block), (const void *)chain, block, 0, grid,
				       [&, block, grid] { chain<<<grid, block>>>(x.dev, out.dev, kCount); }, poison,
				       [&] {
					       return relative_error(out, 100003, [&](size_t i) {
						       double s = hx[i];
						       for (int k = 0; k < 512; k++)
							       s = s * 0.5 + hx[i];
						       return s;
					       });
				       },
				       {} });
	}
	run("block-size-memory", memory, is_once(argc, argv));
	run("block-size-arithmetic", arithmetic, is_once(argc, argv));
	return 0;
}
