/* driver-loaded: the kernel module, without which nothing else matters. */
#include "doctor/check.h"

#include <string.h>

void fw_check_driver_loaded(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file version = fw_host_read(host, "/proc/driver/nvidia/version");
	const char *driver = fw_doctor_driver(host);
	bool is_module = fw_host_has(host, "/sys/module/nvidia");

	if (version.text && driver) {
		fw_doctor_ok(result, "driver %s%s", driver,
			     strstr(version.text, "Open Kernel Module") ? ", open kernel modules"
									: "");
	} else if (driver && (is_module || fw_host_has(host, "/dev/dxg"))) {
		fw_doctor_ok(result, "driver %s", driver);
	} else if (is_module || version.text) {
		fw_doctor_unknown(result, "the module is loaded, but does not tell its version");
	} else if (!fw_host_has(host, "/proc/modules") && version.error != 2) {
		fw_doctor_no_file(result, "/proc/driver/nvidia/version", version.error);
	} else if (!fw_host_has(host, "/proc/self/status") && !fw_host_has(host, "/proc/modules")) {
		fw_doctor_unknown(result, "/proc is not mounted");
	} else if (fw_host_has(host, "/sys/module/nouveau")) {
		fw_doctor_problem(result, "nouveau drives the GPU: CUDA needs NVIDIA's driver");
		fw_doctor_fix(result, "install the driver of your distribution (Ubuntu: sudo "
				      "ubuntu-drivers install --gpgpu), then reboot");
	} else if (fw_doctor_container(host)) {
		fw_doctor_problem(result, "the host of this container has no NVIDIA driver loaded");
		fw_doctor_fix(result, "on the host: sudo modprobe nvidia && nvidia-smi");
	} else {
		fw_doctor_problem(result, "the NVIDIA driver is not loaded");
		fw_doctor_fix(result, "sudo modprobe nvidia; if that fails, dmesg | grep -i nvrm "
				      "says why (module built for another kernel, Secure Boot)");
	}
}
