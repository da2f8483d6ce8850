/* numa: the cores that this process may use, against the memory node that each GPU hangs on. */
#include "doctor/check.h"

#include <ctype.h>
#include <string.h>

/* NVML's "00000000:17:00.0" as sysfs writes it, "0000:17:00.0". */
static const char *sysfs_name(struct fw_host *host, const char *bus_id)
{
	char name[32];
	size_t i;

	if (strlen(bus_id) < 5)
		return "";
	bus_id += strlen(bus_id) > 12 ? 4 : 0;
	for (i = 0; bus_id[i] && i < sizeof(name) - 1; i++)
		name[i] = (char)tolower((unsigned char)bus_id[i]);
	name[i] = 0;
	return strchr(name, '/') ? "" : fw_host_text(host, "%s", name);
}

/* Whether two lists of cores share one. */
static bool overlap(const char *a, const char *b)
{
	for (unsigned core = 0; core < 4096; core++)
		if (fw_host_list_has(a, core) && fw_host_list_has(b, core))
			return true;
	return false;
}

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };
	const char *name = sysfs_name(host, gpu->id.bus_id);
	const char *node = fw_host_line(host, "/sys/bus/pci/devices/%s/numa_node", name);
	const char *local = fw_host_line(host, "/sys/bus/pci/devices/%s/local_cpulist", name);
	const char *nodes = fw_host_line(host, "/sys/devices/system/node/online");
	struct fw_host_file status = fw_host_read(host, "/proc/self/status");
	const char *allowed =
		status.text ? fw_host_field(host, status.text, "Cpus_allowed_list") : NULL;

	if (nodes && fw_host_list_count(nodes) == 1)
		return verdict;
	if (!node || !local || !allowed || !nodes || *node == '-')
		verdict.unknown = "the system does not tell its memory node";
	else if (!overlap(allowed, local))
		verdict.problem = fw_host_text(host,
					       "on memory node %s (cores %s), this process runs "
					       "on cores %s: copies cross the sockets",
					       node, local, allowed);
	return verdict;
}

void fw_check_numa(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge,
			     "one memory node, or this process may use cores of each GPU's");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result,
			      "numactl --cpunodebind=NODE --membind=NODE for each GPU's process "
			      "(nvidia-smi topo -m shows the nodes)");
}
