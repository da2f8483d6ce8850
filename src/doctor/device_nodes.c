/* device-nodes: /dev/nvidia*, which the driver is reached through. */
#include "doctor/check.h"

#include <string.h>
#include <unistd.h>

/* /dev/nvidia0 and so on. */
static unsigned count_gpus(struct fw_host *host)
{
	struct fw_host_names names = fw_host_list(host, "/dev");
	unsigned count = 0;

	for (size_t i = 0; i < names.count; i++)
		count += !strncmp(names.names[i], "nvidia", 6) && names.names[i][6] >= '0' &&
			 names.names[i][6] <= '9';
	return count;
}

static bool may_open(const struct fw_host *host, const char *path)
{
	return host->is_other || !access(path, R_OK | W_OK);
}

void fw_check_device_nodes(struct fw_host *host, struct fw_doctor_result *result)
{
	unsigned gpus = count_gpus(host);

	if (fw_host_has(host, "/dev/dxg")) {
		fw_doctor_ok(result, "/dev/dxg (WSL)");
	} else if (!fw_host_has(host, "/dev")) {
		fw_doctor_no_file(result, "/dev", 2);
	} else if (!fw_host_has(host, "/dev/nvidiactl") || !gpus) {
		fw_doctor_problem(result, "%s",
				  gpus ? "/dev/nvidiactl is missing" : "there is no /dev/nvidia0");
		fw_doctor_fix(result, "%s",
			      fw_doctor_container(host)
				      ? "start the container with --gpus all (Kubernetes: "
					"resources: limits: nvidia.com/gpu: 1)"
				      : "sudo nvidia-modprobe -c 0");
	} else if (!fw_host_has(host, "/dev/nvidia-uvm")) {
		fw_doctor_problem(result, "/dev/nvidia-uvm is missing: nvidia-smi works, but CUDA "
					  "fails to initialise (error 999)");
		fw_doctor_fix(result, "sudo nvidia-modprobe -u -c 0 (on the host)");
	} else if (!may_open(host, "/dev/nvidiactl") || !may_open(host, "/dev/nvidia-uvm")) {
		fw_doctor_problem(result, "this user may not open /dev/nvidiactl or "
					  "/dev/nvidia-uvm");
		fw_doctor_fix(result, "ls -l /dev/nvidia* names the group: sudo usermod -aG GROUP "
				      "USER, then log in again");
	} else {
		fw_doctor_ok(result, "nvidiactl, nvidia-uvm and %u GPU%s", gpus,
			     gpus == 1 ? "" : "s");
	}
}
