/*
 * Cubins made byte by byte: the older ABI, of which there is no compiler here, and damage.
 * The layouts and figures are those observed in NVIDIA's files (docs/format/cubin.md).
 */
#include "binary_case.h"

#include <time.h>

#define EXECUTABLE  2
#define RELOCATABLE 1
#define FLAGS_8(sm) (0x06000004u | (uint32_t)(sm) << 8)

static const struct fw_kernel *only_kernel(const struct fw_binary *binary)
{
	for (size_t i = 0; i < binary->problem_count; i++)
		print_message("%s\n", binary->problems[i].message);
	assert_int_equal(binary->problem_count, 0);
	assert_int_equal(binary->kernel_count, 1);
	return binary->kernels;
}

static void abi_7_keeps_registers_and_barriers_in_the_section_header(void **state)
{
	const struct made_kernel made = { "k", 42u << 24 | 1, (uint64_t)3 << 20 | 6, NULL, 256 };
	struct bytes file = make_cubin(0x33, 7, EXECUTABLE, 0x00500550, &made, NULL);
	unsigned char *copy;
	struct fw_binary *binary = read_made(&file, &copy);
	const struct fw_kernel *k = only_kernel(binary);

	(void)state;
	assert_string_equal(k->name, "k");
	assert_int_equal(k->target.cc, 80);
	assert_int_equal(k->target.suffix, 0);
	assert_int_equal(k->registers, 42);
	assert_int_equal(k->barriers, 3);
	assert_int_equal(k->static_smem, 256);
	assert_int_equal(k->spill_instructions, FW_UNKNOWN);
	assert_int_equal(k->stack, FW_UNKNOWN);
	assert_int_equal(k->register_cap, FW_UNKNOWN);
	assert_int_equal(binary->images[0].abi, 7);
	close_made(binary, copy);
	free_bytes(&file);
}

static void abi_7_marks_chip_specific_code_in_the_flags(void **state)
{
	const struct made_kernel made = { "k", 0, 0, NULL, 0 };
	struct bytes file = make_cubin(0x33, 7, EXECUTABLE, 0x005a0d5a, &made, NULL);
	unsigned char *copy;
	struct fw_binary *binary = read_made(&file, &copy);
	char text[FW_TARGET_TEXT];

	(void)state;
	assert_string_equal(fw_target_text(binary->kernels[0].target, text), "90a");
	/* From 9.0 on the header has no registers: unknown, not 0. */
	assert_int_equal(binary->kernels[0].registers, FW_UNKNOWN);
	/* Whether this ABI records setmaxnreg is not known. */
	assert_int_equal(binary->kernels[0].setmaxnreg, FW_UNKNOWN);
	assert_int_equal(binary->kernels[0].tcgen05, 0);
	close_made(binary, copy);
	free_bytes(&file);
}

/* CUDA 8 and 9 wrote e_flags 0x003c0d3c for plain sm_60: there is no sm_60a. */
static void abi_7_has_no_chip_specific_code_before_9_0(void **state)
{
	const struct made_kernel made = { "k", 0, 0, NULL, 0 };
	struct bytes file = make_cubin(0x33, 7, EXECUTABLE, 0x003c0d3c, &made, NULL);
	unsigned char *copy;
	struct fw_binary *binary = read_made(&file, &copy);
	char text[FW_TARGET_TEXT];
	enum fw_load load;

	(void)state;
	assert_string_equal(fw_target_text(binary->kernels[0].target, text), "60");
	fw_binary_choose(binary, 61, &load);
	assert_int_equal(load, FW_LOAD_CUBIN);
	close_made(binary, copy);
	free_bytes(&file);
}

/* A linked indirect caller of NCCL: 40 in the header, 96 in the record. */
static void the_record_of_registers_wins(void **state)
{
	const struct made_kernel made = { "k", 40u << 24, 0, NULL, 0 };
	struct bytes global = { 0 }, file;
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put_record(&global, 0x2f, (uint32_t[]){ 1, 96 }, 2, 0);
	put_record(&global, 0x11, (uint32_t[]){ 1, 8 }, 2, 0);
	put_record(&global, 0x12, (uint32_t[]){ 1, UINT32_MAX }, 2, 0);
	file = make_cubin(0x41, 8, EXECUTABLE, FLAGS_8(75), &made, &global);
	binary = read_made(&file, &copy);
	assert_int_equal(only_kernel(binary)->registers, 96);
	assert_int_equal(binary->kernels[0].frame, 8);
	/* 0xffffffff stands for recursion. */
	assert_int_equal(binary->kernels[0].stack, FW_UNKNOWN);
	assert_int_equal(binary->kernels[0].barriers, 0);
	assert_int_equal(binary->kernels[0].spill_instructions, 0);
	close_made(binary, copy);
	free_bytes(&global);
	free_bytes(&file);
}

static void the_drivers_kilobyte_is_taken_off_linked_code_from_9_0_on(void **state)
{
	static const struct {
		unsigned type, sm;
		uint64_t size;
		int expected;
	} cases[] = {
		{ EXECUTABLE, 90, 1024, 0 },       { EXECUTABLE, 90, 1280, 256 },
		{ EXECUTABLE, 120, 13040, 12016 }, { EXECUTABLE, 89, 1280, 1280 },
		{ RELOCATABLE, 90, 1280, 1280 },   { EXECUTABLE, 90, 512, 512 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct made_kernel made = { "k", 0, 0, NULL, cases[i].size };
		struct bytes file =
			make_cubin(0x41, 8, cases[i].type, FLAGS_8(cases[i].sm), &made, NULL);
		unsigned char *copy;
		struct fw_binary *binary = read_made(&file, &copy);

		assert_int_equal(only_kernel(binary)->static_smem, cases[i].expected);
		assert_int_equal(binary->kernels[0].is_provisional, cases[i].type == RELOCATABLE);
		close_made(binary, copy);
		free_bytes(&file);
	}
}

static void records_of_every_form_are_read(void **state)
{
	struct bytes info = { 0 }, file;
	const struct made_kernel made = { "k", 0, 0, &info, 0 };
	const struct fw_kernel *k;
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put_record(&info, 0x05, (uint32_t[]){ 128, 2, 1 }, 3, 0);
	put_record(&info, 0x10, (uint32_t[]){ 64, 1, 1 }, 3, 0);
	put_record(&info, 0x1b, NULL, 0, 168);
	put_record(&info, 0x3d, (uint32_t[]){ 2, 1, 1 }, 3, 0);
	put_record(&info, 0x3f, (uint32_t[]){ 8 }, 1, 0);
	put(&info, "\2\x4c\5\0", 4); /* a byte: 5 barriers */
	put(&info, "\1\x54\0\0", 4); /* no value: setmaxnreg */
	put(&info, "\1\x52\0\0", 4);
	put_record(&info, 0x55, (uint32_t[]){ 1, 64, 1, 80, 2, 96 }, 6, 0);
	put_record(&info, 0x37, (uint32_t[]){ 0x82 }, 1, 0);
	put_record(&info, 0xfe, (uint32_t[]){ 1 }, 1, 0); /* not known */
	put(&info, "\0\0\0\0", 4);                        /* padding */
	file = make_cubin(0x41, 8, EXECUTABLE, FLAGS_8(100), &made, NULL);
	binary = read_made(&file, &copy);
	k = only_kernel(binary);
	assert_int_equal(k->max_threads[0] * 100 + k->max_threads[1] * 10 + k->max_threads[2],
			 12821);
	assert_int_equal(k->required_threads[0], 64);
	assert_int_equal(k->register_cap, 168);
	assert_int_equal(k->cluster[0], 2);
	assert_int_equal(k->max_cluster_rank, 8);
	assert_int_equal(k->barriers, 5);
	assert_int_equal(k->setmaxnreg, 1);
	assert_int_equal(k->tcgen05, 2);
	assert_int_equal(k->spill_instructions, 2);
	assert_int_equal(binary->images[0].toolkit, 130);
	close_made(binary, copy);
	free_bytes(&info);
	free_bytes(&file);
}

static void damaged_records_make_no_figures(void **state)
{
	static const char *const damage[] = { "\4\x05\xff\xff", "\x09\1\0\0", "\0\1\0\0",
					      "\3\x1b" };
	static const size_t sizes[] = { 4, 4, 4, 2 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct bytes info = { 0 }, file;
		const struct made_kernel made = { "k", 0, 0, &info, 0 };
		struct fw_binary *binary;
		unsigned char *copy;

		put_record(&info, 0x1b, NULL, 0, 168);
		put(&info, damage[i], sizes[i]);
		file = make_cubin(0x41, 8, EXECUTABLE, FLAGS_8(90), &made, NULL);
		binary = read_made(&file, &copy);
		assert_int_equal(binary->kernel_count, 0);
		assert_int_equal(binary->problem_count, 1);
		assert_non_null(strstr(binary->problems[0].message, ".nv.info"));
		assert_non_null(binary->images[0].error);
		close_made(binary, copy);
		free_bytes(&info);
		free_bytes(&file);
	}
}

static void offsets_past_the_end_are_refused(void **state)
{
	/* The header's fields: section table, its entry size, count, names. */
	static const struct {
		size_t at, size;
		uint64_t value;
	} cases[] = {
		{ 40, 8, UINT64_MAX }, { 40, 8, UINT64_MAX - 63 }, { 40, 8, 100000 }, { 58, 2, 0 },
		{ 58, 2, 40 },         { 60, 2, 0xfeff },          { 62, 2, 999 },
	};
	const struct made_kernel made = { "k", 0, 0, NULL, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes file = make_cubin(0x41, 8, EXECUTABLE, FLAGS_8(90), &made, NULL);
		struct fw_binary *binary = NULL;
		struct fw_error err;
		unsigned char *copy;

		set_le(&file, cases[i].at, cases[i].value, cases[i].size);
		assert_int_equal(open_made(&binary, &file, &copy, &err), FW_ERR_FORMAT);
		close_made(binary, copy);
		free_bytes(&file);
	}
}

/* Many section numbers, as a linked library may have, and all of them read. */
static void a_hundred_thousand_sections_are_no_trouble(void **state)
{
	const uint32_t count = 100000;
	struct elf elf;
	struct bytes file, strings = { 0 }, symbols = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;
	uint32_t text, table;
	char name[32];

	(void)state;
	elf_begin(&elf, 0x41, 8, EXECUTABLE, 190, FLAGS_8(80));
	put(&strings, "", 1);
	put(&symbols, (char[24]){ 0 }, 24);
	for (uint32_t i = 0; i < count / 2; i++) {
		snprintf(name, sizeof(name), ".text.k%u", i);
		text = elf_header(&elf, name, 1, 0, 64, 0, 0, (i % 200 + 1) << 24);
		put_le(&symbols, strings.size, 4);
		put_le(&symbols, 0x1012, 2);
		put_le(&symbols, text < 0xff00 ? text : 0xffff, 2);
		put_le(&symbols, 0, 16);
		put(&strings, name + 6, strlen(name + 6) + 1);
		snprintf(name, sizeof(name), ".nv.shared.k%u", i);
		elf_header(&elf, name, 8, 0, 64, i, 0, text);
	}
	table = elf_section(&elf, ".strtab", 3, strings.data, strings.size, 0);
	elf_section(&elf, ".symtab", 2, symbols.data, symbols.size, table);
	/* Section numbers of symbols that do not fit 16 bits. */
	symbols.size = 0;
	put_le(&symbols, 0, 4);
	for (uint32_t i = 0; i < count / 2; i++)
		put_le(&symbols, 1 + 2 * i, 4);
	elf_section(&elf, ".symtab_shndx", 18, symbols.data, symbols.size, 0);
	file = elf_end(&elf);
	binary = read_made(&file, &copy);
	assert_int_equal(binary->problem_count, 0);
	assert_int_equal(binary->kernel_count, count / 2);
	assert_int_equal(binary->kernels[40000].static_smem, 40000);
	assert_int_equal(binary->kernels[40000].registers, 40000 % 200 + 1);
	close_made(binary, copy);
	free_bytes(&strings);
	free_bytes(&symbols);
	free_bytes(&file);
}

/* Sections that all cover the same records would cost their product. */
static void overlapping_sections_end_in_an_error(void **state)
{
	struct bytes info = { 0 }, strings = { 0 }, symbols = { 0 }, file;
	struct fw_binary *binary;
	struct elf elf;
	unsigned char *copy;
	clock_t begin = clock();
	uint64_t offset;
	uint32_t table;

	(void)state;
	elf_begin(&elf, 0x41, 8, EXECUTABLE, 190, FLAGS_8(80));
	for (int i = 0; i < 1 << 18; i++)
		put_record(&info, 0x1b, NULL, 0, 1);
	put(&strings, "\0k", 3);
	table = elf_section(&elf, ".strtab", 3, strings.data, strings.size, 0);
	put(&symbols, (char[24]){ 0 }, 24);
	put_le(&symbols, 1, 4);
	put_le(&symbols, 0x1012, 2);
	put_le(&symbols, 0, 18);
	elf_section(&elf, ".symtab", 2, symbols.data, symbols.size, table);
	offset = elf.file.size;
	put(&elf.file, info.data, info.size);
	for (int i = 0; i < 20000; i++)
		elf_header(&elf, ".nv.info.k", 0x70000000, 0, offset, info.size, 0, 0);
	file = elf_end(&elf);
	binary = read_made(&file, &copy);
	assert_int_equal(binary->kernel_count, 0);
	assert_int_equal(binary->problem_count, 1);
	assert_non_null(strstr(binary->problems[0].message, "overlap"));
	/* 20,000 times a megabyte would take minutes. */
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 20);
	close_made(binary, copy);
	free_bytes(&info);
	free_bytes(&strings);
	free_bytes(&symbols);
	free_bytes(&file);
}

static void two_kernels_of_one_name_are_damage(void **state)
{
	const struct made_kernel made = { "k", 0, 0, NULL, 0 };
	struct bytes file = make_cubin(0x41, 8, EXECUTABLE, FLAGS_8(90), &made, NULL);
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	/* Section 3 is the symbol table; its first symbol becomes a copy of the second. */
	for (size_t at = 64; at + 48 < file.size; at++) {
		if (file.data[at + 24] == 1 && file.data[at + 28] == 0x12 &&
		    file.data[at + 29] == 0x10) {
			memcpy(file.data + at, file.data + at + 24, 24);
			break;
		}
	}
	binary = read_made(&file, &copy);
	assert_int_equal(binary->kernel_count, 0);
	assert_non_null(strstr(binary->problems[0].message, "twice"));
	close_made(binary, copy);
	free_bytes(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(abi_7_keeps_registers_and_barriers_in_the_section_header),
		cmocka_unit_test(abi_7_marks_chip_specific_code_in_the_flags),
		cmocka_unit_test(abi_7_has_no_chip_specific_code_before_9_0),
		cmocka_unit_test(the_record_of_registers_wins),
		cmocka_unit_test(the_drivers_kilobyte_is_taken_off_linked_code_from_9_0_on),
		cmocka_unit_test(records_of_every_form_are_read),
		cmocka_unit_test(damaged_records_make_no_figures),
		cmocka_unit_test(offsets_past_the_end_are_refused),
		cmocka_unit_test(a_hundred_thousand_sections_are_no_trouble),
		cmocka_unit_test(overlapping_sections_end_in_an_error),
		cmocka_unit_test(two_kernels_of_one_name_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
