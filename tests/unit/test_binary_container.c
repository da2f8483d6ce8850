/* Fatbins and what wraps them, made byte by byte: where they are found, compressed forms, damage. */
#include "binary_case.h"

#include <lz4.h>
#include <zstd.h>

#define FLAGS_8(sm) (0x06000004u | (uint32_t)(sm) << 8)
#define LZ4         0x2000
#define ZSTD        0x8000
#define CHIP        0x100000
#define FAMILY      0x200000

static struct bytes cubin(unsigned sm)
{
	const struct made_kernel made = { "k", sm << 24, 0, NULL, 0 };
	struct bytes b = make_cubin(0x41, 8, 2, FLAGS_8(sm), &made, NULL);

	pad_to_8(&b);
	return b;
}

/* A fatbin with one cubin. */
static struct bytes fatbin(unsigned sm, uint64_t flags)
{
	struct bytes image = cubin(sm), b = { 0 };

	put_fatbin(&b, 64 + image.size);
	put_entry(&b, 2, sm, flags, &image, 0, 0);
	free_bytes(&image);
	return b;
}

static void flags_tell_the_suffix(void **state)
{
	static const uint64_t flags[] = { 0, CHIP, FAMILY };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bytes b = fatbin(100, flags[i]);
		unsigned char *copy;
		struct fw_binary *binary = read_made(&b, &copy);

		assert_int_equal(binary->kernel_count, 1);
		assert_int_equal(binary->kernels[0].target.suffix, "\0af"[i]);
		close_made(binary, copy);
		free_bytes(&b);
	}
}

/* The same bytes stored in each way give the same kernel. */
static void both_compressions_are_read(void **state)
{
	struct bytes image = cubin(80), b = { 0 };
	char packed[4096];
	unsigned char *copy;
	struct fw_binary *binary;
	int n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bytes payload = { 0 };

		n = i ? (int)ZSTD_compress(packed, sizeof(packed), image.data, image.size, 3)
		      : LZ4_compress_default((const char *)image.data, packed, (int)image.size,
					     sizeof(packed));
		put(&payload, packed, (size_t)n);
		pad_to_8(&payload);
		put_fatbin(&b, 64 + payload.size);
		put_entry(&b, 2, 80, i ? ZSTD : LZ4, &payload, (uint32_t)n, image.size);
		free_bytes(&payload);
	}
	binary = read_made(&b, &copy);
	assert_int_equal(binary->image_count, 2);
	assert_true(binary->images[0].is_compressed && binary->images[1].is_compressed);
	assert_int_equal(binary->kernel_count, 1);
	assert_int_equal(binary->kernels[0].copies, 2);
	assert_int_equal(binary->kernels[0].registers, 80);
	close_made(binary, copy);
	free_bytes(&image);
	free_bytes(&b);
}

static void open_one_entry(uint64_t flags, const void *data, size_t size, uint32_t packed,
			   uint64_t unpacked, const char *expected)
{
	struct bytes payload = { 0 }, b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;

	put(&payload, data, size);
	pad_to_8(&payload);
	put_fatbin(&b, 64 + payload.size);
	put_entry(&b, 2, 80, flags, &payload, packed, unpacked);
	binary = read_made(&b, &copy);
	assert_int_equal(binary->kernel_count, 0);
	assert_int_equal(binary->problem_count, 1);
	if (!strstr(binary->problems[0].message, expected))
		fail_msg("'%s' has no '%s'", binary->problems[0].message, expected);
	close_made(binary, copy);
	free_bytes(&payload);
	free_bytes(&b);
}

static void bombs_are_refused(void **state)
{
	static unsigned char zeros[1 << 20];
	char packed[8192];
	size_t n = ZSTD_compress(packed, sizeof(packed), zeros, sizeof(zeros), 3);

	(void)state;
	assert_true(n < 200);
	/* More than is declared, less, and more than any entry may declare. */
	open_one_entry(ZSTD, packed, n, (uint32_t)n, 4096, "zstd");
	open_one_entry(ZSTD, packed, n, (uint32_t)n, sizeof(zeros) * 2, "instead of");
	open_one_entry(ZSTD, packed, n, (uint32_t)n, UINT64_C(1) << 40, "allowed");
	open_one_entry(ZSTD, packed, n, (uint32_t)n, 0, "0 bytes");
	open_one_entry(LZ4, packed, n, (uint32_t)n, 1 << 20, "cannot become");
	open_one_entry(LZ4, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 8, 2000, "LZ4");
	open_one_entry(LZ4, "\x10", 1, 1, 100, "LZ4");
	/* It unpacks to what it declares, which is no cubin. */
	open_one_entry(ZSTD, packed, n, (uint32_t)n, sizeof(zeros), "not an ELF");
}

/* Thousands of small entries may not unpack to more than a multiple of the file. */
static void many_bombs_are_refused_too(void **state)
{
	static unsigned char zeros[4 << 20];
	struct bytes payload = { 0 }, b = { 0 };
	char packed[8192];
	size_t n = ZSTD_compress(packed, sizeof(packed), zeros, sizeof(zeros), 3);
	struct fw_binary *binary;
	unsigned char *copy;
	size_t refused = 0;

	(void)state;
	put(&payload, packed, n);
	pad_to_8(&payload);
	put_fatbin(&b, 400 * (64 + payload.size));
	for (int i = 0; i < 400; i++)
		put_entry(&b, 2, 80, ZSTD, &payload, (uint32_t)n, sizeof(zeros));
	binary = read_made(&b, &copy);
	for (size_t i = 0; i < binary->problem_count; i++)
		refused += strstr(binary->problems[i].message, "plausible") != NULL;
	/* 1 GiB is always allowed: 256 times 4 MiB and a little. */
	assert_in_range(refused, 100, 144);
	close_made(binary, copy);
	free_bytes(&payload);
	free_bytes(&b);
}

static void unknown_kinds_are_counted_not_read(void **state)
{
	struct bytes payload = { 0 }, b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put(&payload, "nothing known here......", 24);
	put_fatbin(&b, 3 * (64 + payload.size));
	put_entry(&b, 8, 90, 0, &payload, 0, 0);
	put_entry(&b, 64, 90, 0, &payload, 0, 0);
	put_entry(&b, 99, 90, 0, &payload, 0, 0);
	binary = read_made(&b, &copy);
	assert_int_equal(binary->kinds[FW_IMAGE_LTO], 1);
	assert_int_equal(binary->kinds[FW_IMAGE_OTHER], 2);
	assert_int_equal(binary->problem_count, 0);
	close_made(binary, copy);
	free_bytes(&payload);
	free_bytes(&b);
}

/* As in cuFFT and cuBLASLt: not in .nv_fatbin, at an odd offset, between chance magic numbers. */
static void every_section_of_a_host_file_is_searched(void **state)
{
	struct bytes inner = fatbin(80, 0), other = fatbin(90, 0), data = { 0 }, file;
	struct fw_binary *binary;
	struct elf elf;
	unsigned char *copy;

	(void)state;
	elf_begin(&elf, 0, 0, 3, 62, 0);
	elf_section(&elf, ".text", 1, "\x50\xed\x55\xba\0\0\0\0\0", 9, 0);
	put(&data, "\x50\xed\x50\xed\x55", 5);
	put(&data, inner.data, inner.size);
	put(&data, "\x50\xed\x55\xba", 4);
	put_le(&data, 0, 40);
	elf_section(&elf, ".cask_resource", 1, data.data, data.size, 0);
	elf_section(&elf, ".nv_fatbin", 1, other.data, other.size, 0);
	file = elf_end(&elf);
	binary = read_made(&file, &copy);
	assert_int_equal(binary->problem_count, 0);
	assert_int_equal(binary->kernel_count, 2);
	assert_string_equal(binary->images[0].source, "made:.cask_resource");
	assert_int_equal(binary->images[0].target.cc, 80);
	/* .text has 9 bytes behind the header of 64; then 5. */
	assert_int_equal(binary->images[0].offset, 64 + 9 + 5);
	assert_string_equal(binary->images[1].source, "made:.nv_fatbin");
	assert_int_equal(binary->images[0].container + 1, binary->images[1].container);
	close_made(binary, copy);
	free_bytes(&inner);
	free_bytes(&other);
	free_bytes(&data);
	free_bytes(&file);
}

/* As in NVIDIA's fatbinary: the header as an operand of an instruction, what follows is code. */
static void a_header_in_code_is_no_damage(void **state)
{
	struct bytes data = { 0 };

	(void)state;
	put_fatbin(&data, UINT64_MAX);
	for (uint64_t flags = 2; flags <= 6; flags += 4) {
		struct elf elf;
		struct bytes file;
		unsigned char *copy;
		struct fw_binary *binary;

		elf_begin(&elf, 0, 0, 3, 62, 0);
		put(&elf.file, data.data, data.size);
		elf_header(&elf, ".x", 1, flags, 64, data.size, 0, 0);
		file = elf_end(&elf);
		binary = read_made(&file, &copy);
		assert_int_equal(binary->image_count, 0);
		/* Flag 4: the section is executable. */
		assert_int_equal(binary->problem_count, flags & 4 ? 0 : 1);
		close_made(binary, copy);
		free_bytes(&file);
	}
	free_bytes(&data);
}

static void overlapping_sections_give_each_container_once(void **state)
{
	struct bytes inner = fatbin(80, 0), file;
	struct fw_binary *binary;
	struct elf elf;
	unsigned char *copy;

	(void)state;
	elf_begin(&elf, 0, 0, 3, 62, 0);
	elf_section(&elf, ".a", 1, inner.data, inner.size, 0);
	for (int i = 0; i < 30000; i++)
		elf_header(&elf, ".b", 1, 0, 64, inner.size, 0, 0);
	elf_header(&elf, ".c", 1, 0, 0, 64 + inner.size, 0, 0);
	elf_header(&elf, ".past", 1, 0, 64, UINT64_MAX - 10, 0, 0);
	file = elf_end(&elf);
	binary = read_made(&file, &copy);
	assert_int_equal(binary->image_count, 1);
	assert_int_equal(binary->problem_count, 1);
	assert_non_null(strstr(binary->problems[0].message, "ends past"));
	close_made(binary, copy);
	free_bytes(&inner);
	free_bytes(&file);
}

static void a_host_file_without_sections_is_searched_whole(void **state)
{
	struct bytes inner = fatbin(80, 0), file;
	struct fw_binary *binary;
	struct elf elf;
	unsigned char *copy;

	(void)state;
	elf_begin(&elf, 0, 0, 3, 62, 0);
	elf_section(&elf, ".nv_fatbin", 1, inner.data, inner.size, 0);
	file = elf_end(&elf);
	set_le(&file, 40, 0, 8);
	set_le(&file, 60, 0, 4);
	binary = read_made(&file, &copy);
	assert_int_equal(binary->kernel_count, 1);
	close_made(binary, copy);
	free_bytes(&inner);
	free_bytes(&file);
}

static void damage_does_not_stop_the_rest(void **state)
{
	struct bytes good = fatbin(80, 0), bad = fatbin(90, 0), b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put(&b, good.data, good.size);
	set_le(&bad, 16 + 8, UINT64_MAX, 8); /* payload of the entry */
	put(&b, bad.data, bad.size);
	free_bytes(&good);
	good = fatbin(75, 0);
	put(&b, good.data, good.size);
	binary = read_made(&b, &copy);
	assert_int_equal(binary->kernel_count, 2);
	assert_int_equal(binary->kernels[1].target.cc, 75);
	assert_int_equal(binary->problem_count, 1);
	close_made(binary, copy);
	free_bytes(&good);
	free_bytes(&bad);
	free_bytes(&b);
}

static void an_entry_for_another_chip_is_damage(void **state)
{
	struct bytes image = cubin(80), b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put_fatbin(&b, 64 + image.size);
	put_entry(&b, 2, 90, 0, &image, 0, 0);
	binary = read_made(&b, &copy);
	assert_int_equal(binary->kernel_count, 0);
	assert_non_null(strstr(binary->problems[0].message, "sm_80"));
	close_made(binary, copy);
	free_bytes(&image);
	free_bytes(&b);
}

static void put_member(struct bytes *b, const char *name, const struct bytes *data)
{
	char header[61];

	snprintf(header, sizeof(header), "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644,
		 data->size);
	put(b, header, 60);
	put(b, data->data, data->size);
	if (data->size & 1)
		put(b, "\n", 1);
}

static void archives_give_their_members(void **state)
{
	struct bytes gpu = fatbin(80, 0), names = { 0 }, text = { 0 }, bsd = { 0 }, b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;

	(void)state;
	put(&names, "a_long_name_of_a_member.o/\n", 27);
	put(&text, "not code", 8);
	put(&bsd, "bsd.o\0\0\0", 8);
	put(&bsd, gpu.data, gpu.size);
	put(&b, "!<arch>\n", 8);
	put_member(&b, "/", &text);
	put_member(&b, "//", &names);
	put_member(&b, "/0", &gpu);
	put_member(&b, "readme/", &text);
	put_member(&b, "#1/8", &bsd);
	put_member(&b, "short.o/", &gpu);
	binary = read_made(&b, &copy);
	assert_int_equal(binary->problem_count, 0);
	assert_int_equal(binary->image_count, 3);
	assert_string_equal(binary->images[0].source, "made:a_long_name_of_a_member.o");
	assert_string_equal(binary->images[1].source, "made:bsd.o");
	assert_string_equal(binary->images[2].source, "made:short.o");
	assert_int_equal(binary->kernels[0].copies, 3);
	close_made(binary, copy);
	/* Cut inside the last member: what came before stays. */
	b.size -= 9;
	binary = read_made(&b, &copy);
	assert_int_equal(binary->image_count, 2);
	assert_int_equal(binary->problem_count, 1);
	close_made(binary, copy);
	free_bytes(&gpu);
	free_bytes(&names);
	free_bytes(&text);
	free_bytes(&bsd);
	free_bytes(&b);
}

static void what_is_not_read_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *expected;
		size_t size;
	} cases[] = {
		{ "!<thin>\n", "thin archive", 8 },
		{ "hello", "not a cubin", 5 },
		{ "", "not a cubin", 0 },
		{ "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		  "\0\0\0"
		  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		  "64-bit", 64 },
		{ "\177ELF", "cut off", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b = { 0 };
		struct fw_binary *binary = NULL;
		struct fw_error err = { 0 };
		unsigned char *copy;

		put(&b, cases[i].text, cases[i].size);
		assert_int_not_equal(open_made(&binary, &b, &copy, &err), FW_OK);
		if (!strstr(err.message, cases[i].expected))
			fail_msg("'%s' has no '%s'", err.message, cases[i].expected);
		close_made(binary, copy);
		free_bytes(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_tell_the_suffix),
		cmocka_unit_test(both_compressions_are_read),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(many_bombs_are_refused_too),
		cmocka_unit_test(unknown_kinds_are_counted_not_read),
		cmocka_unit_test(every_section_of_a_host_file_is_searched),
		cmocka_unit_test(a_header_in_code_is_no_damage),
		cmocka_unit_test(overlapping_sections_give_each_container_once),
		cmocka_unit_test(a_host_file_without_sections_is_searched_whole),
		cmocka_unit_test(damage_does_not_stop_the_rest),
		cmocka_unit_test(an_entry_for_another_chip_is_damage),
		cmocka_unit_test(archives_give_their_members),
		cmocka_unit_test(what_is_not_read_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
