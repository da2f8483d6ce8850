/* Any bytes after a file's first eight give a sound trace or an error. */
#include "import/import.h"
#include "trace/recording.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_rows(const struct fw_trace *t)
{
	for (uint32_t i = 0; i < t->ops.len; i++) {
		require(t->ops.start_ns[i] <= t->ops.end_ns[i] && t->ops.start_ns[i] >= 0);
		require(fw_op_device(t, i) < t->devices.len);
		require(strlen(fw_trace_text(t, t->ops.name[i])) < SIZE_MAX);
	}
	for (uint32_t i = 0; i < t->calls.len; i++) {
		require(t->calls.start_ns[i] <= t->calls.end_ns[i]);
		require(t->threads.process[t->calls.thread[i]] < t->processes.len);
	}
	for (uint32_t i = 0; i < t->ranges.len; i++)
		require(t->ranges.start_ns[i] <= t->ranges.end_ns[i] &&
			t->ranges.thread[i] < t->threads.len);
	for (uint32_t i = 0; i < t->switches.len; i++)
		require(t->switches.start_ns[i] <= t->switches.end_ns[i] &&
			t->switches.thread[i] < t->threads.len);
	for (uint32_t i = 0; i < t->counters.len; i++)
		require(t->counters.device[i] < t->devices.len);
	for (uint32_t i = 0; i < t->blind_intervals.len; i++)
		require(t->blind_intervals.process[i] < t->processes.len);
	for (uint32_t i = 0; i < t->host_samples.len; i++)
		require(t->host_samples.file[i] < t->files.len);
}

/* Makes the checks of chunks hold, so that the fuzzer gets past them. */
static void mend(uint8_t *bytes, size_t size)
{
	struct fw_rec_file *file = (void *)bytes;
	size_t at = sizeof(*file);

	if (size < at)
		return;
	file->crc = (uint32_t)crc32(0, bytes, offsetof(struct fw_rec_file, crc));
	while (size - at >= sizeof(struct fw_rec_chunk)) {
		struct fw_rec_chunk *h = (void *)(bytes + at);
		uint32_t crc = (uint32_t)crc32(0, bytes + at, offsetof(struct fw_rec_chunk, crc));
		size_t left = size - at - sizeof(*h);

		if (h->magic != FW_REC_CHUNK_MAGIC || h->stored_bytes > left)
			return;
		h->crc = (uint32_t)crc32(crc, bytes + at + sizeof(*h), h->stored_bytes);
		at += sizeof(*h) + ((h->stored_bytes + (size_t)7) & ~(size_t)7);
		if (at > size)
			return;
	}
}

static void import(const uint8_t *data, size_t size)
{
	struct fw_trace *trace = NULL;
	struct fw_error err = { FW_OK, "" };
	fw_status status = fw_import_bytes("fuzz", data, size, NULL, &trace, &err);

	require((status == FW_OK) == (trace != NULL));
	require((status == FW_OK) == (err.message[0] == '\0'));
	if (trace)
		check_rows(trace);
	fw_trace_destroy(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 8 || memcmp(data, FW_REC_MAGIC, 8) != 0)
		return 0;
	import(data, size);
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mend(copy, size);
	import(copy, size);
	free(copy);
	return 0;
}
