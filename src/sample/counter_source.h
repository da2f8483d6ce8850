#ifndef FW_SAMPLE_COUNTER_SOURCE_H
#define FW_SAMPLE_COUNTER_SOURCE_H
/* Where the counters of a GPU come from; the better source first. */
#include <stdbool.h>

enum fw_counter_source {
	FW_COUNTERS_AUTO, /* the best that works */
	FW_COUNTERS_PM,   /* CUPTI's PM sampling */
	FW_COUNTERS_GPM,  /* NVML's GPM */
	FW_COUNTERS_NVML  /* no counters of the SMs */
};

/* "auto", "pm-sampling", "gpm", "nvml"; static storage. */
const char *fw_counter_source_name(enum fw_counter_source source);

/* The values of --counters: auto, pm, gpm, nvml. */
bool fw_counter_source_parse(const char *text, enum fw_counter_source *source);

#endif
