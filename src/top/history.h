#ifndef FW_TOP_HISTORY_H
#define FW_TOP_HISTORY_H
/* The last values of a figure, for a line of little bars. Bounded; one thread; initialise with {0}. */
#include "sample/values.h"

#define FW_HISTORY_POINTS 160

struct fw_history {
	float points[FW_HISTORY_POINTS]; /* unknown: not a number */
	unsigned len, next;
};

void fw_history_add(struct fw_history *history, struct fw_value value);

/* The point `back` before the newest; not a number where there is none. */
float fw_history_at(const struct fw_history *history, unsigned back);

/* The largest known point, 0 if none is known. */
float fw_history_max(const struct fw_history *history);

#endif
