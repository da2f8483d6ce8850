/* nvml: the library that nvidia-smi and every monitor uses. */
#include "doctor/check.h"

static const char *fix_of(int result)
{
	switch (result) {
	case FW_NVML_NO_CALL:
		return "install the driver's libraries (Debian: libnvidia-ml1; in a container "
		       "start it with --gpus all, and NVIDIA_DRIVER_CAPABILITIES must hold "
		       "utility)";
	case FW_NVML_DRIVER_NOT_LOADED: return "sudo modprobe nvidia";
	case FW_NVML_VERSION_MISMATCH:
		return "the driver was updated under the running kernel module: reboot, or stop "
		       "what uses the GPU and run: sudo rmmod nvidia_uvm nvidia_drm "
		       "nvidia_modeset nvidia && sudo modprobe nvidia";
	case FW_NVML_NO_PERMISSION:
		return "let this user open the device files: ls -l /dev/nvidia*";
	case FW_NVML_OPERATING_SYSTEM:
		return "the container lost its devices (systemctl daemon-reload on the host does "
		       "that): restart the container, and name the devices with --device or CDI";
	case FW_NVML_GPU_IS_LOST:
		return "drain the node and reboot it; if it comes back, the card, its power or "
		       "its slot is faulty (dmesg | grep Xid)";
	default: return "sudo nvidia-bug-report.sh, and dmesg | grep -i -e nvrm -e xid";
	}
}

void fw_check_nvml(struct fw_host *host, struct fw_doctor_result *result)
{
	const struct fw_gpus *gpus = &host->gpus;

	if (!gpus->was_asked) {
		fw_doctor_has_gpus(host, result);
		return;
	}
	if (gpus->why[0]) {
		fw_doctor_problem(result, "%s", gpus->why);
		fw_doctor_fix(result, "%s", fix_of(gpus->result));
		return;
	}
	if (!gpus->count) {
		fw_doctor_problem(result, "NVML works, but sees no GPU");
		fw_doctor_fix(result, "lspci -d 10de: shows what is plugged in; in a container: "
				      "docker run --gpus all");
		return;
	}
	for (unsigned i = 0; i < gpus->read; i++) {
		if (!gpus->gpus[i].result)
			continue;
		fw_doctor_problem(result, "GPU %u of %u: %s", i, gpus->count,
				  fw_nvml_result_text(gpus->gpus[i].result));
		fw_doctor_fix(result, "%s", fix_of(gpus->gpus[i].result));
		return;
	}
	fw_doctor_ok(result, "%u x %s, driver %s", gpus->count,
		     gpus->gpus[0].id.name[0] ? gpus->gpus[0].id.name : "GPU", gpus->driver);
}
