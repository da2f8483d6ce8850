/* Numbers for people: rounded, with their unit. */
#include "report/amounts.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_MS 1000000

static struct fw_amount unknown(void)
{
	return (struct fw_amount){ "unknown" };
}

struct fw_amount fw_amount_time(int64_t ns)
{
	struct fw_amount a;
	double value = (double)ns;

	if (ns < 0)
		return unknown();
	if (ns < 1000)
		snprintf(a.text, sizeof(a.text), "%" PRId64 " ns", ns);
	else if (value < 999.95e3)
		snprintf(a.text, sizeof(a.text), "%.1f us", value / 1e3);
	else if (value < 9999.95e6)
		snprintf(a.text, sizeof(a.text), "%.1f ms", value / 1e6);
	else
		snprintf(a.text, sizeof(a.text), "%.2f s", value / 1e9);
	return a;
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

/* The rest of value * whole / sum, below sum; its whole part in *quotient. */
static uint64_t split(int64_t value, int64_t whole, int64_t sum, int64_t *quotient)
{
	unsigned __int128 product = (unsigned __int128)value * (unsigned __int128)whole;

	*quotient = (int64_t)(product / (unsigned __int128)sum);
	return (uint64_t)(product % (unsigned __int128)sum);
}

void fw_apportion(const int64_t *values, size_t count, int64_t whole, int64_t *tenths)
{
	int64_t sum = 0, given = 0;

	for (size_t i = 0; i < count; i++) {
		sum += values[i];
		tenths[i] = 0;
	}
	if (sum <= 0)
		return;
	for (size_t i = 0; i < count; i++) {
		split(values[i], whole, sum, &tenths[i]);
		given += tenths[i];
	}
	/* At most count - 1 tenths are left; each goes to the largest remainder that has got none. */
	for (; given < whole; given++) {
		uint64_t largest = 0;
		size_t at = 0;

		for (size_t i = 0; i < count; i++) {
			int64_t least;
			uint64_t rest = split(values[i], whole, sum, &least);

			if (rest > largest && tenths[i] == least) {
				largest = rest;
				at = i;
			}
		}
		tenths[at]++;
	}
}
