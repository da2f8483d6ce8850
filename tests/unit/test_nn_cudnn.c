/* The cudnn engine on libraries that do nothing: the order of calls, what is given back, what is said when a call fails. */
#include "nn/engine.h"

#include "../fake/nn.h"
#include "../nn/models.h"

#include <dlfcn.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

struct library {
	const char *name;
	void *handle;
	void (*make_fail)(const char *call, int after, int result);
	const struct fake_nn_counts *(*counts)(void);
};

static struct library cuda = { "libcuda.so.1", NULL, NULL, NULL };
static struct library cudnn = { "libcudnn_graph.so.9", NULL, NULL, NULL };
static struct library cublaslt = { "libcublasLt.so.13", NULL, NULL, NULL };

/* The engine asks for the library by its name and finds it loaded. */
static void open_library(struct library *library)
{
	char path[1024];
	void *symbol;

	snprintf(path, sizeof(path), "%s/%s", FW_FAKE_NN, library->name);
	library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	symbol = dlsym(library->handle, "fake_nn_fail");
	memcpy(&library->make_fail, &symbol, sizeof(symbol));
	symbol = dlsym(library->handle, "fake_nn_counts");
	memcpy(&library->counts, &symbol, sizeof(symbol));
}

struct run {
	struct build b;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instance;
	struct fw_error err;
};

static const int64_t batches[] = { 1, 4 };

static const char *cache_dir;

static fw_status start(struct run *r, bool graph, double autotune_s)
{
	const struct fw_nn_engine_options engine = { .name = "cudnn",
						     .autotune_s = autotune_s,
						     .cache_dir = cache_dir };
	const struct fw_nn_network_options network = { .precision = FW_NN_FP16,
						       .n_batches = 2,
						       .batches = batches,
						       .fuse = true,
						       .graph = graph };
	fw_status status;

	memset(r, 0, sizeof(*r));
	model_squeezenet(&r->b);
	status = fw_nn_engine_open(&engine, &r->engine, &r->err);
	if (!status)
		status = fw_nn_network_load(r->engine, &r->b.graph, &network, &r->network, &r->err);
	if (!status)
		status = fw_nn_instance_open(r->network, &r->instance, &r->err);
	return status;
}

static void stop(struct run *r)
{
	fw_nn_instance_close(r->instance);
	fw_nn_network_free(r->network);
	fw_nn_engine_close(r->engine);
	build_end(&r->b);
	cuda.make_fail(NULL, 0, 0);
	cudnn.make_fail(NULL, 0, 0);
	cublaslt.make_fail(NULL, 0, 0);
}

static void names_the_missing_driver(void **state)
{
	static struct run r;

	(void)state;
	if (dlopen("libcuda.so.1", RTLD_LAZY)) {
		printf("skipped: this machine has a driver\n");
		skip();
	}
	assert_int_equal(start(&r, true, 0), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(r.err.message, "libcuda.so.1"));
	build_end(&r.b);
}

static void captures_one_graph_for_each_batch_size(void **state)
{
	static struct run r;
	const struct fake_nn_counts *c = cuda.counts();
	int captures, launches, allocations;

	(void)state;
	captures = c->captures;
	if (start(&r, true, 0))
		fail_msg("%s", r.err.message);
	assert_int_equal(c->captures - captures, 2);
	launches = c->launches;
	allocations = c->allocations;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(fw_nn_instance_launch(r.instance, batches[i % 2], NULL, &r.err),
				 FW_OK);
		assert_int_equal(fw_nn_instance_wait(r.instance, &r.err), FW_OK);
	}
	assert_int_equal(c->launches - launches, 10);
	assert_int_equal(c->allocations, allocations);
	stop(&r);
}

static void launches_every_operation_without_graphs(void **state)
{
	static struct run r;
	int executes, kernels;

	(void)state;
	if (start(&r, false, 0))
		fail_msg("%s", r.err.message);
	executes = cudnn.counts()->executes + cublaslt.counts()->executes;
	kernels = cuda.counts()->kernels;
	assert_int_equal(fw_nn_instance_launch(r.instance, 4, NULL, &r.err), FW_OK);
	/* 26 convolutions; three max pools and the global average. */
	assert_int_equal(cudnn.counts()->executes + cublaslt.counts()->executes - executes, 26);
	assert_int_equal(cuda.counts()->kernels - kernels, 4);
	stop(&r);
}

static void measures_and_gives_everything_back(void **state)
{
	static struct run r;
	float *x = calloc(4 * 3 * 224 * 224, sizeof(*x)), *y = calloc(4 * 1000, sizeof(*y));

	(void)state;
	assert_non_null(x);
	assert_non_null(y);
	if (start(&r, true, 5))
		fail_msg("%s", r.err.message);
	assert_int_equal(fw_nn_instance_write(r.instance, 4, x, &r.err), FW_OK);
	assert_int_equal(fw_nn_instance_launch(r.instance, 4, NULL, &r.err), FW_OK);
	assert_int_equal(fw_nn_instance_read(r.instance, 4, y, &r.err), FW_OK);
	stop(&r);
	free(x);
	free(y);
}

static int64_t (*executed)(void);
static int64_t reads_residual; /* the engine that does; 0: none */

static void find_functions(void (**read_by)(void (*)(void *, size_t)))
{
	void *symbol = dlsym(cuda.handle, "fake_nn_read_by");

	memcpy(read_by, &symbol, sizeof(*read_by));
	symbol = dlsym(cudnn.handle, "fake_nn_executed");
	memcpy(&executed, &symbol, sizeof(executed));
}

static void poison_of_engine(void *memory, size_t bytes)
{
	memset(memory, reads_residual && executed() == reads_residual ? 0xff : 0, bytes);
}

/* Poison that a run leaves in its result came from a residual that the layer has not: the next engine is taken. */
static void takes_no_engine_that_reads_what_it_should_not(void **state)
{
	static const double seconds[] = { 0, 1e-9, 5 }; /* unmeasured, out of time, measured */
	static const struct {
		int64_t bad, taken;
	} rows[] = { { 0, 41 }, { 41, 42 } };
	void (*read_by)(void (*)(void *, size_t));
	static struct run r;

	(void)state;
	find_functions(&read_by);
	read_by(poison_of_engine);
	for (size_t i = 0; i < 6; i++) {
		reads_residual = rows[i % 2].bad;
		if (start(&r, false, seconds[i / 2]))
			fail_msg("%s", r.err.message);
		executed();
		assert_int_equal(fw_nn_instance_launch(r.instance, 4, NULL, &r.err), FW_OK);
		if (i < 4 || rows[i % 2].bad)
			assert_int_equal(executed(), rows[i % 2].taken);
		stop(&r);
	}
	read_by(NULL);
}

static void refuses_where_every_engine_does(void **state)
{
	static const double seconds[] = { 0, 5 };
	static struct run r;
	void (*read_as)(int);
	void *symbol = dlsym(cuda.handle, "fake_nn_read_as");

	(void)state;
	memcpy(&read_as, &symbol, sizeof(read_as));
	read_as(0xff);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(start(&r, true, seconds[i]), FW_ERR_UNSUPPORTED);
		assert_non_null(strstr(r.err.message, "none runs right"));
		stop(&r);
	}
	read_as(0);
}

/* A second start measures nothing: all that is captured are the two graphs that run. */
static void takes_stored_choices(void **state)
{
	static struct run r;
	char folder[] = "/tmp/fw-nn-XXXXXX", pattern[64];
	glob_t files;
	int captures[3];

	(void)state;
	assert_non_null(mkdtemp(folder));
	cache_dir = folder;
	for (int i = 0; i < 2; i++) {
		captures[i] = cuda.counts()->captures;
		if (start(&r, true, 5))
			fail_msg("%s", r.err.message);
		captures[i + 1] = cuda.counts()->captures;
		stop(&r);
	}
	cache_dir = NULL;
	assert_true(captures[1] - captures[0] > 20);
	assert_int_equal(captures[2] - captures[1], 2);
	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 2);
	for (size_t i = 0; i < files.gl_pathc; i++)
		unlink(files.gl_pathv[i]);
	globfree(&files);
	rmdir(folder);
}

/* Each call fails once at each of several times: an error with its name, nothing lost, nothing used after. */
static void reports_each_failing_call(void **state)
{
	static const struct {
		struct library *library;
		const char *call;
		int after, result;
		fw_status status;
	} rows[] = {
		{ &cuda, "cuInit", 0, 100, FW_ERR_UNSUPPORTED },
		{ &cuda, "cuMemAlloc", 0, 2, FW_ERR_NOMEM },
		{ &cuda, "cuMemAlloc", 30, 2, FW_ERR_NOMEM },
		{ &cuda, "cuMemAlloc", 52, 2, FW_ERR_NOMEM },
		{ &cuda, "cuModuleLoadData", 0, 300, FW_ERR_IO },
		{ &cuda, "cuModuleGetFunction", 3, 500, FW_ERR_IO },
		{ &cuda, "cuMemcpyHtoD", 5, 700, FW_ERR_IO },
		{ &cuda, "cuLaunchKernel", 2, 719, FW_ERR_IO },
		{ &cuda, "cuStreamSynchronize", 0, 700, FW_ERR_IO },
		{ &cuda, "cuGraphInstantiate", 1, 2, FW_ERR_NOMEM },
		{ &cudnn, "cudnnGetVersion", 0, 8900, FW_ERR_UNSUPPORTED },
		{ &cudnn, "cudnnCreate", 0, 1001, FW_ERR_IO },
		/* While engines are tried, of which there are ten for two batch sizes; after that. */
		{ &cudnn, "cudnnBackendExecute", 3, 5000, FW_ERR_UNSUPPORTED },
		{ &cudnn, "cudnnBackendExecute", 12, 5000, FW_ERR_IO },
		{ &cublaslt, "cublasLtCreate", 0, 1, FW_ERR_IO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static struct run r;

		rows[i].library->make_fail(rows[i].call, rows[i].after, rows[i].result);
		if (start(&r, true, 0) != rows[i].status)
			fail_msg("%s after %d: %s", rows[i].call, rows[i].after, r.err.message);
		assert_true(r.err.message[0]);
		stop(&r);
	}
}

static void reports_a_failing_launch(void **state)
{
	static struct run r;

	(void)state;
	if (start(&r, true, 0))
		fail_msg("%s", r.err.message);
	cuda.make_fail("cuGraphLaunch", 0, 700);
	assert_int_equal(fw_nn_instance_launch(r.instance, 1, NULL, &r.err), FW_ERR_IO);
	assert_non_null(strstr(r.err.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
	stop(&r);
}

int main(void)
{
	const struct CMUnitTest missing[] = { cmocka_unit_test(names_the_missing_driver) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_one_graph_for_each_batch_size),
		cmocka_unit_test(launches_every_operation_without_graphs),
		cmocka_unit_test(measures_and_gives_everything_back),
		cmocka_unit_test(takes_no_engine_that_reads_what_it_should_not),
		cmocka_unit_test(refuses_where_every_engine_does),
		cmocka_unit_test(takes_stored_choices),
		cmocka_unit_test(reports_each_failing_call),
		cmocka_unit_test(reports_a_failing_launch),
	};
	int failed = cmocka_run_group_tests(missing, NULL, NULL);

	open_library(&cuda);
	open_library(&cudnn);
	open_library(&cublaslt);
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
