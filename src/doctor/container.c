/* container: whether this is one, and whether the driver was passed into it. */
#include "doctor/check.h"

static const char *const names[] = { "", "Docker", "Podman", "Kubernetes", "a container" };
static const char *const fixes[] = {
	"",
	"docker run --gpus all ... (needs the NVIDIA Container Toolkit on the host)",
	("podman run --device nvidia.com/gpu=all ... (needs nvidia-ctk cdi generate on the "
	 "host)"),
	("resources: limits: nvidia.com/gpu: 1 in the pod (needs NVIDIA's device plugin on the "
	 "node)"),
	"pass the GPU in: enroot and Apptainer take --nv or NVIDIA_VISIBLE_DEVICES=all",
};

void fw_check_container(struct fw_host *host, struct fw_doctor_result *result)
{
	enum fw_container kind = fw_doctor_container(host);
	bool has_driver =
		fw_host_has(host, "/proc/driver/nvidia/version") || fw_host_has(host, "/dev/dxg");

	if (!kind && !fw_host_has(host, "/proc/self/status")) {
		fw_doctor_unknown(result, "/proc is not mounted");
	} else if (!kind) {
		fw_doctor_ok(result, "not in a container");
	} else if (!fw_host_has(host, "/dev/nvidiactl") && !fw_host_has(host, "/dev/dxg")) {
		fw_doctor_problem(result, "%s: no GPU was passed in%s", names[kind],
				  has_driver ? ", though the host has a driver" : "");
		fw_doctor_fix(result, "%s", fixes[kind]);
	} else {
		fw_doctor_ok(result, "%s, with GPUs passed in", names[kind]);
	}
}
