/* host-toolkit: on a host with a container engine, whether containers can be given GPUs. */
#include "doctor/check.h"
#include "doctor/libraries.h"

#include <string.h>

#define VERIFY "verify: docker run --rm --gpus all ubuntu nvidia-smi"

static bool has_cdi(struct fw_host *host)
{
	return fw_host_has(host, "/etc/cdi/nvidia.yaml") ||
	       fw_host_has(host, "/var/run/cdi/nvidia.yaml") ||
	       fw_host_has(host, "/run/cdi/nvidia.yaml");
}

static bool has_program(struct fw_host *host, const char *name)
{
	return fw_host_has(host, fw_host_text(host, "/usr/bin/%s", name)) ||
	       fw_program_find(host, name);
}

static void judge_docker(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file daemon = fw_host_read(host, "/etc/docker/daemon.json");

	if (daemon.text && strstr(daemon.text, "nvidia")) {
		fw_doctor_ok(result, "toolkit installed, daemon.json names the nvidia runtime; %s",
			     VERIFY);
	} else if (has_cdi(host)) {
		fw_doctor_ok(result, "toolkit installed, with a CDI specification; %s", VERIFY);
	} else if (!daemon.text && daemon.error != 2) {
		fw_doctor_no_file(result, "/etc/docker/daemon.json", daemon.error);
	} else {
		fw_doctor_problem(result, "the toolkit is installed, but Docker does not know it: "
					  "neither /etc/docker/daemon.json names it nor is there a "
					  "CDI specification");
		fw_doctor_fix(result, "sudo nvidia-ctk runtime configure --runtime=docker && sudo "
				      "systemctl restart docker; " VERIFY);
	}
}

void fw_check_host_toolkit(struct fw_host *host, struct fw_doctor_result *result)
{
	bool docker = has_program(host, "docker") || has_program(host, "dockerd");
	bool podman = has_program(host, "podman");

	if (fw_doctor_container(host)) {
		fw_doctor_unknown(result, "inside a container: only the host can tell");
	} else if (!fw_host_has(host, "/usr/bin")) {
		fw_doctor_no_file(result, "/usr/bin", 2);
	} else if (!docker && !podman) {
		fw_doctor_ok(result, "no Docker or Podman here");
	} else if (!has_program(host, "nvidia-ctk") &&
		   !has_program(host, "nvidia-container-runtime")) {
		fw_doctor_problem(result,
				  "%s is here, the NVIDIA Container Toolkit is not: "
				  "containers get no GPU",
				  docker ? "Docker" : "Podman");
		fw_doctor_fix(
			result,
			"add NVIDIA's repository, then sudo apt-get install "
			"nvidia-container-toolkit && sudo nvidia-ctk runtime "
			"configure --runtime=docker && sudo systemctl restart docker; " VERIFY);
	} else if (docker) {
		judge_docker(host, result);
	} else if (has_cdi(host)) {
		fw_doctor_ok(result, "toolkit installed, with a CDI specification; verify: podman "
				     "run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi");
	} else {
		fw_doctor_problem(result,
				  "Podman finds GPUs by CDI, and there is no specification");
		fw_doctor_fix(result, "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; "
				      "verify: podman run --rm --device nvidia.com/gpu=all ubuntu "
				      "nvidia-smi");
	}
}
