/* Reads traces and says how long that took: one line of JSON each, for bench/import/run.py. */
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int read_one(const char *path, const struct fw_import_options *options)
{
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	struct fw_error err = { FW_OK, "" };
	struct fw_trace *trace;

	if (fw_import_file(path, options, &trace, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"operations\": %zu, \"calls\": %zu, "
	       "\"ranges\": %zu}\n",
	       now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, trace->ops.len,
	       trace->calls.len, trace->ranges.len);
	fw_trace_destroy(trace);
	return 0;
}

int main(int argc, char **argv)
{
	struct fw_import_options options = { 0 };
	int bad = 0, first = 1;

	if (argc > 2 && !strcmp(argv[1], "--max-memory")) {
		options.max_memory_bytes = strtoull(argv[2], NULL, 10);
		first = 3;
	}
	if (first >= argc) {
		fprintf(stderr, "usage: read_trace [--max-memory BYTES] TRACE...\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		bad |= read_one(argv[i], &options);
	return bad;
}
