/* Amounts for people: rounded, with their unit. */
#include "base/amount.h"

#include <inttypes.h>
#include <stdio.h>

static struct fw_amount unknown(void)
{
	return (struct fw_amount){ "unknown" };
}

/* Three digits, or every digit of a larger whole number. */
static int decimals(double value)
{
	if (value < 9.995)
		return 2;
	return value < 99.95 ? 1 : 0;
}

struct fw_amount fw_amount_time(int64_t ns)
{
	struct fw_amount a;
	double value = (double)ns;

	if (ns < 0)
		return unknown();
	/* Each bound is where the figure before it would round up to its next digit. */
	if (!ns)
		snprintf(a.text, sizeof(a.text), "0");
	else if (ns < 1000)
		snprintf(a.text, sizeof(a.text), "%" PRId64 " ns", ns);
	else if (value < 9.995e3)
		snprintf(a.text, sizeof(a.text), "%.2f us", value / 1e3);
	else if (value < 999.5e3)
		snprintf(a.text, sizeof(a.text), "%.0f us", value / 1e3);
	else if (value < 9.995e6)
		snprintf(a.text, sizeof(a.text), "%.2f ms", value / 1e6);
	else if (value < 9999.95e6)
		snprintf(a.text, sizeof(a.text), "%.1f ms", value / 1e6);
	else
		snprintf(a.text, sizeof(a.text), "%.2f s", value / 1e9);
	return a;
}

static struct fw_amount scaled(double bytes, const char *per)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	unsigned unit = 0, last = sizeof(units) / sizeof(units[0]) - 1;
	struct fw_amount a;

	for (; bytes >= 999.5 && unit < last; unit++)
		bytes /= 1000;
	/* A fraction of a byte is none of bytes, but can be one of a rate. */
	snprintf(a.text, sizeof(a.text), "%.*f %s%s", unit || *per ? decimals(bytes) : 0, bytes,
		 units[unit], per);
	return a;
}

struct fw_amount fw_amount_bytes(int64_t bytes)
{
	return bytes < 0 ? unknown() : scaled((double)bytes, "");
}

struct fw_amount fw_amount_rate(int64_t bytes, int64_t ns)
{
	return bytes < 0 || ns <= 0 ? unknown() : scaled((double)bytes * 1e9 / (double)ns, "/s");
}
