/* nvidia-visible-devices: what the NVIDIA Container Toolkit was asked to pass in. */
#include "doctor/check.h"

#include <string.h>

void fw_check_nvidia_visible_devices(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *value;

	if (!fw_doctor_has_environment(host, result))
		return;
	value = fw_host_env(host, "NVIDIA_VISIBLE_DEVICES");
	if (!fw_doctor_container(host)) {
		fw_doctor_ok(result, "%s",
			     value ? "set, but only containers heed it"
				   : "not set, and only containers heed it");
	} else if (fw_host_has(host, "/dev/nvidiactl")) {
		/* With CDI and device plugins it reads void in containers whose GPUs work. */
		fw_doctor_ok(result, "%s", value ? value : "not set; the GPUs came another way");
	} else if (!value || !*value || !strcmp(value, "void") || !strcmp(value, "none")) {
		fw_doctor_problem(result,
				  "NVIDIA_VISIBLE_DEVICES is %s, so the toolkit passes no "
				  "GPU into this container",
				  value ? (*value ? value : "empty") : "not set");
		fw_doctor_fix(result, "docker run --gpus all, or -e NVIDIA_VISIBLE_DEVICES=all "
				      "with --runtime=nvidia");
	} else {
		fw_doctor_problem(result,
				  "NVIDIA_VISIBLE_DEVICES=%s asks for GPUs, but none is "
				  "here: the container was not started by NVIDIA's runtime",
				  value);
		fw_doctor_fix(result, "docker run --runtime=nvidia (or --gpus all); on the host: "
				      "sudo nvidia-ctk runtime configure --runtime=docker && sudo "
				      "systemctl restart docker");
	}
}
