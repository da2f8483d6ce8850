/*
 * pcie-link: the link drops to its first generation while the GPU idles, which is no fault; its width
 * does not, and a slot of a lower generation stays what it is.
 */
#include "doctor/check.h"

/* Clocks are down for want of work. */
static bool is_idle(const struct fw_gpu *gpu)
{
	const struct fw_nvml_figure *reasons = &gpu->now.clocks_reasons,
				    *busy = &gpu->now.gpu_percent;

	return (reasons->is_known && reasons->value & FW_NVML_CLOCKS_IDLE) || !busy->is_known ||
	       busy->value < 5;
}

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	const struct fw_nvml_figure *gen = &gpu->now.link_gen, *width = &gpu->now.link_width;
	const struct fw_nvml_figure *most = &gpu->id.link_gen_max, *wide = &gpu->id.link_width_max;
	struct fw_gpu_verdict verdict = { NULL, NULL };

	if (!gen->is_known || !width->is_known || !most->is_known || !wide->is_known)
		return fw_gpu_unknown(host, "PCIe link",
				      !gen->is_known     ? gen
				      : !width->is_known ? width
				      : !most->is_known  ? most
							 : wide);
	if (width->value < wide->value)
		verdict.problem = fw_host_text(host,
					       "%llu of %llu lanes: copies are slower in "
					       "proportion",
					       (unsigned long long)width->value,
					       (unsigned long long)wide->value);
	else if (gen->value < most->value && !is_idle(gpu))
		verdict.problem = fw_host_text(host, "PCIe %llu under load where %llu is possible",
					       (unsigned long long)gen->value,
					       (unsigned long long)most->value);
	return verdict;
}

void fw_check_pcie_link(struct fw_host *host, struct fw_doctor_result *result)
{
	const struct fw_gpu *first = host->gpus.gpus;
	const char *ok = "";

	if (host->gpus.read && first->now.link_gen.is_known && first->id.link_gen_max.is_known)
		ok = fw_host_text(host, "PCIe %llu x%llu now, %llu x%llu possible%s",
				  (unsigned long long)first->now.link_gen.value,
				  (unsigned long long)first->now.link_width.value,
				  (unsigned long long)first->id.link_gen_max.value,
				  (unsigned long long)first->id.link_width_max.value,
				  first->now.link_gen.value < first->id.link_gen_max.value
					  ? " (idle GPUs save power; read it under load)"
					  : "");
	fw_doctor_judge_gpus(host, result, judge, ok);
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result,
			      "reseat the card or its riser, use a slot with all lanes, and "
			      "look at the slot's speed in the firmware setup");
}
