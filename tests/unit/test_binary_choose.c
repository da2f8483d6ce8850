/*
 * Which image of a container a GPU loads, from the CUDA C++ Programming Guide: "Binary Compatibility",
 * "PTX Compatibility", "Family-Specific Features".
 */
#include "binary/binary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CUBIN FW_IMAGE_CUBIN
#define PTX   FW_IMAGE_PTX

struct choice {
	int cc;
	struct {
		enum fw_image_kind kind;
		int cc;
		char suffix;
	} images[4];
	int expected; /* number of the image taken; -1: none */
};

static const struct choice choices[] = {
	{ 80, { { CUBIN, 80, 0 }, { CUBIN, 86, 0 }, { PTX, 80, 0 } }, 0 },
	{ 89, { { CUBIN, 80, 0 }, { CUBIN, 86, 0 }, { CUBIN, 90, 0 } }, 1 },
	{ 86, { { CUBIN, 89, 0 }, { CUBIN, 75, 0 }, { PTX, 70, 0 } }, 2 },
	{ 90, { { CUBIN, 80, 0 }, { PTX, 80, 0 }, { PTX, 90, 0 } }, 2 },
	{ 90, { { CUBIN, 80, 0 }, { PTX, 100, 0 } }, -1 },
	{ 90, { { CUBIN, 90, 0 }, { CUBIN, 90, 'a' } }, 1 },
	{ 103, { { CUBIN, 100, 'a' }, { CUBIN, 100, 0 } }, 1 },
	{ 103, { { CUBIN, 100, 0 }, { CUBIN, 100, 'f' } }, 1 },
	{ 103, { { CUBIN, 103, 0 }, { CUBIN, 100, 'f' } }, 0 },
	{ 120, { { CUBIN, 100, 'f' }, { PTX, 100, 'f' } }, -1 },
	{ 120, { { CUBIN, 100, 0 }, { PTX, 90, 0 } }, 1 },
	{ 121, { { PTX, 120, 'a' }, { PTX, 120, 'f' }, { PTX, 90, 0 } }, 1 },
	/* Tegra chips take only their own; others do not take theirs. */
	{ 87, { { CUBIN, 86, 0 }, { PTX, 80, 0 } }, 1 },
	{ 89, { { CUBIN, 87, 0 }, { PTX, 80, 0 } }, 1 },
	{ 87, { { CUBIN, 80, 0 }, { CUBIN, 87, 0 } }, 1 },
	{ 90, { { FW_IMAGE_LTO, 90, 0 }, { FW_IMAGE_OTHER, 90, 0 } }, -1 },
	{ 90, { { CUBIN, FW_UNKNOWN, 0 }, { PTX, FW_UNKNOWN, 0 } }, -1 },
};

static void one_image_of_a_container_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		struct fw_image images[4] = { 0 };
		struct fw_binary binary = { .images = images, .image_count = 4 };
		enum fw_load load[4];

		for (size_t k = 0; k < 4; k++) {
			images[k].kind = choices[i].images[k].kind;
			images[k].target.cc =
				choices[i].images[k].cc ? choices[i].images[k].cc : FW_UNKNOWN;
			images[k].target.suffix = choices[i].images[k].suffix;
			images[k].container = 7;
			images[k].source = "made";
		}
		fw_binary_choose(&binary, choices[i].cc, load);
		for (int k = 0; k < 4; k++) {
			enum fw_load expected = k != choices[i].expected ? FW_LOAD_NOT
						: images[k].kind == PTX  ? FW_LOAD_JIT
									 : FW_LOAD_CUBIN;

			if (load[k] != expected)
				fail_msg("choice %zu, image %d: %d", i, k, (int)load[k]);
		}
	}
}

static void containers_are_chosen_from_one_by_one(void **state)
{
	struct fw_image images[3] = {
		{ .source = "made", .kind = CUBIN, .target = { 80, 0 }, .container = 0 },
		{ .source = "made",
		  .kind = CUBIN,
		  .target = { 80, 0 },
		  .container = 1,
		  .is_relocatable = true },
		{ .source = "made", .kind = CUBIN, .target = { 86, 0 }, .container = 2 },
	};
	struct fw_binary binary = { .images = images, .image_count = 3 };
	enum fw_load load[3];

	(void)state;
	fw_binary_choose(&binary, 86, load);
	assert_int_equal(load[0], FW_LOAD_CUBIN);
	assert_int_equal(load[1], FW_LOAD_NOT);
	assert_int_equal(load[2], FW_LOAD_CUBIN);
}

/* nvcc manual, "JIT linking": only if no linked code fits the GPU are the linker's inputs compiled. */
static void inputs_of_the_linker_are_left_where_its_output_fits(void **state)
{
	struct fw_image images[4] = {
		{ .source = "a:__nv_relfatbin", .kind = PTX, .target = { 86, 0 }, .container = 0 },
		{ .source = "a:.nv_fatbin", .kind = CUBIN, .target = { 86, 0 }, .container = 1 },
		{ .source = "a:.nv_fatbin", .kind = PTX, .target = { 86, 0 }, .container = 2 },
		{ .source = "b:__nv_relfatbin", .kind = PTX, .target = { 86, 0 }, .container = 3 },
	};
	struct fw_binary binary = { .images = images, .image_count = 4 };
	enum fw_load load[4];

	(void)state;
	fw_binary_choose(&binary, 86, load);
	assert_int_equal(load[0], FW_LOAD_NOT);
	assert_int_equal(load[1], FW_LOAD_CUBIN);
	assert_int_equal(load[2], FW_LOAD_JIT);
	assert_int_equal(load[3], FW_LOAD_JIT);
	fw_binary_choose(&binary, 90, load);
	assert_int_equal(load[0], FW_LOAD_JIT);
	assert_int_equal(load[1], FW_LOAD_NOT);
}

static void targets_have_a_text(void **state)
{
	char text[FW_TARGET_TEXT];

	(void)state;
	assert_string_equal(fw_target_text((struct fw_target){ 90, 'a' }, text), "90a");
	assert_string_equal(fw_target_text((struct fw_target){ 120, 0 }, text), "120");
	assert_string_equal(fw_target_text((struct fw_target){ FW_UNKNOWN, 0 }, text), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_image_of_a_container_is_taken),
		cmocka_unit_test(containers_are_chosen_from_one_by_one),
		cmocka_unit_test(inputs_of_the_linker_are_left_where_its_output_fits),
		cmocka_unit_test(targets_have_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
