/* Files, folders and wheels on disk: what is walked, what is read once, what is refused. */
#include "binary_case.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PTX ".version 9.0\n.target sm_80\n.address_size 64\n.entry %s(){ ret; }\n"

static char folder[64];

static char *in_folder(const char *name)
{
	static char path[4][256];
	static unsigned n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", folder, name);
	return path[n];
}

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(in_folder(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void write_ptx(const char *name, const char *kernel)
{
	char text[256];

	write_file(name, text, (size_t)snprintf(text, sizeof(text), PTX, kernel));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "%s", "/tmp/fullwarp-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct fw_binary *open_path(const char *path)
{
	struct fw_binary *binary = NULL;
	struct fw_error err = { 0 };

	if (fw_binary_open(&binary, &path, 1, NULL, &err))
		fail_msg("%s", err.message);
	return binary;
}

static void folders_are_walked_in_the_order_of_names(void **state)
{
	struct fw_binary *binary;

	(void)state;
	assert_int_equal(mkdir(in_folder("b"), 0700) | mkdir(in_folder("b/deep"), 0700), 0);
	write_ptx("c.ptx", "third");
	write_ptx("b/deep/x.ptx", "second");
	write_ptx("a.ptx", "first");
	write_file("notes.txt", "nothing here", 12);
	write_file("empty", "", 0);
	binary = open_path(folder);
	assert_int_equal(binary->kernel_count, 3);
	assert_string_equal(binary->kernels[0].name, "first");
	assert_string_equal(binary->kernels[1].name, "second");
	assert_string_equal(binary->kernels[2].name, "third");
	assert_string_equal(binary->images[1].source, in_folder("b/deep/x.ptx"));
	assert_int_equal(binary->files, 3);
	assert_int_equal(binary->files_skipped, 2);
	assert_int_equal(binary->problem_count, 0);
	fw_binary_close(binary);
}

static void links_are_followed_once_and_loops_end(void **state)
{
	const char *paths[3];
	struct fw_binary *binary;
	struct fw_error err;

	(void)state;
	assert_int_equal(mkdir(in_folder("d"), 0700), 0);
	write_ptx("d/lib.so.1", "k");
	assert_int_equal(symlink("lib.so.1", in_folder("d/lib.so")), 0);
	assert_int_equal(link(in_folder("d/lib.so.1"), in_folder("d/hard")), 0);
	assert_int_equal(symlink("..", in_folder("d/up")), 0);
	assert_int_equal(symlink("self", in_folder("d/self")), 0);
	assert_int_equal(symlink("/nonexistent/x", in_folder("d/dangling")), 0);
	assert_int_equal(mkfifo(in_folder("d/pipe"), 0600), 0);
	binary = open_path(folder);
	assert_int_equal(binary->instances, 1);
	fw_binary_close(binary);
	paths[0] = in_folder("d/lib.so");
	paths[1] = in_folder("d/lib.so.1");
	paths[2] = folder;
	assert_int_equal(fw_binary_open(&binary, paths, 3, NULL, &err), FW_OK);
	assert_int_equal(binary->instances, 1);
	assert_string_equal(binary->images[0].source, paths[0]);
	fw_binary_close(binary);
}

static void paths_that_cannot_be_read_fail(void **state)
{
	static const struct {
		const char *name;
		fw_status status;
	} cases[] = {
		{ "missing", FW_ERR_IO },
		{ "text", FW_ERR_UNSUPPORTED },
		{ "pipe", FW_ERR_UNSUPPORTED },
		{ "thin.a", FW_ERR_UNSUPPORTED },
	};

	(void)state;
	write_file("text", "hello", 5);
	write_file("thin.a", "!<thin>\n", 8);
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = in_folder(cases[i].name);
		struct fw_binary *binary;
		struct fw_error err = { 0 };

		assert_int_equal(fw_binary_open(&binary, &path, 1, NULL, &err), cases[i].status);
		assert_null(binary);
		assert_ptr_equal(strstr(err.message, path), err.message);
		assert_null(strstr(err.message + 1, path));
	}
}

/* A member of a zip archive under construction. */
struct zip {
	struct bytes file, directory;
	unsigned count;
};

static void zip_add(struct zip *zip, const char *name, const void *data, size_t size, bool deflated)
{
	unsigned char packed[4096];
	z_stream stream = { 0 };
	size_t n = size, at = zip->file.size;
	uint32_t crc = (uint32_t)crc32(0, data, (unsigned)size);
	const void *stored = data;

	if (deflated) {
		assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY),
				 Z_OK);
		stream.next_in = (unsigned char *)(uintptr_t)data;
		stream.avail_in = (unsigned)size;
		stream.next_out = packed;
		stream.avail_out = sizeof(packed);
		assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
		n = sizeof(packed) - stream.avail_out;
		deflateEnd(&stream);
		stored = packed;
	}
	for (int i = 0; i < 2; i++) {
		struct bytes *b = i ? &zip->directory : &zip->file;

		put(b, i ? "PK\1\2\24\0" : "PK\3\4", i ? 6 : 4);
		put_le(b, 20, 2);
		put_le(b, 0, 2);
		put_le(b, deflated ? 8 : 0, 2);
		put_le(b, 0, 4);
		put_le(b, crc, 4);
		put_le(b, n, 4);
		put_le(b, size, 4);
		put_le(b, strlen(name), 2);
		put_le(b, 0, 2);
		if (i) {
			put_le(b, 0, 10);
			put_le(b, at, 4);
		}
		put(b, name, strlen(name));
	}
	put(&zip->file, stored, n);
	zip->count++;
}

static void zip_end(struct zip *zip, const char *name)
{
	size_t at = zip->file.size;

	put(&zip->file, zip->directory.data, zip->directory.size);
	put(&zip->file, "PK\5\6\0\0\0\0", 8);
	put_le(&zip->file, zip->count, 2);
	put_le(&zip->file, zip->count, 2);
	put_le(&zip->file, zip->directory.size, 4);
	put_le(&zip->file, at, 4);
	put_le(&zip->file, 0, 2);
	write_file(name, zip->file.data, zip->file.size);
	free_bytes(&zip->file);
	free_bytes(&zip->directory);
}

static struct bytes cubin(const char *name, unsigned sm)
{
	const struct made_kernel made = { name, sm << 24, 0, NULL, 0 };
	struct bytes image = make_cubin(0x41, 8, 2, 0x06000004u | sm << 8, &made, NULL);

	return image;
}

static void wheels_give_their_libraries(void **state)
{
	struct bytes a = cubin("deflated", 80), b = cubin("stored", 75);
	struct fw_binary *binary;
	struct zip zip = { 0 };

	(void)state;
	zip_add(&zip, "pkg/", "", 0, false);
	zip_add(&zip, "pkg/a.so", a.data, a.size, true);
	zip_add(&zip, "pkg/readme.txt", "text text text text", 19, true);
	zip_add(&zip, "pkg/b.so", b.data, b.size, false);
	zip_end(&zip, "x.whl");
	binary = open_path(folder);
	assert_int_equal(binary->problem_count, 0);
	assert_int_equal(binary->kernel_count, 2);
	assert_string_equal(binary->kernels[0].name, "deflated");
	assert_int_equal(binary->kernels[0].registers, 80);
	assert_string_equal(binary->images[0].source, in_folder("x.whl:pkg/a.so"));
	assert_string_equal(binary->kernels[1].name, "stored");
	assert_int_equal(binary->files_skipped, 1);
	fw_binary_close(binary);
	free_bytes(&a);
	free_bytes(&b);
}

/* One member is damaged in one way; the other is still read. */
static void damaged_members_do_not_stop_the_rest(void **state)
{
	/* Offsets in a directory entry: method, checksum, packed, unpacked, flags, local header. */
	static const struct {
		size_t at, size;
		uint64_t value;
		const char *expected;
	} cases[] = {
		{ 10, 2, 12, "method 12" },         { 16, 4, 1, "checksum" },
		{ 20, 4, 0x7fffffff, "ends past" }, { 24, 4, 100, "damaged after" },
		{ 24, 4, 100000, "instead of" },    { 24, 4, 0x7fffffff, "cannot become" },
		{ 8, 2, 1, "encrypted" },           { 42, 4, 3, "no member header" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes a = cubin("first", 80), b = cubin("second", 75);
		struct fw_binary *binary;
		struct zip zip = { 0 };

		zip_add(&zip, "a.so", a.data, a.size, true);
		zip_add(&zip, "b.so", b.data, b.size, false);
		set_le(&zip.directory, cases[i].at, cases[i].value, cases[i].size);
		zip_end(&zip, "x.whl");
		binary = open_path(in_folder("x.whl"));
		assert_int_equal(binary->kernel_count, 1);
		assert_string_equal(binary->kernels[0].name, "second");
		assert_int_equal(binary->problem_count, 1);
		if (!strstr(binary->problems[0].message, cases[i].expected))
			fail_msg("'%s' has no '%s'", binary->problems[0].message,
				 cases[i].expected);
		fw_binary_close(binary);
		free_bytes(&a);
		free_bytes(&b);
	}
}

static void a_cut_wheel_is_refused(void **state)
{
	const char *path = in_folder("x.whl");
	struct fw_binary *binary;
	struct fw_error err;

	(void)state;
	write_file("x.whl", "PK\3\4 and then nothing more at all", 30);
	assert_int_equal(fw_binary_open(&binary, &path, 1, NULL, &err), FW_ERR_FORMAT);
	assert_non_null(strstr(err.message, "end record"));
}

/* Many files over several threads: the same result every time. */
static void threads_do_not_change_the_result(void **state)
{
	struct fw_binary *one, *many;
	const char *path = folder;
	struct fw_error err;

	(void)state;
	for (int i = 0; i < 60; i++) {
		char name[16];
		struct bytes b = cubin(i % 3 ? "same" : "other", 70 + (unsigned)(i % 7));

		snprintf(name, sizeof(name), "%02d.cubin", i);
		write_file(name, b.data, b.size);
		free_bytes(&b);
	}
	assert_int_equal(
		fw_binary_open(&one, &path, 1, &(struct fw_binary_options){ .threads = 1 }, &err),
		FW_OK);
	assert_int_equal(
		fw_binary_open(&many, &path, 1, &(struct fw_binary_options){ .threads = 8 }, &err),
		FW_OK);
	assert_int_equal(one->image_count, 60);
	/* Two names for each of seven chips, all of which occur. */
	assert_int_equal(one->kernel_count, 14);
	assert_int_equal(many->kernel_count, one->kernel_count);
	for (size_t i = 0; i < one->kernel_count; i++) {
		assert_string_equal(one->kernels[i].name, many->kernels[i].name);
		assert_int_equal(one->kernels[i].target.cc, many->kernels[i].target.cc);
		assert_int_equal(one->kernels[i].copies, many->kernels[i].copies);
		assert_int_equal(one->kernels[i].image, many->kernels[i].image);
	}
	assert_memory_equal(one->kernel_of_image, many->kernel_of_image,
			    one->instances * sizeof(uint32_t));
	fw_binary_close(one);
	fw_binary_close(many);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(folders_are_walked_in_the_order_of_names),
		IN_FOLDER(links_are_followed_once_and_loops_end),
		IN_FOLDER(paths_that_cannot_be_read_fail),
		IN_FOLDER(wheels_give_their_libraries),
		IN_FOLDER(damaged_members_do_not_stop_the_rest),
		IN_FOLDER(a_cut_wheel_is_refused),
		IN_FOLDER(threads_do_not_change_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
