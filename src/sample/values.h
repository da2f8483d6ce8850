#ifndef FW_SAMPLE_VALUES_H
#define FW_SAMPLE_VALUES_H
/* What the samplers find: each value is known, with its source, or unknown, with the reason. */
#include <stdbool.h>
#include <stddef.h>

enum fw_value_source {
	FW_VALUE_UNKNOWN,
	FW_VALUE_MEASURED, /* counted or read, for the whole interval or at this instant */
	FW_VALUE_SAMPLED,  /* of a few instants, by the driver */
	FW_VALUE_MODELLED  /* computed from others under an assumption that the note names */
};

struct fw_value {
	enum fw_value_source source;
	double number;
	const char *note; /* the instrument ("GPM"), or why it is unknown; static storage */
};

enum fw_unit {
	FW_UNIT_NONE,
	FW_UNIT_PERCENT,
	FW_UNIT_BYTES,
	FW_UNIT_BYTES_PER_SECOND,
	FW_UNIT_MHZ,
	FW_UNIT_WATTS,
	FW_UNIT_CELSIUS,
	FW_UNIT_SECONDS,
	FW_UNIT_NANOSECONDS
};

enum fw_gpu_value {
#define FW_VALUE(id, name, unit, help) FW_GPU_##id,
#include "sample/gpu_values.def"
#undef FW_VALUE
	FW_GPU_VALUE_COUNT
};

enum fw_process_value {
#define FW_VALUE(id, name, unit, help) FW_PROCESS_##id,
#include "sample/process_values.def"
#undef FW_VALUE
	FW_PROCESS_VALUE_COUNT
};

enum fw_host_value {
#define FW_VALUE(id, name, unit, help) FW_HOST_##id,
#include "sample/host_values.def"
#undef FW_VALUE
	FW_HOST_VALUE_COUNT
};

struct fw_value_kind {
	const char *name; /* with its unit, "sm_busy_percent" */
	enum fw_unit unit;
	const char *help;
};

extern const struct fw_value_kind fw_gpu_values[FW_GPU_VALUE_COUNT];
extern const struct fw_value_kind fw_process_values[FW_PROCESS_VALUE_COUNT];
extern const struct fw_value_kind fw_host_values[FW_HOST_VALUE_COUNT];

struct fw_value fw_value_measured(double number, const char *instrument);
struct fw_value fw_value_sampled(double number, const char *instrument);
struct fw_value fw_value_modelled(double number, const char *assumption);
struct fw_value fw_value_unknown(const char *why);
bool fw_value_is_known(struct fw_value value);

/* Makes count values unknown for the same reason. */
void fw_values_forget(struct fw_value *values, size_t count, const char *why);

/* "measured", ...; static storage. */
const char *fw_value_source_name(enum fw_value_source source);

#endif
