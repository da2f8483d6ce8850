/* throttle: what holds the clocks down at this moment; being idle is no fault. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	static const struct {
		unsigned bit;
		const char *text;
	} faults[] = {
		{ FW_NVML_CLOCKS_HW_THERMAL, "slowed by the hardware: too hot" },
		{ FW_NVML_CLOCKS_HW_POWER_BRAKE, "slowed by the power supply's brake signal" },
		{ FW_NVML_CLOCKS_HW_SLOWDOWN, "slowed by the hardware: heat or power" },
		{ FW_NVML_CLOCKS_SW_THERMAL, "slowed by the driver: too hot" },
		{ FW_NVML_CLOCKS_APPLICATION, "clocks are fixed below the maximum by a setting" },
	};
	const struct fw_nvml_figure *reasons = &gpu->now.clocks_reasons;
	struct fw_gpu_verdict verdict = { NULL, NULL };

	if (!reasons->is_known)
		return fw_gpu_unknown(host, "clock reasons", reasons);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (reasons->value & faults[i].bit) {
			verdict.problem =
				gpu->now.celsius.is_known
					? fw_host_text(host, "%s (%llu degrees C now)",
						       faults[i].text,
						       (unsigned long long)gpu->now.celsius.value)
					: faults[i].text;
			break;
		}
	return verdict;
}

void fw_check_throttle(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge,
			     "nothing but idleness or the power limit holds the clocks now");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result,
			      "heat: fans, dust, airflow, a neighbour's exhaust; brake: power "
			      "cables and supply; setting: sudo nvidia-smi -rac and -rgc");
}
