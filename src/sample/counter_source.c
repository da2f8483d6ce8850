#include "sample/counter_source.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = { "auto", "pm-sampling", "gpm", "nvml" };
static const char *const options[] = { "auto", "pm", "gpm", "nvml" };

const char *fw_counter_source_name(enum fw_counter_source source)
{
	return names[source];
}

bool fw_counter_source_parse(const char *text, enum fw_counter_source *source)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(text, options[i])) {
			*source = (enum fw_counter_source)i;
			return true;
		}
	return false;
}
