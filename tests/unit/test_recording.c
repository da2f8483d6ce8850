/*
 * Files of a recording, written by tests/python/make_recording.py, whole and damaged. Of process.fwr:
 * chunk 0 has names, device and clock, chunks 1 to 4 one call and one kernel each, chunk 5 the end.
 */
#include "import/import.h"
#include "trace/recording.h"
#include "trace/recording_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CORPUS  FW_SOURCE "/tests/fuzz/corpus/recording/"
#define KERNELS 4
#define CHUNKS  6

struct bytes {
	unsigned char *data;
	size_t size;
	size_t chunk[CHUNKS + 1]; /* where each begins; the end of the file */
};

static struct bytes load(const char *path)
{
	struct bytes b = { 0 };
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	b.data = malloc(1 << 16);
	assert_non_null(b.data);
	b.size = fread(b.data, 1, 1 << 16, f);
	fclose(f);
	return b;
}

static struct bytes load_process(void)
{
	struct bytes b = load(CORPUS "process.fwr");
	size_t at = sizeof(struct fw_rec_file);

	for (int i = 0; i < CHUNKS; i++) {
		struct fw_rec_chunk h;

		b.chunk[i] = at;
		memcpy(&h, b.data + at, sizeof(h));
		assert_int_equal(h.magic, FW_REC_CHUNK_MAGIC);
		at += sizeof(h) + ((h.stored_bytes + 7) & ~7u);
	}
	b.chunk[CHUNKS] = at;
	assert_int_equal(at, b.size);
	return b;
}

static struct fw_trace *read_bytes(const void *bytes, size_t size)
{
	struct fw_trace *trace = NULL;
	struct fw_error err = { 0 };
	/* A copy of exactly that size, so that the address sanitizer sees any read past it. */
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	if (fw_import_bytes("test", copy, size, NULL, &trace, &err))
		assert_true(err.message[0]);
	free(copy);
	return trace;
}

static void reads_a_whole_file(void **state)
{
	struct bytes b = load_process();
	struct fw_trace *t = read_bytes(b.data, b.size);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->source, FW_SOURCE_RECORDING);
	assert_int_equal(t->ops.len, KERNELS);
	assert_int_equal(t->calls.len, KERNELS);
	/* Call at 0, kernel 7 us later; the fourth 300 us later, and 43 us + 3 ns long. */
	assert_int_equal(t->calls.start_ns[0], 0);
	assert_int_equal(t->ops.start_ns[0], 7000);
	assert_int_equal(t->ops.end_ns[3], 350003);
	assert_string_equal(fw_trace_text(t, t->ops.name[0]), "kernel");
	assert_int_equal(t->shapes.grid_x[t->ops.detail[0]], 264);
	assert_string_equal(fw_trace_text(t, t->files.host[0]), "host text");
	assert_string_equal(fw_trace_text(t, t->devices.uuid[0]),
			    "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
	/* 1700000000 s, the first record being the clock's zero. */
	assert_int_equal(t->epoch_ns, INT64_C(1700000000000000000));
	/* Readings 200 ns apart. */
	assert_int_equal(t->files.clock_error_ns[0], 100);
	assert_int_equal(t->integrity.first_flaw_offset, UINT64_MAX);
	fw_trace_destroy(t);
	free(b.data);
}

static void keeps_whole_chunks_of_a_cut_file(void **state)
{
	struct bytes b = load_process();

	(void)state;
	for (size_t size = 0; size < b.size; size++) {
		struct fw_trace *t = read_bytes(b.data, size);
		int whole = 0;

		while (whole < CHUNKS && b.chunk[whole + 1] <= size)
			whole++;
		assert_true((t != NULL) == (size >= sizeof(struct fw_rec_file)));
		if (!t)
			continue;
		assert_int_equal(t->ops.len, !whole ? 0 : whole - 1 < KERNELS ? whole - 1 : 4);
		assert_int_equal(t->integrity.truncated, size != b.chunk[whole]);
		assert_int_equal(t->integrity.unended, 1);
		assert_int_equal(t->integrity.damaged_chunks, 0);
		fw_trace_destroy(t);
	}
	free(b.data);
}

static void check_flip(struct bytes *b, size_t at)
{
	struct fw_trace *t = read_bytes(b->data, b->size);
	int chunk = 0;

	if (at < sizeof(struct fw_rec_file)) {
		assert_null(t);
		return;
	}
	while (b->chunk[chunk + 1] <= at)
		chunk++;
	assert_non_null(t);
	assert_int_equal(t->ops.len, chunk >= 1 && chunk <= 4 ? KERNELS - 1 : KERNELS);
	assert_int_equal(t->integrity.damaged_chunks + t->integrity.truncated, 1);
	assert_int_equal(t->integrity.first_flaw_offset, b->chunk[chunk]);
	fw_trace_destroy(t);
}

static void skips_only_the_damaged_chunk(void **state)
{
	struct bytes b = load_process();

	(void)state;
	for (size_t i = 0; i < b.size; i++) {
		b.data[i] ^= 0xff;
		check_flip(&b, i);
		b.data[i] ^= 0xfe;
		check_flip(&b, i);
		b.data[i] ^= 0x01;
	}
	free(b.data);
}

static void survives_damage_of_any_record(void **state)
{
	struct bytes b = load(CORPUS "every.fwr");

	(void)state;
	for (size_t i = 0; i < b.size; i++) {
		b.data[i] ^= 0xff;
		fw_trace_destroy(read_bytes(b.data, b.size));
		b.data[i] ^= 0xff;
		fw_trace_destroy(read_bytes(b.data, i));
	}
	free(b.data);
}

static void counts_missing_chunks(void **state)
{
	struct bytes b = load_process();
	size_t from = b.chunk[2], to = b.chunk[4];
	struct fw_trace *t;

	(void)state;
	memmove(b.data + from, b.data + to, b.size - to);
	t = read_bytes(b.data, b.size - (to - from));
	assert_non_null(t);
	assert_int_equal(t->ops.len, KERNELS - 2);
	assert_int_equal(t->integrity.missing_chunks, 2);
	assert_int_equal(t->integrity.damaged_chunks, 0);
	fw_trace_destroy(t);
	free(b.data);
}

static void pairs_waits_graphs_and_allocations(void **state)
{
	struct bytes b = load(CORPUS "every.fwr");
	struct fw_trace *t = read_bytes(b.data, b.size);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->ops.len, 4);
	/* Of a kernel that was not selected only the time is known. */
	assert_int_equal(t->ops.detail[3], FW_NONE);
	assert_string_equal(fw_trace_text(t, t->ops.name[3]), "(not selected)");
	assert_int_equal(t->devices.len, 1);
	assert_int_equal(t->events.stream[1], FW_NONE);
	assert_int_equal(t->syncs.wait_corr[0], 4);
	assert_string_equal(fw_trace_text(t, t->calls.graph[0]), "9");
	assert_int_equal(t->allocations.bytes[0], 100);
	assert_int_equal(t->allocations.thread[0], FW_NONE);
	assert_int_equal(t->allocations.total_bytes[0], -1);
	assert_int_equal(t->allocations.memory[0], FW_MEM_DEVICE);
	assert_int_equal(t->streams.priority[0], -1);
	assert_int_equal(t->streams.flags[0], FW_STREAM_NON_BLOCKING);
	assert_string_equal(fw_trace_text(t, t->ops.name[0]), "Memcpy HtoD (Pageable -> Device)");
	assert_string_equal(fw_trace_text(t, t->ops.name[1]), "Memset (Device)");
	assert_int_equal(t->blind_intervals.len, 1);
	assert_int_equal(t->integrity.dropped_records, 3);
	assert_int_equal(t->integrity.unknown_records, 1);
	assert_int_equal(t->integrity.control_characters, 1);
	assert_int_equal(t->integrity.invalid_utf8, 1);
	fw_trace_destroy(t);
	free(b.data);
}

/* A copy of a file in a folder of its own. */
static void copy_to(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->size, f), b->size);
	assert_int_equal(fclose(f), 0);
}

static void packs_without_loss(void **state)
{
	char folder[] = "/tmp/fw-pack-XXXXXX", path[64], beside[80];
	struct bytes b = load_process(), packed;
	struct fw_recording_packed sizes;
	struct fw_trace *before, *after;
	struct stat info;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/process-1-0.fwr", folder);
	snprintf(beside, sizeof(beside), "%s.packing", path);
	copy_to(path, &b);
	assert_int_equal(fw_recording_pack(path, &sizes, NULL), FW_OK);
	packed = load(path);
	assert_int_equal(sizes.before, b.size);
	assert_int_equal(sizes.after, packed.size);
	assert_true(packed.size < b.size);
	assert_int_equal(stat(beside, &info), -1);
	before = read_bytes(b.data, b.size);
	after = read_bytes(packed.data, packed.size);
	assert_non_null(after);
	assert_int_equal(after->ops.len, before->ops.len);
	assert_memory_equal(after->ops.start_ns, before->ops.start_ns, KERNELS * sizeof(int64_t));
	assert_memory_equal(&after->integrity, &before->integrity, sizeof(after->integrity));
	fw_trace_destroy(before);
	fw_trace_destroy(after);
	free(packed.data);
	free(b.data);
	unlink(path);
	rmdir(folder);
}

static void packs_what_a_killed_program_left(void **state)
{
	char folder[] = "/tmp/fw-pack-XXXXXX", path[64];
	struct bytes b = load_process(), packed;
	struct fw_trace *t;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/process-1-0.fwr", folder);
	b.size = b.chunk[4] + 50; /* three kernels, and the beginning of the fourth's chunk */
	copy_to(path, &b);
	assert_int_equal(fw_recording_pack(path, NULL, NULL), FW_OK);
	packed = load(path);
	t = read_bytes(packed.data, packed.size);
	assert_non_null(t);
	assert_int_equal(t->ops.len, KERNELS - 1);
	assert_int_equal(t->integrity.truncated, 0);
	assert_int_equal(t->integrity.unended, 1);
	fw_trace_destroy(t);
	free(packed.data);
	free(b.data);
	unlink(path);
	rmdir(folder);
}

static void leaves_what_it_cannot_pack(void **state)
{
	char folder[] = "/tmp/fw-pack-XXXXXX", path[64], beside[80];
	struct bytes b = load_process(), left;
	struct fw_error err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/process-1-0.fwr", folder);
	snprintf(beside, sizeof(beside), "%s.packing", path);
	b.data[b.chunk[2] + 40] ^= 1;
	copy_to(path, &b);
	assert_int_equal(fw_recording_pack(path, NULL, &err), FW_ERR_FORMAT);
	assert_non_null(strstr(err.message, "damaged near byte"));
	left = load(path);
	assert_int_equal(left.size, b.size);
	assert_memory_equal(left.data, b.data, b.size);
	assert_int_equal(rmdir(folder), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	free(left.data);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_whole_file),
		cmocka_unit_test(keeps_whole_chunks_of_a_cut_file),
		cmocka_unit_test(skips_only_the_damaged_chunk),
		cmocka_unit_test(survives_damage_of_any_record),
		cmocka_unit_test(counts_missing_chunks),
		cmocka_unit_test(pairs_waits_graphs_and_allocations),
		cmocka_unit_test(packs_without_loss),
		cmocka_unit_test(packs_what_a_killed_program_left),
		cmocka_unit_test(leaves_what_it_cannot_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
