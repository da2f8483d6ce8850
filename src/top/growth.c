#include "top/growth.h"

#include <math.h>

static unsigned place(const struct fw_growth *growth, unsigned back)
{
	return (growth->next + FW_GROWTH_POINTS - 1 - back) % FW_GROWTH_POINTS;
}

void fw_growth_add(struct fw_growth *growth, double seconds, double bytes)
{
	if (growth->len && seconds - growth->seconds[place(growth, 0)] < FW_GROWTH_STEP_S)
		return;
	growth->seconds[growth->next] = seconds;
	growth->bytes[growth->next] = bytes;
	growth->next = (growth->next + 1) % FW_GROWTH_POINTS;
	if (growth->len < FW_GROWTH_POINTS)
		growth->len++;
}

/* Least squares through the newest `count` points, with the slope's standard error. */
static double fit(const struct fw_growth *growth, unsigned count, double *error)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0, slope;

	for (unsigned i = 0; i < count; i++) {
		mean_x += growth->seconds[place(growth, i)] / count;
		mean_y += growth->bytes[place(growth, i)] / count;
	}
	for (unsigned i = 0; i < count; i++) {
		double x = growth->seconds[place(growth, i)] - mean_x;

		xx += x * x;
		xy += x * (growth->bytes[place(growth, i)] - mean_y);
	}
	slope = xy / xx;
	for (unsigned i = 0; i < count; i++) {
		double x = growth->seconds[place(growth, i)] - mean_x;
		double off = growth->bytes[place(growth, i)] - mean_y - slope * x;

		rest += off * off;
	}
	*error = sqrt(rest / (count - 2) / xx);
	return slope;
}

bool fw_growth_slope(const struct fw_growth *growth, struct fw_slope *slope)
{
	double error, half_error, half, newest;

	if (growth->len < 8)
		return false;
	slope->window_s =
		growth->seconds[place(growth, 0)] - growth->seconds[place(growth, growth->len - 1)];
	if (slope->window_s < FW_GROWTH_LEAST_S)
		return false;
	slope->bytes_per_second = fit(growth, growth->len, &error);
	half = fit(growth, growth->len / 2, &half_error);
	newest = growth->bytes[place(growth, 0)];
	return slope->bytes_per_second > 4 * error && half >= slope->bytes_per_second / 2 &&
	       slope->bytes_per_second * slope->window_s >= newest / 100;
}
