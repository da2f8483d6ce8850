/* Stands in for layers that are on their way: gives way to them (weak), and goes when they are in. */
#include "report/report.h"

static const char *const fills[] = { "grid-limited", "tail", "occupancy", "full", "unknown" };

__attribute__((weak)) const char *fw_fill_id(enum fw_fill fill)
{
	return fills[fill];
}

__attribute__((weak)) const char *fw_fill_text(enum fw_fill fill)
{
	return fills[fill];
}
