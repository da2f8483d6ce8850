/*
 * Any bytes give a sound trace or an error, and the same whatever the size of the window that slides
 * along them.
 */
#include "import/import.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
}

static struct fw_trace *import(const uint8_t *data, size_t size, size_t window_bytes)
{
	struct fw_import_options options = { .window_bytes = window_bytes };
	struct fw_trace *trace = NULL;
	struct fw_error err = { FW_OK, "" };
	fw_status status = fw_import_bytes("fuzz", data, size, &options, &trace, &err);

	require((status == FW_OK) == (trace != NULL));
	require((status == FW_OK) == (err.message[0] == '\0'));
	return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_trace *whole = import(data, size, 0), *pieces = import(data, size, 48);

	require(!whole == !pieces);
	if (whole) {
		check_rows(whole);
		require(whole->ops.len == pieces->ops.len);
		require(whole->calls.len == pieces->calls.len);
		require(whole->ranges.len == pieces->ranges.len);
		require(!memcmp(&whole->integrity, &pieces->integrity, sizeof(whole->integrity)));
	}
	fw_trace_destroy(whole);
	fw_trace_destroy(pieces);
	return 0;
}
