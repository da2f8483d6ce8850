#include "record/schedule.h"

enum fw_rec_wanted fw_record_schedule_at(const struct fw_record_schedule *schedule,
					 int64_t elapsed_ns, bool is_switched_on, int64_t *until_ns)
{
	int64_t at = elapsed_ns - schedule->delay_ns, end = INT64_MAX, phase, change;

	*until_ns = schedule->delay_ns;
	if (at < 0)
		return FW_REC_WANT_PAUSE;
	if (schedule->duration_ns &&
	    __builtin_add_overflow(schedule->delay_ns, schedule->duration_ns, &end))
		end = INT64_MAX;
	*until_ns = end;
	if (elapsed_ns >= end) {
		*until_ns = INT64_MAX;
		return FW_REC_WANT_STOP;
	}
	if (schedule->by_signal && !is_switched_on)
		return FW_REC_WANT_PAUSE;
	if (!schedule->every_ns)
		return FW_REC_WANT_RECORD;
	phase = at % schedule->every_ns;
	change = (phase < schedule->for_ns ? schedule->for_ns : schedule->every_ns) - phase;
	if (!__builtin_add_overflow(elapsed_ns, change, &change) && change < end)
		*until_ns = change;
	return phase < schedule->for_ns ? FW_REC_WANT_RECORD : FW_REC_WANT_PAUSE;
}
