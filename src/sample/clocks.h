#ifndef FW_SAMPLE_CLOCKS_H
#define FW_SAMPLE_CLOCKS_H
/* Why a GPU's clocks are below the maximum, in words. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fw_clocks_reason {
	uint64_t bit;     /* FW_NVML_CLOCKS_* */
	const char *name; /* for programs: "power_cap" */
	const char *text; /* for people: "power limit" */
	bool is_throttle; /* work is slowed down against the user's wish */
};

/* All that are known, the gravest first. */
extern const struct fw_clocks_reason fw_clocks_reasons[];
extern const size_t fw_clocks_reason_count;

/* The gravest throttle among the bits; NULL: none. */
const struct fw_clocks_reason *fw_clocks_throttle(uint64_t bits);

#endif
