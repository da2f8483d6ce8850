/* The specification in a source's comment lines: what is read, what it makes of a launch, and what is refused. */
#include "tune/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char conv[] =
	"// fullwarp: kernel conv ; grid = ceil(W / (BX * TX)), ceil(H / BY) ; block = BX, BY\r\n"
	"// fullwarp: param BX = 16..64 step 16 ; param BY = 1 2 4 8 16 ; param TX = 1 2 3 4 "
	"default 2\r\n"
	"  //fullwarp: where BX * BY % 32 == 0 && BX * BY <= 512 ; where TX < BX / 8\n"
	"// fullwarp: smem = 4 * (BX * TX + 14) * (BY + 14)\n"
	"// fullwarp: set W = 4096 ; set H = W / 2 ; check W = 1000 ; check W = 999, H = 777\n"
	"// fullwarp: arg in f32[H + 14][W + 14] random(-1, 1) ; arg out f32[H][W] output rel 1e-3 "
	"abs 1e-5\n"
	"// fullwarp: arg n i32 = W * H ; arg a f32 = 2.5 ; arg t i16[W] file \"t.bin\" ; arg acc "
	"u64[1] zero inout\n"
	"// fullwarp: flags -std=c++17 -I \"a b\" ; param maxrregcount = 0 32\n"
	"// fullwarp: param launch_bounds = 0 2 ; param carveout = -1 50 ; param cluster = 1 2\n"
	"// fullwarp: param flags = \"\" \"-use_fast_math -G\"\n"
	"// fullwarp: reference kernel slow<float> grid = W, ceil(H / 8) block = 32, 8\n"
	"// H in a comment and \"BY\" in a string are no use of a macro\n"
	"__global__ void FULLWARP_BOUNDS conv() { int x = W * BX * TX; }\n";

static void parse(const char *text, struct fw_tune_spec *spec)
{
	struct fw_error err = { 0 };
	fw_status status = fw_tune_spec_parse("dir/a.cu", text, strlen(text), spec, &err);

	if (status)
		print_error("%s\n", err.message);
	assert_int_equal(status, FW_OK);
}

static struct fw_tune_config config_of(const struct fw_tune_spec *spec, const int64_t *numbers)
{
	struct fw_tune_config config = { { 0 } };

	for (uint32_t p = 0; p < spec->space.n_params; p++)
		while (spec->space.params[p].values[config.value[p]].number != numbers[p])
			config.value[p]++;
	return config;
}

static void reads_parameters_and_constraints(void **state)
{
	struct fw_tune_spec spec;

	(void)state;
	parse(conv, &spec);
	assert_string_equal(spec.kernel, "conv");
	assert_int_equal(spec.space.n_params, 8);
	assert_string_equal(spec.space.params[0].name, "BX");
	assert_int_equal(spec.space.params[0].n_values, 4);
	assert_int_equal(spec.space.params[0].values[3].number, 64);
	assert_string_equal(spec.space.params[0].values[3].text, "64");
	assert_int_equal(spec.space.params[2].preset, 1);
	/*
	 * python3 -c "print(2*2*2*2*2*sum(x*y%32==0 and x*y<=512 and t<x//8
	 *   for x in (16,32,48,64) for y in (1,2,4,8,16) for t in (1,2,3,4)))"
	 */
	assert_true(spec.space.is_listed);
	assert_int_equal(spec.space.n_valid, 1504);
	/* Only what the source's code mentions is a macro. */
	assert_int_equal(spec.space.params[0].kind, FW_TUNE_MACRO);
	assert_int_equal(spec.space.params[1].kind, FW_TUNE_LAUNCH);
	assert_int_equal(spec.space.params[3].kind, FW_TUNE_MAXRREGCOUNT);
	assert_int_equal(spec.space.params[4].kind, FW_TUNE_BOUNDS);
	assert_int_equal(spec.space.params[5].kind, FW_TUNE_CARVEOUT);
	assert_int_equal(spec.space.params[6].kind, FW_TUNE_CLUSTER);
	assert_int_equal(spec.space.params[7].kind, FW_TUNE_FLAGS);
	assert_true(spec.sets[0].is_macro);
	assert_false(spec.sets[1].is_macro);
	fw_tune_spec_free(&spec);
}

static void reads_arguments(void **state)
{
	struct fw_tune_spec spec;
	uint64_t elements;
	int64_t value;

	(void)state;
	parse(conv, &spec);
	assert_int_equal(spec.n_args, 6);
	assert_string_equal(spec.args[0].name, "in");
	assert_int_equal(spec.args[0].type, FW_TUNE_F32);
	assert_true(spec.args[0].low == -1 && spec.args[0].high == 1);
	assert_false(spec.args[0].is_output);
	assert_int_equal(fw_tune_spec_elements(&spec, 0, NULL, &elements, NULL), FW_OK);
	assert_int_equal(elements, 2062 * 4110);
	assert_int_equal(fw_tune_spec_elements(&spec, 0, spec.check_sizes + 2, &elements, NULL),
			 FW_OK);
	assert_int_equal(elements, 791 * 1013);
	assert_true(spec.args[1].is_output && !spec.args[1].is_inout);
	assert_true(spec.args[1].rel == 1e-3 && spec.args[1].abs == 1e-5);
	assert_true(spec.args[2].is_scalar);
	assert_int_equal(fw_tune_spec_scalar(&spec, 2, NULL, NULL, &value, NULL), FW_OK);
	assert_int_equal(value, 4096 * 2048);
	assert_true(spec.args[3].is_scalar && spec.args[3].real == 2.5);
	assert_int_equal(spec.args[4].fill, FW_TUNE_FILE);
	assert_string_equal(spec.args[4].path, "dir/t.bin");
	assert_true(spec.args[5].is_output && spec.args[5].is_inout);
	assert_int_equal(spec.args[5].fill, FW_TUNE_ZERO);
	fw_tune_spec_free(&spec);
}

static void computes_other_sizes(void **state)
{
	struct fw_tune_spec spec;

	(void)state;
	parse(conv, &spec);
	assert_int_equal(spec.n_sets, 2);
	assert_int_equal(spec.sets[0].number, 4096);
	assert_int_equal(spec.sets[1].number, 2048);
	assert_int_equal(spec.n_check_sizes, 2);
	assert_int_equal(spec.check_sizes[0], 1000);
	assert_int_equal(spec.check_sizes[1], 500); /* follows W, as written */
	assert_int_equal(spec.check_sizes[2], 999);
	assert_int_equal(spec.check_sizes[3], 777);
	fw_tune_spec_free(&spec);
}

static void computes_launches(void **state)
{
	/* BX BY TX maxrregcount launch_bounds carveout cluster flags */
	const int64_t numbers[] = { 48, 4, 3, 32, 2, 50, 1, 1 };
	struct fw_tune_spec spec;
	struct fw_tune_launch launch;
	struct fw_tune_config config;

	(void)state;
	parse(conv, &spec);
	config = config_of(&spec, numbers);
	assert_int_equal(fw_tune_spec_launch(&spec, &config, NULL, &launch, NULL), FW_OK);
	assert_int_equal(launch.grid[0], 29); /* 4096 / 144 = 28.4 */
	assert_int_equal(launch.grid[1], 512);
	assert_int_equal(launch.grid[2], 1);
	assert_int_equal(launch.block[0], 48);
	assert_int_equal(launch.block[1], 4);
	assert_int_equal(launch.dynamic_smem, 4 * (144 + 14) * (4 + 14));
	assert_int_equal(launch.carveout, 50);
	assert_int_equal(launch.cluster, 1);
	/* 999 / 144 = 6.9, 777 / 4 = 194.25 */
	assert_int_equal(fw_tune_spec_launch(&spec, &config, spec.check_sizes + 2, &launch, NULL),
			 FW_OK);
	assert_int_equal(launch.grid[0], 7);
	assert_int_equal(launch.grid[1], 195);
	assert_int_equal(fw_tune_spec_reference_launch(&spec, &config, NULL, &launch, NULL), FW_OK);
	assert_int_equal(launch.grid[0], 4096);
	assert_int_equal(launch.grid[1], 256);
	assert_int_equal(launch.block[0] * launch.block[1], 256);
	/* 29 blocks are no pairs. */
	config.value[6] = 1;
	assert_int_equal(fw_tune_spec_launch(&spec, &config, NULL, &launch, NULL), FW_ERR_ARGUMENT);
	fw_tune_spec_free(&spec);
}

static void makes_compiler_options(void **state)
{
	static const char *const want[] = { "-std=c++17",
					    "-I",
					    "a b",
					    "-DW=4096",
					    "-DBX=48",
					    "-DTX=3",
					    "--maxrregcount=32",
					    "-use_fast_math",
					    "-G",
					    "-DFULLWARP_BOUNDS=__launch_bounds__(192, 2)" };
	const int64_t numbers[] = { 48, 4, 3, 32, 2, 50, 1, 1 };
	const int64_t plain[] = { 16, 2, 1, 0, 0, -1, 1, 0 };
	struct fw_tune_options options;
	struct fw_tune_spec spec;
	struct fw_tune_config config;

	(void)state;
	parse(conv, &spec);
	config = config_of(&spec, numbers);
	assert_int_equal(fw_tune_options_make(&spec, &config, NULL, &options, NULL), FW_OK);
	assert_int_equal(options.n, 10);
	for (uint32_t i = 0; i < options.n; i++)
		assert_string_equal(options.items[i], want[i]);
	assert_string_equal(options.kernel, "conv");
	assert_string_equal(options.reference, "slow<float>");
	fw_tune_options_release(&options);
	config = config_of(&spec, plain);
	assert_int_equal(fw_tune_options_make(&spec, &config, spec.check_sizes, &options, NULL),
			 FW_OK);
	assert_int_equal(options.n, 7);
	assert_string_equal(options.items[3], "-DW=1000");
	assert_string_equal(options.items[6], "-DFULLWARP_BOUNDS=");
	fw_tune_options_release(&options);
	fw_tune_spec_free(&spec);
}

static void names_instantiations(void **state)
{
	static const char text[] =
		"// fullwarp: kernel ns::k<BX, T, sizeof(T) * N> ; grid = N ; block = BX\n"
		"// fullwarp: param BX = 32 64 ; param T = float double ; set N = 5\n"
		"// fullwarp: arg o f32[N] output ; arg BXX i32 = BX\n"
		"template <int BX, typename T, int N> __global__ void k(T *o, int BXX);\n";
	struct fw_tune_spec spec;
	struct fw_tune_config config = { { 1, 1 } };
	struct fw_tune_options options;
	int64_t value;

	(void)state;
	parse(text, &spec);
	assert_int_equal(fw_tune_options_make(&spec, &config, NULL, &options, NULL), FW_OK);
	assert_string_equal(options.kernel, "ns::k<64, double, sizeof(double) * 5>");
	assert_null(options.reference);
	/* Template parameters are not macros of the same name. */
	assert_int_equal(options.n, 1);
	assert_string_equal(options.items[0], "-DFULLWARP_BOUNDS=");
	assert_int_equal(fw_tune_spec_scalar(&spec, 1, &config, NULL, &value, NULL), FW_OK);
	assert_int_equal(value, 64);
	fw_tune_options_release(&options);
	fw_tune_spec_free(&spec);
}

#define REST "\n// fullwarp: kernel k ; grid = 1 ; block = 32 ; arg o f32[4] output\n"

static void bounds_the_block(void **state)
{
	static const char text[] =
		"// fullwarp: kernel k ; grid = 1 ; block = X, Y, Z\n"
		"// fullwarp: param X = 1..2048 times 2 ; param Y = 1..2048 times 2\n"
		"// fullwarp: param Z = 1..128 times 2 ; arg o f32[4] output\n";
	struct fw_tune_spec spec;

	(void)state;
	parse(text, &spec);
	/* python3 -c "print(sum(x+y+z<=10 and z<=6 and x<=10 and y<=10 for x in range(12) for y in range(12) for z in range(8)))" */
	assert_int_equal(spec.space.n_valid, 266);
	fw_tune_spec_free(&spec);
}

static const struct {
	const char *text, *message;
} refused[] = {
	{ "",
	  "a.cu: there is no '// fullwarp:' line: --init writes a first specification, --kernel "
	  "NAME --n COUNT needs none" },
	{ "// fullwarp: param A = 1" REST "// fullwarp: kernel j",
	  "a.cu:3: column 20: there is one already" },
	{ "// fullwarp: parm A = 1" REST,
	  "a.cu:1: column 14: 'parm' is not known; did you mean 'param'?" },
	{ "// fullwarp: A = 1" REST,
	  "a.cu:1: column 14: an item begins with kernel grid block smem "
	  "param where set check arg flags or reference" },
	{ "int x; // fullwarp: param A = 1" REST,
	  "a.cu:1: column 1: '// fullwarp:' must be the first of its line" },
	{ "// fullwarp: param A = 1 ; where AB > 1" REST, "a.cu:1: column 34: unknown name 'AB'" },
	{ "// fullwarp: param BLOCK_X = 1 ; where BLOK_X > 1" REST,
	  "a.cu:1: column 40: unknown name 'BLOK_X'; did you mean 'BLOCK_X'?" },
	{ "// fullwarp: param A = 1 ; param A = 2" REST, "a.cu:1: parameter A is there already" },
	{ "// fullwarp: set A = 1 ; param A = 2" REST, "a.cu:1: column 37: A is a set already" },
	{ "// fullwarp: set A = 1 ; set A = 2" REST, "a.cu:1: column 31: A is set already" },
	{ "// fullwarp: set A = B ; set B = 2" REST, "a.cu:1: column 22: unknown name 'B'" },
	{ "// fullwarp: set A = 1 / 0" REST, "a.cu:1: column 27: overflow or division by zero" },
	{ "// fullwarp: param A = 1 2 1" REST, "a.cu:1: parameter A has the value 1 twice" },
	{ "// fullwarp: param A =" REST,
	  "a.cu:1: parameter A has 0 values: 1 to 1024 are possible" },
	{ "// fullwarp: param A = 1..2000" REST, "a.cu:1: column 31: more than 1024 values" },
	{ "// fullwarp: param A = 1..9 step 0" REST, "a.cu:1: column 35: the range would not end" },
	{ "// fullwarp: param A = 0..9 times 2" REST,
	  "a.cu:1: column 36: the range would not end" },
	{ "// fullwarp: param A = 9..1" REST,
	  "a.cu:1: column 28: the range ends before it begins" },
	{ "// fullwarp: param A = 99999999999999999999" REST,
	  "a.cu:1: column 42: the number does not fit into 64 bits" },
	{ "// fullwarp: param A = 1 float" REST,
	  "a.cu:1: column 31: values are numbers or words, not both" },
	{ "// fullwarp: param A = 1 2 default 3" REST,
	  "a.cu:1: column 37: the default '3' is not one of the values" },
	{ "// fullwarp: param step = 1" REST,
	  "a.cu:1: column 24: 'step' has a meaning of its own: choose another name" },
	{ "// fullwarp: param maxrregcount = 0 300" REST,
	  "a.cu:1: column 40: maxrregcount takes 0 or 16 to 255, not 300" },
	{ "// fullwarp: param launch_bounds = 0 2" REST,
	  "a.cu:1: column 39: launch_bounds needs FULLWARP_BOUNDS in the source: __global__ void "
	  "FULLWARP_BOUNDS name(...)" },
	{ "// fullwarp: param A = 1 ; where A > 1" REST,
	  "a.cu: none of the 1 combinations of the parameters satisfies the constraints" },
	{ "// fullwarp: param A = 1 ; where A / 0" REST,
	  "a.cu: none of the 1 combinations of the parameters satisfies the constraints" },
	{ "// fullwarp: param A = 1 ; arg a f33[4]" REST,
	  "a.cu:1: column 33: a type is missing: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64" },
	{ "// fullwarp: param A = 1 ; arg a f32[A]" REST,
	  "a.cu:1: column 39: the size of an argument must be the same for every configuration: it "
	  "cannot depend on the parameter A" },
	{ "// fullwarp: param A = 1 ; arg a f32" REST,
	  "a.cu:1: column 37: a buffer needs its extent, a scalar its value: f32[N] or f32 = 1" },
	{ "// fullwarp: param A = 1 ; arg a f32[4] zero ones" REST,
	  "a.cu:1: column 50: the buffer is filled in two ways" },
	{ "// fullwarp: param A = 1 ; arg a f32[4] zeros" REST,
	  "a.cu:1: column 41: not one of random zero ones sequence file output inout rel abs" },
	{ "// fullwarp: param A = 1 ; arg o f32[4] output" REST,
	  "a.cu:2: column 53: argument o is there already" },
	{ "// fullwarp: param A = 1 ; check W = 3" REST, "a.cu:1: column 35: W is not a set" },
	{ "// fullwarp: param A = 1 ; flags \"-G" REST,
	  "a.cu:1: column 37: a quotation mark is not closed" },
	{ "// fullwarp: param A = 1 ; flags \x01" REST,
	  "a.cu:1: column 34: a control character, or a byte that is not UTF-8" },
	{ "// fullwarp: param A = 1 ; reference kernel r block = 1" REST,
	  "a.cu:1: column 56: 'grid =' is missing" },
	{ "// fullwarp: param A = 1 ; kernel k ; grid = 1, 2, 3, 4 ; block = 1",
	  "a.cu:1: column 54: more than three extents" },
	{ "// fullwarp: param A = 1 ; kernel k ; grid = 1 ; block = 1 ; arg i f32[4]",
	  "a.cu: the specification lacks: an argument marked output or inout, so that results can "
	  "be checked" },
	{ "// fullwarp: param A = 1 2 ; param B = 4 8 default 8 ; where B == 4" REST,
	  "a.cu: the default configuration (A = 1, B = 8) does not satisfy the constraints: choose "
	  "another one with 'default', or give a reference kernel" },
	{ "// fullwarp: kernel k ; grid = 1 ; block = 1 ; arg i f32[4] output",
	  "a.cu: the specification lacks: param NAME = ..." },
};

static void says_where_a_fault_is(void **state)
{
	struct fw_tune_spec spec;
	bool is_bad = false;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct fw_error err = { 0 };
		fw_status status = fw_tune_spec_parse("a.cu", refused[i].text,
						      strlen(refused[i].text), &spec, &err);

		if (!status || strcmp(err.message, refused[i].message) != 0) {
			print_error("%s\n  gave %s\n  not  %s\n", refused[i].text, err.message,
				    refused[i].message);
			is_bad = true;
		}
		if (!status)
			fw_tune_spec_free(&spec);
	}
	assert_false(is_bad);
}

static void refuses_what_is_no_text(void **state)
{
	static const char nul[] = "// fullwarp: param A = 1\0" REST;
	struct fw_tune_spec spec;
	struct fw_error err = { 0 };
	size_t bytes = (size_t)1 << 20;
	char *line = malloc(bytes);

	(void)state;
	assert_int_equal(fw_tune_spec_parse("a.cu", nul, sizeof(nul) - 1, &spec, &err),
			 FW_ERR_FORMAT);
	assert_string_equal(err.message, "a.cu: byte 24 is NUL: not a source");
	assert_non_null(line);
	memset(line, '(', bytes);
	memcpy(line, "// fullwarp: where ", 19);
	assert_int_equal(fw_tune_spec_parse("a.cu", line, bytes, &spec, &err), FW_ERR_FORMAT);
	assert_string_equal(err.message,
			    "a.cu:1: column 65549: the line is longer than 65536 bytes");
	/* A long line that is none of ours is the compiler's matter. */
	memset(line, '/', bytes);
	assert_int_equal(fw_tune_spec_parse("a.cu", line, bytes, &spec, &err), FW_ERR_FORMAT);
	assert_non_null(strstr(err.message, "there is no '// fullwarp:' line"));
	free(line);
}

static void refuses_impossible_launches(void **state)
{
	static const char text[] = "// fullwarp: param X = 1 ; set N = 0 ; kernel k ; grid = N ; "
				   "block = 1 ; smem = N - 1\n"
				   "// fullwarp: set M = 3000000000 ; arg o f32[N] output ; arg "
				   "big f64[M][M] ; arg i i32 = M ; "
				   "arg u u32 = M ; arg v u8 = N - 1\n";
	int64_t sizes[] = { 0, 3000000000 }, value;
	struct fw_tune_spec spec;
	struct fw_tune_config config = { { 0 } };
	struct fw_tune_launch launch;
	struct fw_error err = { 0 };
	uint64_t elements;

	(void)state;
	parse(text, &spec);
	assert_int_equal(fw_tune_spec_launch(&spec, &config, NULL, &launch, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "N is 0: 1 to 2147483647 are possible");
	sizes[0] = INT64_MIN;
	assert_int_equal(fw_tune_spec_launch(&spec, &config, sizes, &launch, &err),
			 FW_ERR_ARGUMENT);
	sizes[0] = 2147483648;
	assert_int_equal(fw_tune_spec_launch(&spec, &config, sizes, &launch, &err),
			 FW_ERR_ARGUMENT);
	sizes[0] = 2147483647;
	assert_int_equal(fw_tune_spec_launch(&spec, &config, sizes, &launch, &err), FW_OK);
	assert_int_equal(fw_tune_spec_elements(&spec, 0, NULL, &elements, &err), FW_ERR_ARGUMENT);
	assert_int_equal(fw_tune_spec_elements(&spec, 1, NULL, &elements, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "big is larger than 2^40 bytes");
	assert_int_equal(fw_tune_spec_scalar(&spec, 2, NULL, NULL, &value, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "i is 3000000000, which i32 cannot hold");
	assert_int_equal(fw_tune_spec_scalar(&spec, 3, NULL, NULL, &value, &err), FW_OK);
	assert_int_equal(value, 3000000000);
	assert_int_equal(fw_tune_spec_scalar(&spec, 4, NULL, NULL, &value, &err), FW_ERR_ARGUMENT);
	fw_tune_spec_free(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_parameters_and_constraints),
		cmocka_unit_test(reads_arguments),
		cmocka_unit_test(computes_other_sizes),
		cmocka_unit_test(computes_launches),
		cmocka_unit_test(makes_compiler_options),
		cmocka_unit_test(names_instantiations),
		cmocka_unit_test(bounds_the_block),
		cmocka_unit_test(says_where_a_fault_is),
		cmocka_unit_test(refuses_what_is_no_text),
		cmocka_unit_test(refuses_impossible_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
