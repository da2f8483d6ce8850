/* The compile pool with the real NVRTC, where there is one: figures of the code against those of ptxas in the log. */
#include "gpu/nvrtc.h"
#include "tune/compare.h"
#include "tune/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
	"// fullwarp: kernel mix<T, float> ; grid = 1 ; block = T ; param T = 64 128\n"
	"// fullwarp: param UNUSED = 1 2 ; param maxrregcount = 0 24\n"
	"// fullwarp: reference kernel plain grid = 1 block = 1\n"
	"// fullwarp: arg out f32[1024] output ; arg in f32[1024] random\n"
	"#include <cuda_fp16.h>\n"
	"extern \"C\" __global__ void plain(float *out, const float *in) { out[0] = in[0]; }\n"
	"template <int N, class F> __global__ void mix(F *out, const F *in)\n"
	"{\n"
	"	__shared__ F s[N];\n"
	"	if (UNUSED < 0) return;\n"
	"	F a[32], sum = 0;\n"
	"	s[threadIdx.x] = in[threadIdx.x];\n"
	"#pragma unroll\n"
	"	for (int i = 0; i < 32; i++) a[i] = in[i * 7 + threadIdx.x];\n"
	"	__syncthreads();\n"
	"#pragma unroll\n"
	"	for (int i = 0; i < 32; i++) sum += a[i] * a[31 - i] * s[(threadIdx.x + i) % N] + "
	"a[(i * 5) % 32];\n"
	"	out[threadIdx.x] = sum;\n"
	"}\n";

/* The library keeps what it has allocated at its start; closed, it could not be named any more. */
static struct fw_nvrtc nvrtc;
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libnvrtc";
}

static struct fw_tune_spec spec;
static struct fw_tune_compiler *compiler;

static struct fw_tune_object compile(uint16_t t, uint16_t unused, uint16_t cap)
{
	struct fw_tune_config config = { .value = { t, unused, cap } };
	struct fw_tune_object object;
	struct fw_error err = { 0 };

	assert_int_equal(fw_tune_compiler_submit(compiler, &config, NULL, &err), FW_OK);
	if (fw_tune_compiler_next(compiler, &object, &err) || object.result.status)
		fail_msg("%s%s", err.message, object.result.reason);
	return object;
}

static unsigned number_before(const char *log, const char *words)
{
	const char *at = strstr(log, words);

	assert_non_null(at);
	while (at > log && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return (unsigned)strtoul(at, NULL, 10);
}

/* ptxas' own words for the same options, asked for directly. */
static void check_against_log(const struct fw_tune_object *object, const char *n, const char *cap)
{
	const char *options[] = { "--gpu-architecture=sm_90", "--ptxas-options=-v", "-DUNUSED=1",
				  cap };
	/* Without the line that includes a header. */
	struct fw_nvrtc_job job = { .source = strstr(source, "extern"),
				    .name = "k.cu",
				    .options = options,
				    .n_options = cap ? 4 : 3,
				    .n_names = 1 };
	struct fw_nvrtc_output output;
	struct fw_error err = { 0 };
	char name[32];
	const char *log;

	snprintf(name, sizeof(name), "mix<%s, float>", n);
	job.names[0] = name;
	if (fw_nvrtc_compile(&nvrtc, &job, &output, &err))
		fail_msg("%s", err.message);
	log = strstr(output.log, "Function properties for _Z3mix");
	assert_non_null(log);
	assert_int_equal(object->result.registers, number_before(log, " registers, used"));
	assert_int_equal(object->result.spill_bytes, number_before(log, " bytes spill stores"));
	assert_int_equal(object->result.static_smem, number_before(log, " bytes smem"));
	assert_string_equal(object->lowered_name, output.lowered[0]);
	fw_nvrtc_output_release(&output);
}

static void figures_are_those_of_ptxas(void **state)
{
	struct fw_tune_object a = compile(0, 0, 0), b = compile(0, 1, 0), c = compile(1, 0, 0),
			      d = compile(0, 0, 1);

	(void)state;
	check_against_log(&a, "64", NULL);
	check_against_log(&c, "128", NULL);
	check_against_log(&d, "64", "--maxrregcount=24");
	assert_true(d.result.registers <= 24 && d.result.spill_bytes > 0);
	assert_string_equal(a.reference_name, "plain");
	/* A macro of no effect gives equal code; one that counts does not. */
	assert_true(a.result.cubin_hash == b.result.cubin_hash);
	assert_true(a.result.cubin_hash != c.result.cubin_hash);
	assert_true(a.result.cubin_hash != d.result.cubin_hash);
	fw_tune_object_release(&a);
	fw_tune_object_release(&b);
	fw_tune_object_release(&c);
	fw_tune_object_release(&d);
}

static void our_own_kernels_compile(void **state)
{
	static const char *const options[] = { "--gpu-architecture=sm_75" };
	const struct fw_nvrtc_job job = { .source = fw_tune_check_source,
					  .name = "check.cu",
					  .options = options,
					  .n_options = 1 };
	struct fw_nvrtc_output output;
	struct fw_error err = { 0 };

	(void)state;
	if (fw_nvrtc_compile(&nvrtc, &job, &output, &err))
		fail_msg("%s", err.message);
	assert_string_equal(output.log, "");
	fw_nvrtc_output_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(figures_are_those_of_ptxas),
					    cmocka_unit_test(our_own_kernels_compile) };
	struct fw_tune_compile_options options = { .cc = 90, .workers = 1 };
	char include[FW_NVRTC_PATH_BYTES];
	struct fw_error err = { 0 };
	int failed;

	if (fw_nvrtc_open(&nvrtc, NULL, &err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	if (!fw_nvrtc_include_folder(&nvrtc, include)) {
		printf("skipped: CUDA's headers are not beside NVRTC\n");
		return 77;
	}
	if (fw_tune_spec_parse("k.cu", source, sizeof(source) - 1, &spec, &err) ||
	    fw_tune_compiler_open(&spec, &options, &compiler, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	fw_tune_compiler_close(compiler);
	fw_tune_spec_free(&spec);
	return failed;
}
