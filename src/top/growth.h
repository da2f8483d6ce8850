#ifndef FW_TOP_GROWTH_H
#define FW_TOP_GROWTH_H
/* Does memory grow, how fast, and when is it out: a straight line through the last minutes. */
#include <stdbool.h>

#define FW_GROWTH_POINTS  128
#define FW_GROWTH_STEP_S  5.0  /* closer points are not kept: the window is 640 s */
#define FW_GROWTH_LEAST_S 60.0 /* a shorter window says nothing */

/* Bounded; one thread; initialise with {0}. */
struct fw_growth {
	double seconds[FW_GROWTH_POINTS], bytes[FW_GROWTH_POINTS];
	unsigned len, next;
};

struct fw_slope {
	double bytes_per_second, window_s;
};

void fw_growth_add(struct fw_growth *growth, double seconds, double bytes);

/*
 * True: it grows steadily. That is, over at least FW_GROWTH_LEAST_S the slope of least squares is
 * above four times its standard error, the newer half alone climbs at least half as fast (what only
 * rose at the start has stopped), and the window's climb is at least 1 % of the newest value.
 */
bool fw_growth_slope(const struct fw_growth *growth, struct fw_slope *slope);

#endif
