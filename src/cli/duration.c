/* Times on the command line to integer nanoseconds, without a detour through floating point. */
#include "cli/duration.h"

#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

struct unit {
	const char *name;
	int64_t ns;
};

/* Nanoseconds in the unit that text starts with (none: otherwise); *text moves behind it. */
static int64_t take_unit(const char **text, int64_t otherwise)
{
	static const struct unit units[] = { { "ns", 1 },          { "us", 1000 },
					     { "ms", 1000000 },    { "s", 1000000000 },
					     { "m", 60000000000 }, { "h", 3600000000000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].name);

		if (!strncmp(*text, units[i].name, n)) {
			*text += n;
			return units[i].ns;
		}
	}
	return otherwise;
}

/* Reads a number with its unit; *text moves behind it. Digits below 1 ns are dropped. */
static bool take_time(const char **text, int64_t otherwise, int64_t *ns)
{
	const char *whole = *text, *fraction = NULL;
	int64_t value = 0, unit;

	while (is_digit(**text))
		++*text;
	if (**text == '.') {
		fraction = ++*text;
		while (is_digit(**text))
			++*text;
	}
	if (!is_digit(*whole))
		return false;
	unit = take_unit(text, otherwise);
	for (const char *p = whole; is_digit(*p); p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value))
			return false;
	if (__builtin_mul_overflow(value, unit, &value))
		return false;
	for (const char *p = fraction; p && is_digit(*p); p++) {
		unit /= 10;
		if (__builtin_add_overflow(value, (*p - '0') * unit, &value))
			return false;
	}
	*ns = value;
	return true;
}

bool fw_parse_window(const char *text, int64_t *start_ns, int64_t *end_ns)
{
	if (!take_time(&text, 1000000, start_ns) || *text++ != ',')
		return false;
	return take_time(&text, 1000000, end_ns) && !*text && *end_ns > *start_ns;
}

bool fw_parse_duration(const char *text, int64_t *ns)
{
	return take_time(&text, 1000000000, ns) && !*text && *ns > 0;
}
