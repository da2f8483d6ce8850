/* iommu: with several GPUs, an IOMMU that translates sends peer-to-peer copies the long way, or stops them. */
#include "doctor/check.h"

#include <string.h>

#define GROUPS 512u

void fw_check_iommu(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_names groups = fw_host_list(host, "/sys/kernel/iommu_groups");
	unsigned translated = 0, told = 0;

	if (!fw_doctor_has_gpus(host, result))
		return;
	if (host->gpus.count < 2) {
		fw_doctor_ok(result, "one GPU: there is no peer to copy to");
		return;
	}
	if (groups.error) {
		fw_doctor_no_file(result, "/sys/kernel/iommu_groups", groups.error);
		return;
	}
	for (size_t i = 0; i < groups.count && i < GROUPS; i++) {
		const char *type =
			fw_host_line(host, "/sys/kernel/iommu_groups/%s/type", groups.names[i]);

		told += type != NULL;
		translated += type && !strncmp(type, "DMA", 3);
	}
	if (translated) {
		fw_doctor_problem(result,
				  "the IOMMU translates for %u of %zu groups: copies between GPUs "
				  "over PCIe are slow, or hang NCCL",
				  translated, groups.count);
		fw_doctor_fix(result,
			      "boot with iommu=pt (or switch the IOMMU off in the firmware where "
			      "no virtual machine needs it); also switch off ACS on the PCIe "
			      "bridges: sudo lspci -vvv | grep ACSCtl");
	} else if (groups.count && !told) {
		fw_doctor_unknown(result, "the kernel does not tell how its IOMMU groups are set");
	} else {
		fw_doctor_ok(result, groups.count
					     ? "passes through (ACS of the bridges is for root to "
					       "see: sudo lspci -vvv | grep ACSCtl)"
					     : "not in use");
	}
}
