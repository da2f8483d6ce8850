/* The owner of the GPU on stand-ins: outputs checked, canaries, crashes, hangs, samples, clocks. */
#include "tune_case.h"

#include <dlfcn.h>

/* Value 0 of BX, 256, is the reference; each other does what a test says. */
#define SPEC                                                                                       \
	"// fullwarp: kernel scale ; grid = ceil(N / BX) ; block = BX\n"                           \
	"// fullwarp: param BX = 256 64 96 128 ; set N = 1000\n"                                   \
	"// fullwarp: arg out f32[N] output rel 1e-5 ; arg in f32[N] random(1, 2)\n"               \
	"// fullwarp: arg n i32 = N\n"                                                             \
	"__global__ void scale(float *out, const float *in, int n) { int i = BX + N; }\n"          \
	"// fake scale: effect scale\n"

static void a_right_one_is_sampled(void **state)
{
	struct fw_tune_result result, *results[] = { &result };
	const uint32_t slots[] = { 1 };
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: cold_us 900\n");
	assert_string_equal(c.gpu.name, "NVIDIA H200 (stand-in)");
	assert_string_equal(c.gpu.uuid, "GPU-00000000-0000-0000-0000-000000000000");
	assert_int_equal(c.gpu.cc, 90);
	assert_int_equal(c.gpu.sms, 132);
	result = case_check(&c, 1);
	assert_int_equal(result.status, FW_TUNE_OK);
	assert_int_equal(result.registers, 32);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 1, 3, NULL), FW_OK);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 1, 2, NULL), FW_OK);
	assert_int_equal(result.n_samples, 5);
	/* Two launches a sample of 200 us: the time of one. */
	for (unsigned i = 0; i < 5; i++)
		assert_float_equal(result.samples_s[i], 100e-6, 1e-9);
	/* What the stand-in for NVML says of an idle GPU. */
	assert_int_equal(result.sm_clock_mhz, 345);
	assert_int_equal(result.discarded + result.unsteady, 0);
	case_close(&c);
}

/* What others left in the L2 serves the first launch after theirs only; that one is not timed. */
static void a_sample_begins_with_its_own_cache(void **state)
{
	struct fw_tune_result result[2], *results[] = { &result[0], &result[1] };
	const uint32_t slots[] = { 0, 1 };
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: after_other_us 40\n// fake scale BX=128: "
			   "after_other_us 700\n");
	for (uint16_t i = 0; i < 2; i++)
		result[i] = case_check(&c, i);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 2, 4, NULL), FW_OK);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 4; j++)
			assert_float_equal(result[i].samples_s[j], 100e-6, 1e-9);
	case_close(&c);
}

static void wrong_outputs_are_found(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: effect wrong 17\n"
			   "// fake scale BX=96: effect nan 999\n"
			   "// fake scale BX=128: effect half\n");
	expect(&c, 1, FW_TUNE_WRONG_OUTPUT, "out[17]: ");
	expect(&c, 1, FW_TUNE_WRONG_OUTPUT, "; 1 of 1000 are wrong");
	expect(&c, 2, FW_TUNE_WRONG_OUTPUT, "out[999]: nan, not ");
	expect(&c, 3, FW_TUNE_WRONG_OUTPUT, "out[500]: nothing written, not ");
	expect(&c, 3, FW_TUNE_WRONG_OUTPUT, "; 500 of 1000 are wrong");
	expect(&c, 0, FW_TUNE_OK, "");
	case_close(&c);
}

static void rounding_is_no_fault(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: effect round\n");
	expect(&c, 1, FW_TUNE_OK, "");
	case_close(&c);
}

/* One element behind the output, one before it, and the input: each is found once, and repaired. */
static void what_is_written_elsewhere_is_found(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: effect outside 1000\n"
			   "// fake scale BX=96: effect outside -1\n"
			   "// fake scale BX=128: effect input\n");
	expect(&c, 1, FW_TUNE_WROTE_OUTSIDE,
	       "outside out: out[1000], which has 1000 elements; 4 bytes");
	expect(&c, 0, FW_TUNE_OK, "");
	expect(&c, 2, FW_TUNE_WROTE_OUTSIDE, "outside out: out[-1]");
	expect(&c, 0, FW_TUNE_OK, "");
	expect(&c, 3, FW_TUNE_WROTE_OUTSIDE, "into the input in[0]");
	expect(&c, 0, FW_TUNE_OK, "");
	case_close(&c);
}

static void a_crash_costs_its_configuration_only(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: effect crash 700\n"
			   "// fake scale BX=96: effect die 11\n"
			   "// fake scale BX=128: effect refuse 701\n");
	expect(&c, 1, FW_TUNE_CRASHED, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
	expect(&c, 0, FW_TUNE_OK, "");
	expect(&c, 2, FW_TUNE_CRASHED,
	       "the process that owned the GPU died: signal 11 (Segmentation fault)");
	expect(&c, 3, FW_TUNE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)");
	expect(&c, 0, FW_TUNE_OK, "");
	case_close(&c);
}

static void a_hang_is_ended(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: effect hang\n");
	fw_tune_runner_set_hang(c.runner, 0.1);
	expect(&c, 1, FW_TUNE_HUNG, "no end within 0.1 s");
	expect(&c, 0, FW_TUNE_OK, "");
	case_close(&c);
}

/* Slots 1 and 3 fail while they are sampled, one by a crash, one by a hang; the others get their samples. */
static void a_crash_while_sampling_leaves_the_others(void **state)
{
	struct fw_tune_result result[4],
		*results[] = { &result[0], &result[1], &result[2], &result[3] };
	const uint32_t slots[] = { 0, 1, 2, 3 };
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale BX=64: from 9 crash 719\n"
			   "// fake scale BX=128: from 8 hang\n// fake scale BX=96: time_us 50\n");
	for (uint16_t i = 0; i < 4; i++)
		result[i] = case_check(&c, i);
	fw_tune_runner_set_hang(c.runner, 0.1);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 4, 4, NULL), FW_OK);
	assert_int_equal(result[0].status, FW_TUNE_OK);
	assert_int_equal(result[0].n_samples, 4);
	assert_int_equal(result[1].status, FW_TUNE_CRASHED);
	assert_non_null(strstr(result[1].reason, "CUDA_ERROR_LAUNCH_FAILED (719)"));
	assert_int_equal(result[2].n_samples, 4);
	assert_float_equal(result[2].samples_s[3], 50e-6, 1e-9);
	assert_int_equal(result[3].status, FW_TUNE_HUNG);
	/* They are forgotten. */
	assert_int_equal(fw_tune_runner_sample(c.runner, slots + 2, results + 2, 1, 1, NULL),
			 FW_OK);
	result[1].status = FW_TUNE_OK;
	assert_int_equal(fw_tune_runner_sample(c.runner, slots + 1, results + 1, 1, 1, NULL),
			 FW_ERR_ARGUMENT);
	fw_tune_runner_drop(c.runner, 2);
	fw_tune_runner_drop(c.runner, 2);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots + 2, results + 2, 1, 1, NULL),
			 FW_ERR_ARGUMENT);
	case_close(&c);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static struct fw_tune_result sample_with_clocks(const char *setting)
{
	char path[] = "/tmp/fw-tune-XXXXXX", text[1024];
	struct fw_tune_result result, *results[] = { &result };
	const uint32_t slots[] = { 1 };
	struct tune_case c;

	close(mkstemp(path));
	write_text(path, "0.sm_mhz 1980\n0.clocks_reasons 0\n");
	setenv("FW_FAKE_NVML", path, 1);
	snprintf(text, sizeof(text), SPEC "// fake scale: time_us 300\n// fake scale BX=64: %s\n",
		 setting);
	case_open(&c, text);
	result = case_check(&c, 1);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 1, 6, NULL), FW_OK);
	case_close(&c);
	unsetenv("FW_FAKE_NVML");
	unlink(path);
	return result;
}

/*
 * Launch 1 is the check's, 2 and 4 warm up, 6 and so on are the samples, each behind an untimed launch: the second of them
 * is slow.
 */
static void a_sample_of_another_clock_is_taken_again(void **state)
{
	struct fw_tune_result result = sample_with_clocks("slow 8 1700");

	(void)state;
	assert_int_equal(result.n_samples, 6);
	assert_int_equal(result.discarded, 1);
	assert_int_equal(result.unsteady, 0);
	assert_int_equal(result.sm_clock_mhz, 1980);
}

/* 6 + 4 samples are thrown away, then they are kept, and said to be unsteady. 0x20: too hot. */
static void a_gpu_that_throttles_on_is_said_to(void **state)
{
	struct fw_tune_result result = sample_with_clocks("throttle 0x20");

	(void)state;
	assert_int_equal(result.n_samples, 6);
	assert_int_equal(result.discarded, 10);
	assert_int_equal(result.unsteady, 6);
}

/* An in/out buffer is restored: the second check sees what the first one saw. */
static void in_out_buffers_are_restored(void **state)
{
	struct fw_tune_result result, *results[] = { &result };
	const uint32_t slots[] = { 1 };
	struct tune_case c;

	(void)state;
	case_open(&c, "// fullwarp: kernel add ; grid = 8 ; block = BX ; param BX = 256 64\n"
		      "// fullwarp: arg sum f32[500] random inout ; arg in f32[500] ones\n"
		      "// fullwarp: arg n i32 = 500\n"
		      "__global__ void add(float *sum, const float *in, int n) { int i = BX; }\n"
		      "// fake add: effect accumulate\n");
	expect(&c, 1, FW_TUNE_OK, "");
	expect(&c, 1, FW_TUNE_OK, "");
	result = case_check(&c, 1);
	assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 1, 3, NULL), FW_OK);
	expect(&c, 1, FW_TUNE_OK, "");
	case_close(&c);
}

static unsigned count_lines(const char *path, const char *line)
{
	FILE *file = fopen(path, "re");
	unsigned count = 0;
	char text[64];

	assert_non_null(file);
	while (fgets(text, sizeof(text), file))
		count += !strncmp(text, line, strlen(line));
	fclose(file);
	return count;
}

/* Inputs are made and uploaded once, and a checked kernel is not loaded again to be sampled. */
static void nothing_is_done_twice(void **state)
{
	struct fw_tune_result result[4],
		*results[] = { &result[0], &result[1], &result[2], &result[3] };
	const uint32_t slots[] = { 0, 1, 2, 3 };
	char path[] = "/tmp/fw-tune-XXXXXX";
	struct tune_case c;

	(void)state;
	close(mkstemp(path));
	setenv("FW_FAKE_TUNE_COUNTS", path, 1);
	case_open(&c, SPEC);
	for (uint16_t i = 0; i < 4; i++)
		result[i] = case_check(&c, i);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(fw_tune_runner_sample(c.runner, slots, results, 4, 2, NULL),
				 FW_OK);
	case_close(&c);
	assert_int_equal(count_lines(path, "upload"), 1);
	/* Our own kernels, the reference, and each configuration. */
	assert_int_equal(count_lines(path, "module"), 6);
	unsetenv("FW_FAKE_TUNE_COUNTS");
	unlink(path);
}

static void other_sizes_have_their_own_reference(void **state)
{
	static const int64_t sizes[] = { 777 };
	struct fw_tune_object object;
	struct fw_tune_result result;
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fake scale N=777 BX=64: effect wrong 776\n");
	expect(&c, 1, FW_TUNE_OK, "");
	assert_int_equal(case_set_reference(&c, sizes, NULL), FW_OK);
	object = case_compile(&c, 1, sizes);
	assert_int_equal(fw_tune_runner_check(c.runner, &object, 1, &result, NULL), FW_OK);
	assert_int_equal(result.status, FW_TUNE_WRONG_OUTPUT);
	assert_non_null(strstr(result.reason, "out[776]"));
	assert_non_null(strstr(result.reason, "of 777 are wrong"));
	fw_tune_object_release(&object);
	case_close(&c);
}

static void a_reference_kernel_decides(void **state)
{
	struct tune_case c;

	(void)state;
	case_open(&c, SPEC "// fullwarp: reference kernel slow grid = 1000 block = 1\n"
			   "// fake slow: effect wrong 3\n");
	expect(&c, 0, FW_TUNE_WRONG_OUTPUT, "out[3]");
	case_close(&c);
}

static void expect_no_reference(const char *text, const char *reason)
{
	struct fw_error err = { 0 };
	struct tune_case c;

	case_read(&c, text);
	if (fw_tune_runner_open(&c.spec, &c.options, &c.runner, &c.gpu, &err))
		fail_msg("%s", err.message);
	assert_int_not_equal(case_set_reference(&c, NULL, &err), FW_OK);
	if (!strstr(err.message, reason))
		fail_msg("%s; expected: %s", err.message, reason);
	case_close(&c);
}

static void a_reference_of_no_use_is_refused(void **state)
{
	(void)state;
	expect_no_reference(SPEC "// fake scale: effect nothing\n",
			    "writes nothing into the output out");
	expect_no_reference(SPEC "// fake scale: effect outside 1000\n",
			    "the reference wrote outside out");
	expect_no_reference(SPEC "// fake scale: effect input\n", "writes into the input in");
	expect_no_reference(SPEC "// fake scale: effect crash 700\n", "ILLEGAL_ADDRESS (700)");
	expect_no_reference(SPEC "// fake scale: effect die 9\n", "signal 9 (Killed)");
}

static void a_file_must_have_the_buffers_size(void **state)
{
	static const char text[] =
		"// fullwarp: kernel scale ; grid = 4 ; block = BX ; param BX = 256 64\n"
		"// fullwarp: arg out f32[100] output ; arg in f32[100] file \"%s\"\n"
		"// fullwarp: arg n i32 = 100\n"
		"__global__ void scale(float *out, const float *in, int n) { int i = BX; }\n"
		"// fake scale: effect scale\n";
	char path[] = "/tmp/fw-tune-XXXXXX", source[1024];
	float content[100] = { 0 };
	struct tune_case c;
	int fd = mkstemp(path);

	(void)state;
	snprintf(source, sizeof(source), text, path);
	assert_int_equal(write(fd, content, 399), 399);
	expect_no_reference(source, "has 399 bytes; argument in has 400");
	assert_int_equal(write(fd, content, 1), 1);
	case_open(&c, source);
	expect(&c, 1, FW_TUNE_OK, "");
	case_close(&c);
	close(fd);
	unlink(path);
}

static void says_why_there_is_no_gpu(void **state)
{
	struct fw_error err = { 0 };
	struct tune_case c;

	(void)state;
	case_read(&c, SPEC);
	setenv("FW_FAKE_TUNE_ERROR", "cuInit 100", 1);
	assert_int_not_equal(fw_tune_runner_open(&c.spec, &c.options, &c.runner, &c.gpu, &err),
			     FW_OK);
	assert_non_null(strstr(err.message, "cuInit: CUDA_ERROR_NO_DEVICE (100)"));
	unsetenv("FW_FAKE_TUNE_ERROR");
	c.options.device = 1;
	assert_int_equal(fw_tune_runner_open(&c.spec, &c.options, &c.runner, &c.gpu, &err),
			 FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "no GPU 1"));
	c.options.nvrtc_path = "/nonexistent/libnvrtc.so";
	c.options.device = 0;
	assert_int_equal(fw_tune_runner_open(&c.spec, &c.options, &c.runner, &c.gpu, &err),
			 FW_ERR_UNSUPPORTED);
	case_close(&c);
}

static void none_outlives_its_parent(void **state)
{
	struct tune_case c;
	pid_t parent;

	(void)state;
	case_read(&c, SPEC "// fake scale BX=64: effect hang\n");
	parent = fork();
	if (parent == 0) {
		case_start(&c);
		case_check(&c, 1);
		_exit(0);
	}
	/* The compiler's process and the GPU's, in a launch that does not end. */
	kill_with_children(parent, 2);
	case_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_one_is_sampled),
		cmocka_unit_test(a_sample_begins_with_its_own_cache),
		cmocka_unit_test(wrong_outputs_are_found),
		cmocka_unit_test(rounding_is_no_fault),
		cmocka_unit_test(what_is_written_elsewhere_is_found),
		cmocka_unit_test(a_crash_costs_its_configuration_only),
		cmocka_unit_test(a_hang_is_ended),
		cmocka_unit_test(a_crash_while_sampling_leaves_the_others),
		cmocka_unit_test(a_sample_of_another_clock_is_taken_again),
		cmocka_unit_test(a_gpu_that_throttles_on_is_said_to),
		cmocka_unit_test(in_out_buffers_are_restored),
		cmocka_unit_test(nothing_is_done_twice),
		cmocka_unit_test(other_sizes_have_their_own_reference),
		cmocka_unit_test(a_reference_kernel_decides),
		cmocka_unit_test(a_reference_of_no_use_is_refused),
		cmocka_unit_test(a_file_must_have_the_buffers_size),
		cmocka_unit_test(says_why_there_is_no_gpu),
		cmocka_unit_test(none_outlives_its_parent),
	};

	/* The loader takes a library that is open already, by its soname; so do the children. */
	if (!dlopen(FW_FAKE_TUNE_CUDA, RTLD_NOW) || !dlopen(FW_FAKE_NVML, RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
