#include "sample/values.h"

const struct fw_value_kind fw_gpu_values[FW_GPU_VALUE_COUNT] = {
#define FW_VALUE(id, name, unit, help) { name, unit, help },
#include "sample/gpu_values.def"
#undef FW_VALUE
};

const struct fw_value_kind fw_process_values[FW_PROCESS_VALUE_COUNT] = {
#define FW_VALUE(id, name, unit, help) { name, unit, help },
#include "sample/process_values.def"
#undef FW_VALUE
};

const struct fw_value_kind fw_host_values[FW_HOST_VALUE_COUNT] = {
#define FW_VALUE(id, name, unit, help) { name, unit, help },
#include "sample/host_values.def"
#undef FW_VALUE
};

struct fw_value fw_value_measured(double number, const char *instrument)
{
	return (struct fw_value){ FW_VALUE_MEASURED, number, instrument };
}

struct fw_value fw_value_sampled(double number, const char *instrument)
{
	return (struct fw_value){ FW_VALUE_SAMPLED, number, instrument };
}

struct fw_value fw_value_modelled(double number, const char *assumption)
{
	return (struct fw_value){ FW_VALUE_MODELLED, number, assumption };
}

struct fw_value fw_value_unknown(const char *why)
{
	return (struct fw_value){ FW_VALUE_UNKNOWN, 0, why };
}

bool fw_value_is_known(struct fw_value value)
{
	return value.source != FW_VALUE_UNKNOWN;
}

void fw_values_forget(struct fw_value *values, size_t count, const char *why)
{
	for (size_t i = 0; i < count; i++)
		values[i] = fw_value_unknown(why);
}

const char *fw_value_source_name(enum fw_value_source source)
{
	static const char *const names[] = { [FW_VALUE_UNKNOWN] = "unknown",
					     [FW_VALUE_MEASURED] = "measured",
					     [FW_VALUE_SAMPLED] = "sampled",
					     [FW_VALUE_MODELLED] = "modelled" };

	return names[source];
}
