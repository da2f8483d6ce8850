/* driver-capabilities: which of the driver's libraries the toolkit mounts into a container. */
#include "doctor/check.h"

#include <string.h>

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strspn(list, ", ")) {
		size_t size = strcspn(list, ", ");

		if (size == len && !memcmp(list, word, len))
			return true;
		list += size;
		if (!size)
			list += strspn(list, ", ");
	}
	return false;
}

void fw_check_driver_capabilities(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *value;

	if (!fw_doctor_has_environment(host, result))
		return;
	value = fw_host_env(host, "NVIDIA_DRIVER_CAPABILITIES");
	if (!fw_doctor_container(host)) {
		fw_doctor_ok(result, "only containers heed it");
	} else if (!value || !*value) {
		fw_doctor_ok(result, "not set: the toolkit's default is compute and utility (very "
				     "old ones: utility alone)");
	} else if (has_word(value, "all") ||
		   (has_word(value, "compute") && has_word(value, "utility"))) {
		fw_doctor_ok(result, "%s", value);
	} else {
		fw_doctor_problem(
			result, "NVIDIA_DRIVER_CAPABILITIES=%s lacks %s", value,
			has_word(value, "compute")
				? "utility: no NVML, no nvidia-smi"
				: "compute: libcuda is not mounted, CUDA finds no driver");
		fw_doctor_fix(result, "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	}
}
