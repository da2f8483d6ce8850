#ifndef FW_RECORD_SCHEDULE_H
#define FW_RECORD_SCHEDULE_H
/* When a recording runs: a pure function of the time since the program started. */
#include "trace/recording_control.h"

#include <stdbool.h>

/* Zeros: always. */
struct fw_record_schedule {
	int64_t delay_ns;
	int64_t duration_ns;      /* after the delay; 0: without end */
	int64_t every_ns, for_ns; /* the first for_ns of each every_ns; 0: all of it */
	bool by_signal;           /* only between a signal and the next one */
};

/*
 * What is wanted after elapsed_ns; is_switched_on: by the signal. *until_ns: the time up to which that
 * stays so, INT64_MAX: for good.
 */
enum fw_rec_wanted fw_record_schedule_at(const struct fw_record_schedule *schedule,
					 int64_t elapsed_ns, bool is_switched_on,
					 int64_t *until_ns);

#endif
