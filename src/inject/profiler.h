#ifndef FW_INJECT_PROFILER_H
#define FW_INJECT_PROFILER_H
/*
 * The program's own use of CUPTI. Its calls come through wrappers (hooks.h), which first have the writer
 * thread give CUPTI up; here stands what it has switched on since, and so when it has done with it.
 */
#include "gpu/cupti.h"

#include <stdbool.h>
#include <stdint.h>

/* What it may have set before the wrappers were there. */
struct fw_profiler_before {
	bool has_callbacks; /* whose functions we do not know: CUPTI stays the program's until cuptiFinalize */
	bool has_subscriber;
	int thread_ids;
};

/* Before CUPTI is used, and before anything below; `bell` is a futex that the writer thread waits on. */
void fw_profiler_open(struct fw_profiler_before before, _Atomic uint32_t *bell);

/* From now on the program's calls are seen, as far as that is possible. */
void fw_profiler_watch(const struct fw_cupti *cupti);

/* From now on its calls go straight to CUPTI. In a child after fork as well. */
void fw_profiler_close(void);

/* The writer thread's side: whether the program needs CUPTI now, or did a moment ago. */
bool fw_profiler_is_at_work(int64_t now_mono);

/* The shim says that the profiler has ended which had begun before its calls were seen. */
void fw_profiler_end_early(void);

/* A call of the program's waits until CUPTI is given up. */
bool fw_profiler_is_waiting(void);
void fw_profiler_grant(void);

/* Before the recording takes CUPTI again. False: the program was faster. */
bool fw_profiler_take_back(void);

/* Whether its callbacks may see our calls of the driver. */
bool fw_profiler_has_subscriber(void);

/* Whether it has switched this on, or one of the calls where it is a kind of calls. */
bool fw_profiler_has_kind(int kind);

/* What CUPTI has once for a process, as the program has set it. */
struct fw_profiler_own {
	bool is_known; /* its calls were seen; else all this is what CUPTI begins with */
	fw_cupti_buffer_request *request; /* NULL: none, or not known */
	fw_cupti_buffer_complete *complete;
	fw_cupti_timestamp *clock; /* NULL: CUPTI's own */
	bool had_clock;            /* also before cuptiFinalize */
	int thread_ids;
	bool all_syncs;
	uint32_t period_ms;
};
struct fw_profiler_own fw_profiler_own(void);

/* CUPTI's only subscriber is ours: it is given up when the program wants to be that. */
void fw_profiler_lend_subscriber(void *subscriber);

/* Whether that has happened, once. */
bool fw_profiler_took_subscriber(void);

#endif
