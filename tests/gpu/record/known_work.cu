/*
 * GPU work that is known by construction, for what a recorder says of it.
 *   known_work launches COUNT             empty kernels on one stream; prints what it did as JSON
 *   known_work streams                    kernels, copies, memsets, events on four streams; the same
 *   known_work fills COUNT                five long kernels of known or steady fill, COUNT times each
 *   known_work turns IN OUT COUNT         COUNT launches for each line "go" from the pipe IN, their
 *                                         seconds to OUT
 *   known_work steady SECONDS RATE FILE   RATE launches a second (0: as many as it can); appends
 *                                         "nanoseconds launches" to FILE and checks the sum at the end
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void nothing()
{
}

__global__ void count_up(unsigned long long *counter)
{
	(*counter)++;
}

__global__ void add(float *data, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] += 1.0f;
}

template <int FACTOR> __global__ void scale(float *data, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] *= FACTOR;
}

__global__ void spin(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

/* Reads and writes the array again and again: only device memory limits it. */
__global__ void stream_over(float4 *data, size_t count, int passes)
{
	for (int pass = 0; pass < passes; pass++)
		for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
		     i += (size_t)gridDim.x * blockDim.x) {
			float4 v = data[i];

			v.x += 1.0f;
			data[i] = v;
		}
}

static long long now_ns()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		       std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static int launches(int count)
{
	void *data;

	CHECK(cudaMalloc(&data, 1 << 20));
	CHECK(cudaMemset(data, 0, 1 << 20));
	for (int i = 0; i < count; i++)
		nothing<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	printf("{\"kernels\":{\"nothing()\":%d},\"copies\":{},\"memsets\":[1,1048576],\"events\":0,"
	       "\"streams\":1,\"syncs\":{\"context\":1,\"stream\":0,\"event\":0,\"stream_wait\":0}}\n",
	       count);
	return 0;
}

enum { STREAMS = 4, ROUNDS = 25, PAGEABLE = 5, CLUSTERS = 7, SPINS = 10, COUNT = 1 << 18 };

struct lane {
	cudaStream_t stream;
	cudaEvent_t event;
	float *device, *other, *pinned;
};

static void make_lane(struct lane *lane)
{
	CHECK(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&lane->event, cudaEventDisableTiming));
	CHECK(cudaMalloc(&lane->device, COUNT * sizeof(float)));
	CHECK(cudaMalloc(&lane->other, COUNT * sizeof(float)));
	CHECK(cudaMallocHost(&lane->pinned, COUNT * sizeof(float)));
	memset(lane->pinned, 0, COUNT * sizeof(float));
}

/* One of each; `next` is a lane whose last event this one waits for. */
static void run_lane(struct lane *lane, const struct lane *next)
{
	size_t bytes = COUNT * sizeof(float);

	CHECK(cudaMemcpyAsync(lane->device, lane->pinned, bytes, cudaMemcpyHostToDevice,
			      lane->stream));
	add<<<COUNT / 256, 256, 0, lane->stream>>>(lane->device, COUNT);
	scale<3><<<COUNT / 128, 128, 0, lane->stream>>>(lane->device, COUNT);
	CHECK(cudaMemcpyAsync(lane->other, lane->device, 65536, cudaMemcpyDeviceToDevice,
			      lane->stream));
	CHECK(cudaMemsetAsync(lane->other, 0, 4096, lane->stream));
	CHECK(cudaEventRecord(lane->event, lane->stream));
	CHECK(cudaStreamWaitEvent(lane->stream, next->event, 0));
	CHECK(cudaMemcpyAsync(lane->pinned, lane->device, bytes, cudaMemcpyDeviceToHost,
			      lane->stream));
}

static void run_clusters(struct lane *lane)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute cluster = {};

	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = 2;
	cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
	config.gridDim = dim3(COUNT / 256);
	config.blockDim = dim3(256);
	config.stream = lane->stream;
	config.attrs = &cluster;
	config.numAttrs = 1;
	for (int i = 0; i < CLUSTERS; i++)
		CHECK(cudaLaunchKernelEx(&config, scale<5>, lane->device, (int)COUNT));
}

static void print_streams()
{
	int n = STREAMS * ROUNDS;
	long long bytes = (long long)COUNT * sizeof(float);

	printf("{\"kernels\":{\"add(float*, int)\":%d,\"void scale<3>(float*, int)\":%d,"
	       "\"void scale<5>(float*, int)\":%d,\"spin(long long)\":%d},",
	       n, n, CLUSTERS, 2 * SPINS);
	printf("\"copies\":{\"HtoD (Pinned -> Device)\":[%d,%lld],\"DtoH (Device -> Pinned)\":[%d,%lld],"
	       "\"DtoD (Device -> Device)\":[%d,%lld],\"HtoD (Pageable -> Device)\":[%d,%lld]},",
	       n, n * bytes, n, n * bytes, n, n * 65536LL, PAGEABLE, PAGEABLE * 1000003LL);
	printf("\"memsets\":[%d,%lld],\"events\":%d,\"streams\":%d,"
	       "\"syncs\":{\"context\":2,\"stream\":%d,\"event\":%d,\"stream_wait\":%d}}\n",
	       n + 3, n * 4096LL + 300000, n, STREAMS, STREAMS, STREAMS, n);
}

static int streams()
{
	struct lane lanes[STREAMS] = {};
	char *host = (char *)calloc(1, 1000003);

	for (int i = 0; i < STREAMS; i++)
		make_lane(&lanes[i]);
	for (int i = 0; i < 3; i++)
		CHECK(cudaMemset(lanes[0].device, 0, 100000));
	for (int i = 0; i < PAGEABLE; i++)
		CHECK(cudaMemcpy(lanes[0].device, host, 1000003, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < STREAMS; i++)
			run_lane(&lanes[i], &lanes[(i + 1) % STREAMS]);
	run_clusters(&lanes[0]);
	for (int i = 0; i < SPINS; i++)
		for (int s = 0; s < 2; s++)
			spin<<<1, 32, 0, lanes[s].stream>>>(1000000);
	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaEventSynchronize(lanes[i].event));
	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaStreamSynchronize(lanes[i].stream));
	CHECK(cudaDeviceSynchronize());
	print_streams();
	free(host);
	return 0;
}

/* A matrix product of 35 TFLOP on tensor cores, by the library of the machine. */
typedef cublasStatus_t create_function(cublasHandle_t *);
typedef cublasStatus_t gemm_function(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
				     const void *, const void *, cudaDataType, int, const void *,
				     cudaDataType, int, const void *, void *, cudaDataType, int,
				     cublasComputeType_t, cublasGemmAlgo_t);

struct gemm {
	gemm_function *run;
	cublasHandle_t handle;
	void *a, *b, *c;
};

static const char *const cublas_names[] = { "libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13",
					    "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12" };

static bool make_gemm(struct gemm *gemm)
{
	const char *chosen = getenv("FW_CUBLAS");
	void *library = chosen ? dlopen(chosen, RTLD_NOW) : NULL;
	create_function *create;

	for (size_t i = 0; !library && i < sizeof(cublas_names) / sizeof(*cublas_names); i++)
		library = dlopen(cublas_names[i], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "no cuBLAS, so no matrix product: %s\n", dlerror());
		return false;
	}
	create = (create_function *)dlsym(library, "cublasCreate_v2");
	gemm->run = (gemm_function *)dlsym(library, "cublasGemmEx");
	if (!create || !gemm->run || create(&gemm->handle))
		return false;
	CHECK(cudaMalloc(&gemm->a, 16384ull * 65536 * 2));
	CHECK(cudaMalloc(&gemm->b, 16384ull * 65536 * 2));
	CHECK(cudaMalloc(&gemm->c, 16384ull * 16384 * 2));
	CHECK(cudaMemset(gemm->a, 0x3c, 16384ull * 65536 * 2));
	CHECK(cudaMemset(gemm->b, 0x3c, 16384ull * 65536 * 2));
	return true;
}

static void run_gemm(struct gemm *gemm)
{
	float alpha = 1.0f, beta = 0.0f;

	if (gemm->run(gemm->handle, CUBLAS_OP_T, CUBLAS_OP_N, 16384, 16384, 65536, &alpha, gemm->a,
		      CUDA_R_16BF, 65536, gemm->b, CUDA_R_16BF, 65536, &beta, gemm->c, CUDA_R_16BF,
		      16384, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
		fprintf(stderr, "the matrix product failed\n");
}

static void pause_between()
{
	CHECK(cudaDeviceSynchronize());
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

static int fills(int count)
{
	const int shapes[][2] = { { 66, 1024 }, { 132, 512 }, { 132, 128 } };
	size_t floats = (size_t)64 << 20;
	struct gemm gemm = {};
	bool has_gemm = make_gemm(&gemm);
	float4 *data;

	CHECK(cudaMalloc(&data, floats * sizeof(*data)));
	CHECK(cudaMemset(data, 0, floats * sizeof(*data)));
	for (int i = 0; i < count; i++) {
		for (auto &shape : shapes) {
			pause_between();
			spin<<<shape[0], shape[1]>>>(120000000); /* 60 ms at 1.98 GHz */
		}
		pause_between();
		stream_over<<<1056, 256>>>(data, floats, 120);
		pause_between();
		if (has_gemm)
			run_gemm(&gemm);
	}
	CHECK(cudaDeviceSynchronize());
	return 0;
}

static int turns(const char *in_path, const char *out_path, int count)
{
	FILE *in = fopen(in_path, "r"), *out = fopen(out_path, "w");
	char line[256];

	if (!in || !out) {
		fprintf(stderr, "%s, %s: cannot be opened\n", in_path, out_path);
		return 1;
	}
	for (int i = 0; i < 20000; i++)
		nothing<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	fprintf(out, "ready\n");
	fflush(out);
	while (fgets(line, sizeof(line), in) && strncmp(line, "quit", 4)) {
		long long begin;

		for (int i = 0; i < 5000; i++) /* clocks fall while others have their turn */
			nothing<<<1, 32>>>();
		CHECK(cudaDeviceSynchronize());
		begin = now_ns();
		for (int i = 0; i < count; i++)
			nothing<<<1, 32>>>();
		CHECK(cudaDeviceSynchronize());
		fprintf(out, "done %.9f\n", (now_ns() - begin) * 1e-9);
		fflush(out);
	}
	return 0;
}

static int steady(double seconds, double rate, const char *path)
{
	enum { BATCH = 500 };
	FILE *progress = fopen(path, "a");
	unsigned long long *counter, done = 0, counted = 0;
	long long begin, end;

	if (!progress) {
		fprintf(stderr, "%s: cannot be written\n", path);
		return 1;
	}
	fprintf(progress, "pid %d\n", (int)getpid());
	fflush(progress);
	CHECK(cudaMalloc(&counter, sizeof(*counter)));
	CHECK(cudaMemset(counter, 0, sizeof(*counter)));
	begin = now_ns();
	end = begin + (long long)(seconds * 1e9);
	while (now_ns() < end) {
		for (int i = 0; i < BATCH; i++)
			count_up<<<1, 1>>>(counter);
		CHECK(cudaDeviceSynchronize());
		done += BATCH;
		if (done % (10 * BATCH) == 0 || rate == 0.0) {
			fprintf(progress, "%lld %llu\n", now_ns(), done);
			fflush(progress);
		}
		if (rate > 0.0)
			std::this_thread::sleep_until(std::chrono::steady_clock::time_point(
				std::chrono::nanoseconds(begin + (long long)(done / rate * 1e9))));
	}
	CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	printf("launched %llu counted %llu\n", done, counted);
	return counted == done ? 0 : 3;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && !strcmp(what, "launches"))
		return launches(atoi(argv[2]));
	if (argc == 2 && !strcmp(what, "streams"))
		return streams();
	if (argc == 3 && !strcmp(what, "fills"))
		return fills(atoi(argv[2]));
	if (argc == 5 && !strcmp(what, "turns"))
		return turns(argv[2], argv[3], atoi(argv[4]));
	if (argc == 5 && !strcmp(what, "steady"))
		return steady(atof(argv[2]), atof(argv[3]), argv[4]);
	fprintf(stderr, "usage: known_work launches COUNT | streams | fills COUNT | turns IN OUT COUNT |"
			" steady SECONDS RATE FILE\n");
	return 2;
}
