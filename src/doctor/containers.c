/* Whether this is a container, and whose. */
#include "doctor/check.h"

#include <string.h>

enum fw_container fw_doctor_container(struct fw_host *host)
{
	struct fw_host_file groups = fw_host_read(host, "/proc/1/cgroup");
	const char *kind = fw_host_env(host, "container"); /* set by podman, systemd-nspawn, lxc */

	if (fw_host_env(host, "KUBERNETES_SERVICE_HOST") ||
	    fw_host_has(host, "/var/run/secrets/kubernetes.io") ||
	    (groups.text && strstr(groups.text, "kubepods")))
		return FW_CONTAINER_KUBERNETES;
	if (fw_host_has(host, "/run/.containerenv") || (kind && !strcmp(kind, "podman")))
		return FW_CONTAINER_PODMAN;
	if (fw_host_has(host, "/.dockerenv") || (groups.text && strstr(groups.text, "/docker")))
		return FW_CONTAINER_DOCKER;
	if (kind && *kind)
		return FW_CONTAINER_OTHER;
	return FW_CONTAINER_NONE;
}
