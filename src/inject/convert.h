#ifndef FW_INJECT_CONVERT_H
#define FW_INJECT_CONVERT_H
/* CUPTI's records -> the recording's. The writer thread's. */
#include "inject/calls.h"
#include "inject/names.h"

#include <regex.h>

#define FW_CONVERT_CONTEXTS 64u
#define FW_CONVERT_THREADS  1024u
#define FW_CONVERT_DEVICES  64u

struct fw_convert {
	struct fw_sink *sink;
	struct fw_names *names;
	uint32_t version; /* of CUPTI */
	bool has_regex;
	regex_t regex; /* --kernels */
	uint32_t empty_name;
	uint32_t call_names
		[2][FW_CALLS_CBIDS]; /* by domain; 0: not yet asked for, UINT32_MAX: left out */
	uint32_t contexts[FW_CONVERT_CONTEXTS], context_devices[FW_CONVERT_CONTEXTS];
	uint32_t context_count;
	uint32_t threads[FW_CONVERT_THREADS]; /* open addressing, tids whose names are written */
	uint32_t thread_count;
	uint64_t devices;       /* bits: a device record was written */
	uint64_t devices_seen;  /* bits: a record names it */
	uint64_t without_times; /* operations whose times CUPTI did not give */
	uint64_t probes;        /* records of FW_CALLS_PROBE */
	uint64_t others;        /* records of kinds that we did not ask for */
};

/* Begins a file. kernels: a POSIX regular expression, or "". False: it is not one (all are then named). */
bool fw_convert_open(struct fw_convert *convert, struct fw_sink *sink, struct fw_names *names,
		     uint32_t version, const char *kernels);
void fw_convert_close(struct fw_convert *convert);

/* One record; `bytes`: how many may be read from it on, at most to the end of the buffer. */
void fw_convert_record(struct fw_convert *convert, const void *record, size_t bytes);

/* A thread record for tid, once. */
void fw_convert_thread(struct fw_convert *convert, uint32_t tid);

/* A thread record with the name that the program gave it. */
void fw_convert_named_thread(struct fw_convert *convert, uint32_t tid, const char *name);

#endif
