/* Numbers for people: rounded, with their unit. */
#include "report/amounts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS  1000000
#define TENTHS_ALL 1000 /* tenths of a percent in the whole */

static struct fw_amount unknown(void)
{
	return (struct fw_amount){ "unknown" };
}

struct fw_amount fw_amount_ms(int64_t ns)
{
	struct fw_amount a;

	if (ns < 0)
		return unknown();
	snprintf(a.text, sizeof(a.text), "%.3f ms", (double)ns / NS_PER_MS);
	return a;
}

struct fw_amount fw_amount_share(int64_t part, int64_t whole)
{
	struct fw_amount a;

	if (part < 0 || whole <= 0)
		return unknown();
	snprintf(a.text, sizeof(a.text), "%.1f %%", (double)part * 100 / (double)whole);
	return a;
}

struct fw_amount fw_amount_tenths(int64_t tenths)
{
	struct fw_amount a;

	snprintf(a.text, sizeof(a.text), "%" PRId64 ".%" PRId64 " %%", tenths / 10, tenths % 10);
	return a;
}

/* How tenths of a percent were rounded to a whole number. */
struct rounding {
	int64_t down;  /* rounded down */
	uint64_t rest; /* what that lost, of total; 0: exact */
	bool is_up;    /* the nearest is one more */
};

static struct rounding divide(int64_t value, int64_t total)
{
	unsigned __int128 product = (unsigned __int128)value * TENTHS_ALL;
	uint64_t rest = (uint64_t)(product % (unsigned __int128)total);

	return (struct rounding){ .down = (int64_t)(product / (unsigned __int128)total),
				  .rest = rest,
				  .is_up = rest >= (uint64_t)total - rest };
}

int64_t fw_tenths(int64_t value, int64_t total)
{
	struct rounding rounding;

	if (total <= 0)
		return 0;
	rounding = divide(value, total);
	return rounding.down + (rounding.is_up ? 1 : 0);
}

/*
 * Moves one share a tenth up, or down: of those that show the least, so that large ones stay right, the
 * one that is nearest to being rounded so anyway, so that none passes a larger one.
 */
static void nudge(size_t count, const struct rounding *roundings, int64_t *tenths, bool is_up)
{
	size_t at = count;

	for (size_t i = 0; i < count; i++) {
		if (!roundings[i].rest || tenths[i] != roundings[i].down + (is_up ? 0 : 1))
			continue;
		if (at == count || tenths[i] < tenths[at] ||
		    (tenths[i] == tenths[at] && (is_up ? roundings[i].rest > roundings[at].rest
						       : roundings[i].rest < roundings[at].rest)))
			at = i;
	}
	if (at < count)
		tenths[at] += is_up ? 1 : -1;
}

void fw_apportion(const int64_t *values, size_t count, int64_t total, int64_t *tenths)
{
	struct rounding roundings[FW_APPORTION_MOST];
	int64_t sum = 0, left;

	memset(tenths, 0, count * sizeof(tenths[0]));
	if (total <= 0 || count > FW_APPORTION_MOST)
		return;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	left = fw_tenths(sum, total);
	for (size_t i = 0; i < count; i++) {
		roundings[i] = divide(values[i], total);
		tenths[i] = roundings[i].down + (roundings[i].is_up ? 1 : 0);
		left -= tenths[i];
	}
	/* Each rounding errs by half a tenth at most, so that there are enough shares to move. */
	for (; left > 0; left--)
		nudge(count, roundings, tenths, true);
	for (; left < 0; left++)
		nudge(count, roundings, tenths, false);
}
