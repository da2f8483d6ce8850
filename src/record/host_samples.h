#ifndef FW_RECORD_HOST_SAMPLES_H
#define FW_RECORD_HOST_SAMPLES_H
/*
 * host.fwr: the watched program and all below it, their threads, the machine and the container; see
 * host_values.def. The functions begin, tick, paused and end are those of a struct fw_record_sampler.
 */
#include "record/stream.h"

#define FW_RECORD_HOST_TICK_NS INT64_C(10000000)

/* Threads whose context switches are recorded: 12 KiB of locked memory each. */
#define FW_RECORD_SWITCH_THREADS 256

struct fw_record_host;

struct fw_record_host_options {
	const char *path;     /* of the file; an older one is replaced */
	uint64_t max_bytes;   /* 0: no limit */
	unsigned pid;         /* the program */
	unsigned adopter;     /* whose children are watched too; 0: nobody's */
	bool has_no_switches; /* no context switches */
};

fw_status fw_record_host_open(struct fw_record_host **host,
			      const struct fw_record_host_options *options, struct fw_error *err);

/* host is a struct fw_record_host *. begin: false where nothing can be read, which the file says. */
bool fw_record_host_begin(void *host);
void fw_record_host_tick(void *host, int64_t now_mono);
void fw_record_host_paused(void *host, int64_t start_mono, int64_t end_mono);
void fw_record_host_end(void *host);

/* Closes the file. Accepts NULL; state may be NULL. */
void fw_record_host_close(struct fw_record_host *host, struct fw_record_stream_state *state);

#endif
