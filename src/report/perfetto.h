#ifndef FW_REPORT_PERFETTO_H
#define FW_REPORT_PERFETTO_H
/* The writer of trace-event JSON in parts: processes of the host, GPUs. */
#include "base/json_writer.h"
#include "report/lanes.h"
#include "report/report.h"

/* Numbers of processes in the output: the host's from 1 on, the GPUs' from here. */
#define FW_PERFETTO_GPU 1000000u

enum fw_thread_track { FW_TRACK_RANGES, FW_TRACK_CALLS, FW_TRACK_OFF_CPU, FW_TRACKS_OF_THREAD };

struct fw_perfetto {
	const struct fw_report *report;
	const struct fw_trace *trace;
	struct fw_json json;
	uint32_t *call_tids; /* by call: where its slice is; 0: nowhere */
	uint64_t misplaced;
	bool failed; /* memory ran out */
};

/* A track of the output. */
struct fw_place {
	uint32_t pid, tid;
};

/* An event of a phase, open for its members; ended, on a line of its own. */
void fw_perfetto_begin(struct fw_perfetto *w, const char *phase, struct fw_place at,
		       const char *name);
void fw_perfetto_end(struct fw_perfetto *w);

/* A slice, open for its "args". */
void fw_perfetto_slice(struct fw_perfetto *w, struct fw_place at, const char *name,
		       int64_t start_ns, int64_t end_ns);

/* A time in microseconds, to the nanosecond. */
void fw_perfetto_time(struct fw_perfetto *w, const char *key, int64_t ns);

/*
 * A sample on a counter track of a process. The viewer drops what lies before the trace's start, and
 * such samples are left out.
 */
void fw_perfetto_sample(struct fw_perfetto *w, uint32_t pid, const char *name, int64_t ns,
			double value);

/* Names a process, or the lanes of a track, and puts them in order. */
void fw_perfetto_name_process(struct fw_perfetto *w, uint32_t pid, const char *name);
void fw_perfetto_name_lanes(struct fw_perfetto *w, struct fw_place first,
			    const struct fw_lanes *lanes, const char *name);

/* Takes over what the lanes count, and empties them. */
void fw_perfetto_close_lanes(struct fw_perfetto *w, struct fw_lanes *lanes);

/* The processes: calls and ranges of every thread. Fills call_tids. */
void fw_perfetto_host(struct fw_perfetto *w);

/* The GPUs: why each was idle, its streams, its counters. */
void fw_perfetto_gpus(struct fw_perfetto *w);

#endif
