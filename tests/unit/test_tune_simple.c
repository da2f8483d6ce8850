/* Specifications made up from a kernel's signature, and the lines that --init writes. */
#include "tune/options.h"
#include "tune/signature.h"
#include "tune/simple.h"
#include "tune/source_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static fw_status try(const char *text, const char *kernel, struct fw_tune_spec *spec,
		     struct fw_error *err)
{
	struct fw_tune_simple source = { "a.cu", text, strlen(text), kernel, 1000000 };

	return fw_tune_spec_simple_parse(&source, spec, err);
}

static void make(const char *text, const char *kernel, struct fw_tune_spec *spec)
{
	struct fw_error err = { 0 };

	if (try(text, kernel, spec, &err))
		fail_msg("%s", err.message);
}

static void is_refused(const char *text, const char *kernel, const char *message)
{
	struct fw_tune_spec spec;
	struct fw_error err = { 0 };

	assert_int_not_equal(try(text, kernel, &spec, &err), FW_OK);
	assert_string_equal(err.message, message);
}

static const char vector_add[] =
	"__global__ void vector_add(const float *a, const float *b, float *c, int n)\n"
	"{\n\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n\tif (i < n)\n\t\tc[i] = a[i] + "
	"b[i];\n}\n";

static void tries_every_legal_block(void **state)
{
	struct fw_tune_spec spec;
	struct fw_tune_config config = { { 30 } };
	struct fw_tune_launch launch;
	struct fw_tune_options options;
	uint64_t elements;
	int64_t value;

	(void)state;
	make(vector_add, NULL, &spec);
	assert_string_equal(spec.kernel, "vector_add");
	assert_string_equal(spec.source, vector_add);
	assert_int_equal(spec.space.n_valid, 32);
	assert_int_equal(fw_tune_spec_launch(&spec, &config, NULL, &launch, NULL), FW_OK);
	assert_int_equal(launch.block[0], 992);
	assert_int_equal(launch.grid[0], 1009); /* 1000000 / 992 = 1008.06 */
	assert_true(fw_tune_space_preset(&spec.space, &config));
	assert_int_equal(fw_tune_spec_launch(&spec, &config, NULL, &launch, NULL), FW_OK);
	assert_int_equal(launch.block[0], 256);
	/* One compile serves all block sizes. */
	assert_int_equal(fw_tune_options_make(&spec, &config, NULL, &options, NULL), FW_OK);
	assert_int_equal(options.n, 1);
	assert_string_equal(options.items[0], "-DFULLWARP_BOUNDS=");
	fw_tune_options_release(&options);
	assert_int_equal(spec.n_args, 4);
	assert_int_equal(fw_tune_spec_elements(&spec, 2, NULL, &elements, NULL), FW_OK);
	assert_int_equal(elements, 1000000);
	assert_false(spec.args[1].is_output);
	assert_true(spec.args[2].is_output && spec.args[2].is_inout);
	assert_int_equal(fw_tune_spec_scalar(&spec, 3, NULL, NULL, &value, NULL), FW_OK);
	assert_int_equal(value, 1000000);
	assert_int_equal(spec.n_check_sizes, 2);
	assert_int_equal(spec.check_sizes[0], 500007);
	assert_int_equal(spec.check_sizes[1], 1003);
	fw_tune_spec_free(&spec);
}

static void obeys_the_kernels_own_bounds(void **state)
{
	struct fw_tune_spec spec;

	(void)state;
	make("__global__ void __launch_bounds__(200, 4) k(float *p) {}", "k", &spec);
	assert_int_equal(spec.space.n_valid, 6); /* 32 to 192 */
	fw_tune_spec_free(&spec);
	make("__launch_bounds__(64) extern \"C\" __global__ void k(float *p) {}", "k", &spec);
	fw_tune_spec_free(&spec);
	make("void __global__ __launch_bounds__( MAX ) k(float *p) {}", "k", &spec);
	assert_int_equal(spec.space.n_valid, 32);
	fw_tune_spec_free(&spec);
	make("__global__ void __launch_bounds__(16) k(float *p) {}", "k", &spec);
	assert_int_equal(spec.space.n_valid, 1);
	assert_int_equal(spec.space.params[0].values[0].number, 16);
	fw_tune_spec_free(&spec);
}

static const struct {
	const char *declaration;
	enum fw_tune_type type;
	uint32_t lanes;
	bool is_pointer, is_const;
} declarations[] = {
	{ "float *x", FW_TUNE_F32, 1, true, false },
	{ "const float *__restrict__ x", FW_TUNE_F32, 1, true, true },
	{ "float const* x", FW_TUNE_F32, 1, true, true },
	{ "float *const __restrict__ x", FW_TUNE_F32, 1, true, false },
	{ "volatile double x[]", FW_TUNE_F64, 1, true, false },
	{ "const int x[4]", FW_TUNE_I32, 1, true, true },
	{ "unsigned x", FW_TUNE_U32, 1, false, false },
	{ "const unsigned int x", FW_TUNE_U32, 1, false, true },
	{ "long x", FW_TUNE_I64, 1, false, false },
	{ "unsigned long long int x = 4", FW_TUNE_U64, 1, false, false },
	{ "long long\nx", FW_TUNE_I64, 1, false, false },
	{ "signed char *x", FW_TUNE_I8, 1, true, false },
	{ "unsigned char *x", FW_TUNE_U8, 1, true, false },
	{ "short int *x", FW_TUNE_I16, 1, true, false },
	{ "unsigned short *x", FW_TUNE_U16, 1, true, false },
	{ "std::uint32_t x", FW_TUNE_U32, 1, false, false },
	{ "size_t x", FW_TUNE_U64, 1, false, false },
	{ "const float4 * x", FW_TUNE_F32, 4, true, true },
	{ "__half2 *x", FW_TUNE_F16, 2, true, false },
	{ "__nv_bfloat16 *x", FW_TUNE_BF16, 1, true, false },
	{ "bool *x", FW_TUNE_U8, 1, true, false },
	{ "__grid_constant__ const int x", FW_TUNE_I32, 1, false, true },
};

static void reads_declarations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(declarations) / sizeof(*declarations); i++) {
		struct fw_tune_signature s;
		struct fw_arena arena = { 0 };
		struct fw_error err = { 0 };
		const char *code = fw_arena_printf(&arena, "__global__ void k(%s);",
						   declarations[i].declaration);

		if (fw_tune_signature_find(&arena, code, "k", &s, &err))
			fail_msg("%s: %s", declarations[i].declaration, err.message);
		assert_int_equal(s.n_params, 1);
		assert_string_equal(s.params[0].name, "x");
		assert_int_equal(s.params[0].type, declarations[i].type);
		assert_int_equal(s.params[0].lanes, declarations[i].lanes);
		assert_int_equal(s.params[0].is_pointer, declarations[i].is_pointer);
		assert_int_equal(s.params[0].is_const, declarations[i].is_const);
		fw_arena_release(&arena);
	}
}

static void finds_the_kernel_among_others(void **state)
{
	static const char text[] =
		"#define K __global__ void macro(int *a) {}\n"
		"// __global__ void comment(int *a);\n"
		"/* __global__ void comment(int *a) */ const char *s = \"__global__ void text(int "
		"*a);\";\n"
		"__device__ float helper(float x) { return x; }\n"
		"template <typename T> __global__ void shape(T *out, int n) { }\n"
		"__global__ void one(float *p);\n"
		"__global__ void\ntwo(double *, unsigned, const int *q, float f)\n{ helper(1); }\n"
		"__global__ void one(float *p) { }\n";
	struct fw_tune_spec spec;
	struct fw_error err = { 0 };

	(void)state;
	make(text, "two", &spec);
	assert_int_equal(spec.n_args, 4);
	assert_string_equal(spec.args[0].name, "p1");
	assert_string_equal(spec.args[1].name, "p2");
	assert_true(spec.args[3].is_scalar && spec.args[3].real == 1.5);
	fw_tune_spec_free(&spec);
	make(text, "ns::one", &spec);
	assert_string_equal(spec.kernel, "ns::one");
	fw_tune_spec_free(&spec);
	is_refused(text, NULL, "a.cu: there is more than one kernel: name one of shape, one, two");
	is_refused(text, "tow", "a.cu: there is no kernel 'tow'; there is shape, one, two");
	is_refused("int x;", "k", "a.cu: there is no __global__ function");
	assert_int_equal(try(text, "shape", &spec, &err), FW_ERR_UNSUPPORTED);
}

static void names_what_it_cannot_make_up(void **state)
{
	(void)state;
	is_refused("\n__global__ void k(float *a, struct image *img, int n);", "k",
		   "a.cu: line 2: parameter img of k has the type 'struct image *', for which no "
		   "argument can be made up");
	is_refused("__global__ void k(float **a)", "k", "a.cu: there is no __global__ function");
	is_refused("__global__ void k(float **a);", "k",
		   "a.cu: line 1: parameter a of k has the type 'float **', for which no argument "
		   "can be made up");
	is_refused(
		"__global__ void k(float4 v, float *o);", "k",
		"a.cu: line 1: parameter v of k has the type 'float4', for which no argument can "
		"be made up");
	is_refused("__global__ void k(std::array<int, 4> v);", "k",
		   "a.cu: line 1: parameter p1 of k has the type 'std::array<int, 4> v', for which "
		   "no argument can be made up");
	is_refused("__global__ void k(const float *a);", "k",
		   "a.cu: the specification lacks: an argument marked output or inout, so that "
		   "results can be checked");
	is_refused("template <int B> __global__ void k(float *a);", "k",
		   "a.cu: line 1: k is a template: name an instantiation, as in 'k<float>'");
	is_refused("__global__ void k(float *a, char c);", "k",
		   "c is 1000000, which i8 cannot hold");
	is_refused("__global__ void k(float *a);", "k; param X = 1",
		   "'k; param X = 1' is no name of a kernel");
	is_refused("__global__ void k(float *a", "k", "a.cu: there is no __global__ function");
}

static void writes_lines_that_say_the_same(void **state)
{
	static const char text[] =
		"#define N 4\n"
		"__global__ void k(const float4 *a, int step, bool *flags, float f) {}\n";
	struct fw_tune_result compiled = { .has_attributes = true,
					   .registers = 40,
					   .static_smem = 512,
					   .spill_bytes = 8,
					   .max_threads = 1024,
					   .occupancy = 0.75,
					   .limiters = 0 };
	struct fw_tune_spec spec, again;
	struct fw_str out = { 0 };
	struct fw_error err = { 0 };

	(void)state;
	make(text, "k", &spec);
	assert_int_equal(fw_tune_init_write(&spec, &compiled, &out, &err), FW_OK);
	assert_non_null(
		strstr(fw_str_text(&out),
		       "// fullwarp: kernel k ; block = BLOCK ; grid = ceil(COUNT / BLOCK)\n"
		       "// fullwarp: set COUNT = 1000000\n"
		       "// fullwarp: check COUNT = 500007\n"
		       "// fullwarp: check COUNT = 1003\n"));
	assert_non_null(strstr(
		fw_str_text(&out),
		"// fullwarp: arg a f32[COUNT * 4] random(0, 1)\n"
		"// fullwarp: arg step i32 = COUNT\n"
		"// fullwarp: arg flags u8[COUNT] random(0, 1) inout\n"
		"// fullwarp: arg f f32 = 1.5\n"
		"// Compiled as it is: 40 registers, 512 bytes of static shared memory, "
		"8 bytes spilled, blocks of up to 1024 threads; theoretical occupancy 75 %\n"));
	fw_str_puts(&out, text);
	if (fw_tune_spec_parse("b.cu", fw_str_text(&out), out.len, &again, &err))
		fail_msg("%s", err.message);
	assert_int_equal(again.space.n_valid, spec.space.n_valid);
	assert_int_equal(again.n_args, spec.n_args);
	/* COUNT is the source's own name for nothing: not a macro. */
	assert_false(again.sets[0].is_macro);
	assert_int_equal(again.space.params[0].kind, FW_TUNE_LAUNCH);
	fw_tune_spec_free(&again);
	fw_tune_spec_free(&spec);
	fw_str_clear(&out);
	make(vector_add, "vector_add", &spec);
	assert_int_equal(fw_tune_init_write(&spec, NULL, &out, &err), FW_OK);
	assert_non_null(strstr(fw_str_text(&out),
			       "// Not compiled: registers and shared memory are unknown.\n"));
	fw_tune_spec_free(&spec);
	fw_str_release(&out);
}

static void blanks_comments_and_literals(void **state)
{
	static const char *const cases[][2] = {
		{ "a // b\nc", "a     \nc" },
		{ "a /* b\n */ c", "a     \n    c" },
		{ "\"a\\\"b\" c", "\"    \" c" },
		{ "'\"' a", "' ' a" },
		{ "1'000 // x", "1'000     " },
		{ "\"open\nb", "\"    \nb" },
		{ "/* open", "       " },
		{ "a // b\\\nc\nd", "a      \n \nd" },
		{ "\"/* no */\" a", "\"        \" a" },
		{ "\"a\\", "\"  " },
		{ "/", "/" },
	};
	struct fw_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(
			fw_tune_source_code(&arena, cases[i][0], strlen(cases[i][0]), false),
			cases[i][1]);
	assert_string_equal(fw_tune_source_code(&arena, "#if A \\\n B\nC\n  #x", 18, true),
			    "       \n  \nC\n    ");
	assert_true(fw_tune_source_mentions("int BX;", "BX"));
	assert_false(fw_tune_source_mentions("int BXY, ABX, BX_;", "BX"));
	fw_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tries_every_legal_block),
		cmocka_unit_test(obeys_the_kernels_own_bounds),
		cmocka_unit_test(reads_declarations),
		cmocka_unit_test(finds_the_kernel_among_others),
		cmocka_unit_test(names_what_it_cannot_make_up),
		cmocka_unit_test(writes_lines_that_say_the_same),
		cmocka_unit_test(blanks_comments_and_literals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
