#include "sample/exported.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *suffix, *unit; /* of the name; in its place */
	double scale;
} units[] = {
	[FW_UNIT_NONE] = { "", NULL, 1 },
	[FW_UNIT_PERCENT] = { "_percent", "ratio", 0.01 },
	[FW_UNIT_BYTES] = { "_bytes", "bytes", 1 },
	[FW_UNIT_BYTES_PER_SECOND] = { "_bytes_per_second", "bytes_per_second", 1 },
	[FW_UNIT_MHZ] = { "_mhz", "hertz", 1e6 },
	[FW_UNIT_WATTS] = { "_watts", "watts", 1 },
	[FW_UNIT_CELSIUS] = { "_celsius", "celsius", 1 },
	[FW_UNIT_SECONDS] = { "_seconds", "seconds", 1 },
	[FW_UNIT_NANOSECONDS] = { "_ns", "seconds", 1e-9 },
};

void fw_exported(const struct fw_value_kind *kind, const char *prefix, struct fw_exported *exported)
{
	size_t stem = strlen(kind->name) - strlen(units[kind->unit].suffix);
	const char *unit = units[kind->unit].unit;

	exported->unit = unit;
	exported->scale = units[kind->unit].scale;
	snprintf(exported->name, sizeof(exported->name), "%s%.*s%s%s", prefix, (int)stem,
		 kind->name, unit ? "_" : "", unit ? unit : "");
}
