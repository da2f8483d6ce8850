#ifndef FW_RECORD_COUNTERS_H
#define FW_RECORD_COUNTERS_H
/*
 * counters.fwr: the counters of the GPUs that the program can see and somebody uses. CUPTI's PM sampling
 * where it is permitted, else GPM where the GPU has it; NVML's figures always. The functions begin, tick,
 * paused and end are those of a struct fw_record_sampler.
 */
#include "record/stream.h"
#include "sample/counter_source.h"

/* A reading of PM samples costs 3 ms of CPU time beside the samples': few readings. */
#define FW_RECORD_COUNTERS_TICK_NS INT64_C(250000000)
#define FW_RECORD_PM_NS            INT64_C(2000000)

struct fw_record_counters;

struct fw_record_counters_options {
	const char *path;            /* of the file; an older one is replaced */
	uint64_t max_bytes;          /* 0: no limit */
	int64_t interval_ns;         /* between PM samples; 0: FW_RECORD_PM_NS */
	enum fw_counter_source best; /* FW_COUNTERS_AUTO, or at most so good a source */
	const char *nvml, *cupti;    /* other libraries than the usual ones; NULL */
};

/*
 * Opens the file only; the GPUs are looked for in begin. Takes CUDA_INJECTION64_PATH out of this
 * process's environment, as CUPTI's sampling starts the driver here: call it before there are threads.
 */
fw_status fw_record_counters_open(struct fw_record_counters **counters,
				  const struct fw_record_counters_options *options,
				  struct fw_error *err);

/* counters is a struct fw_record_counters *. begin: false without a driver, which the file then says. */
bool fw_record_counters_begin(void *counters);
void fw_record_counters_tick(void *counters, int64_t now_mono);
void fw_record_counters_paused(void *counters, int64_t start_mono, int64_t end_mono);
void fw_record_counters_end(void *counters);

/* After end: in words why some GPU had a lesser source than PM sampling, or no source; NULL: none had. */
const char *fw_record_counters_why(const struct fw_record_counters *counters);

/* Closes the file. Accepts NULL; state may be NULL. */
void fw_record_counters_close(struct fw_record_counters *counters,
			      struct fw_record_stream_state *state);

#endif
