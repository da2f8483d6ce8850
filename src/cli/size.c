#include "cli/size.h"

#include <stddef.h>
#include <string.h>

bool fw_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *p = text, *unit;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	if (!value)
		return false;
	unit = *p ? strchr(units, *p) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
		p++;
	}
	*bytes = value;
	return !*p;
}
