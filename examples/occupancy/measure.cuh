// Runs the variants of an example one after the other, again and again, checks every result against a float64
// reference, and prints what the driver says of each kernel and how long it took.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#define CUDA(call)                                                                                                     \
	do {                                                                                                           \
		cudaError_t e_ = (call);                                                                               \
		if (e_ != cudaSuccess) {                                                                               \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));          \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

struct Variant {
	std::string name;
	const void *kernel;
	int block;
	size_t dynamic_smem;
	long grid;
	std::function<void()> launch;
	std::function<void()> poison; // overwrites the outputs, so that a result not written is seen
	std::function<double()> error; // relative error of the outputs against the float64 reference
	std::vector<float> ms;
};

const double kMaxError = 1e-5; // float32 arithmetic against float64
const int kRounds = 9;

static float time_once(const Variant &v, int repeats)
{
	cudaEvent_t a, b;
	float ms;

	CUDA(cudaEventCreate(&a));
	CUDA(cudaEventCreate(&b));
	CUDA(cudaEventRecord(a));
	for (int i = 0; i < repeats; i++)
		v.launch();
	CUDA(cudaEventRecord(b));
	CUDA(cudaEventSynchronize(b));
	CUDA(cudaGetLastError());
	CUDA(cudaEventElapsedTime(&ms, a, b));
	CUDA(cudaEventDestroy(a));
	CUDA(cudaEventDestroy(b));
	return ms / repeats;
}

static void check(const Variant &v)
{
	v.poison();
	v.launch();
	CUDA(cudaGetLastError());
	CUDA(cudaDeviceSynchronize());
	double e = v.error();
	if (!(e < kMaxError)) {
		fprintf(stderr, "%s: wrong result, relative error %g\n", v.name.c_str(), e);
		exit(1);
	}
}

// One JSON line a variant: what the driver reports and every run's time.
static void print(const char *example, Variant &v)
{
	cudaFuncAttributes a;
	int blocks, max_warps;
	std::vector<float> sorted = v.ms;

	CUDA(cudaFuncGetAttributes(&a, v.kernel));
	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.block, v.dynamic_smem));
	CUDA(cudaDeviceGetAttribute(&max_warps, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
	std::sort(sorted.begin(), sorted.end());
	printf("{\"example\":\"%s\",\"variant\":\"%s\",\"block\":%d,\"grid\":%ld,\"registers\":%d,\"local_bytes\":%zu,"
	       "\"static_smem\":%zu,\"dynamic_smem\":%zu,\"blocks_per_sm\":%d,\"theoretical\":%.4f,\"median_ms\":%.5f,\"ms\":[",
	       example, v.name.c_str(), v.block, v.grid, a.numRegs, a.localSizeBytes, a.sharedSizeBytes, v.dynamic_smem,
	       blocks, blocks * ((v.block + 31) / 32) / (max_warps / 32.0), sorted[sorted.size() / 2]);
	for (size_t i = 0; i < v.ms.size(); i++)
		printf("%s%.5f", i ? "," : "", v.ms[i]);
	printf("]}\n");
	fflush(stdout);
}

// --once: each variant a single time, for a counter profiler; otherwise check, warm up, alternate, print.
static void run(const char *example, std::vector<Variant> &variants, bool once)
{
	for (Variant &v : variants) {
		check(v);
		if (once)
			continue;
		float ms = time_once(v, 3);
		time_once(v, std::max(1, (int)(20 / ms))); // about 20 ms of warm-up
	}
	if (once)
		return;
	for (int round = 0; round < kRounds; round++)
		for (Variant &v : variants)
			v.ms.push_back(time_once(v, std::max(3, (int)(10 / time_once(v, 1)))));
	for (Variant &v : variants)
		print(example, v);
}

static bool is_once(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "--once");
}

static std::vector<float> random_floats(size_t n, unsigned seed)
{
	std::mt19937 gen(seed);
	std::uniform_real_distribution<float> dist(-1.f, 1.f);
	std::vector<float> v(n);

	for (float &x : v)
		x = dist(gen);
	return v;
}

// A device array with its content on the host beside it.
struct Buffer {
	float *dev;
	size_t n;

	explicit Buffer(size_t count) : n(count)
	{
		CUDA(cudaMalloc(&dev, n * sizeof(float)));
	}
	explicit Buffer(const std::vector<float> &host) : Buffer(host.size())
	{
		CUDA(cudaMemcpy(dev, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	}
	void poison() const
	{
		CUDA(cudaMemset(dev, 0xff, n * sizeof(float))); // NaN
	}
	std::vector<float> host() const
	{
		std::vector<float> v(n);
		CUDA(cudaMemcpy(v.data(), dev, n * sizeof(float), cudaMemcpyDeviceToHost));
		return v;
	}
};

// ||out - ref|| / ||ref|| over the places given by stride; NaN never passes.
template <typename Reference> static double relative_error(const Buffer &out, size_t stride, Reference ref)
{
	std::vector<float> v = out.host();
	double diff = 0, norm = 0;

	for (size_t i = 0; i < v.size(); i++)
		if (!std::isfinite(v[i]))
			return INFINITY;
	for (size_t i = 0; i < v.size(); i += stride) {
		double r = ref(i);
		diff += (v[i] - r) * (v[i] - r);
		norm += r * r;
	}
	return std::sqrt(diff / norm);
}
