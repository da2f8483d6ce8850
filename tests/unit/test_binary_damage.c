/*
 * Every sample of the corpus cut at every 64th byte, and with bytes overwritten: a result or an error.
 * The sanitizers decide whether anything else happened.
 */
#include "binary_case.h"

#include "base/file.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#define OUT FW_CORPUS "/occupancy/out"

static size_t results, errors;

/* From a block of exactly size bytes. */
static void open_copy(const unsigned char *data, size_t size, size_t at, unsigned char byte)
{
	struct fw_binary_options options = { .threads = 1 };
	struct fw_error err = { 0 };
	struct fw_binary *binary;
	unsigned char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	if (size)
		memcpy(copy, data, size);
	if (at < size)
		copy[at] = byte;
	if (fw_binary_open_bytes(&binary, copy, size, "cut", &options, &err) == FW_OK) {
		results++;
	} else {
		errors++;
		assert_true(err.message[0] != '\0');
	}
	fw_binary_close(binary);
	free(copy);
}

static bool is_sample(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && dot && strcmp(dot, ".log") != 0;
}

static void cut_everywhere(const struct fw_file *file)
{
	for (size_t size = 0; size < file->size; size += 64)
		open_copy(file->data, size, SIZE_MAX, 0);
}

/* The parts that direct the reading get most: headers at both ends. */
static void overwrite(const struct fw_file *file)
{
	static const unsigned char values[] = { 0x00, 0xff, 0x7f };
	size_t step = file->size / 40 + 1;

	for (size_t at = 0; at < file->size; at += at < 128 ? 3 : step)
		open_copy(file->data, file->size, at, values[at % 3]);
	for (size_t back = 1; back < 1500 && back < file->size; back += 61)
		open_copy(file->data, file->size, file->size - back, values[back % 3]);
}

static void for_each_sample(void (*damage)(const struct fw_file *file))
{
	struct dirent *entry;
	DIR *dir = opendir(OUT);

	assert_non_null(dir);
	results = errors = 0;
	while ((entry = readdir(dir))) {
		struct fw_file file;
		char path[512];

		if (!is_sample(entry->d_name))
			continue;
		snprintf(path, sizeof(path), OUT "/%s", entry->d_name);
		assert_int_equal(fw_file_open(&file, path, NULL), FW_OK);
		damage(&file);
		fw_file_close(&file);
	}
	closedir(dir);
	print_message("%zu results, %zu errors\n", results, errors);
}

static void cut_samples_give_a_result_or_an_error(void **state)
{
	(void)state;
	for_each_sample(cut_everywhere);
	/* 3.2 MB in pieces of 64 bytes. */
	assert_true(results + errors > 49000);
}

static void overwritten_samples_give_a_result_or_an_error(void **state)
{
	(void)state;
	for_each_sample(overwrite);
	assert_true(results > 0 && errors > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_samples_give_a_result_or_an_error),
		cmocka_unit_test(overwritten_samples_give_a_result_or_an_error),
	};

	if (access(OUT, R_OK)) {
		printf("no corpus at " FW_CORPUS "\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
