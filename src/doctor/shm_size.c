/* shm-size: /dev/shm, where the workers of a PyTorch DataLoader put each batch. */
#include "doctor/check.h"

#include <string.h>

/* One batch of 64 float images of 224x224 is 37 MiB; workers x prefetch of those wait at a time. */
#define LEAST (1024ull << 20)

/* "size=65536k" of the mount options, else half of the memory, which is tmpfs' default. */
static bool find_size(struct fw_host *host, const char *mount, uint64_t *bytes)
{
	const char *option = strstr(mount, "size=");
	struct fw_host_file memory;
	uint64_t unit = 1;
	const char *end;

	if (!option) {
		memory = fw_host_read(host, "/proc/meminfo");
		if (!memory.text ||
		    !fw_host_number(fw_host_field(host, memory.text, "MemTotal"), bytes) ||
		    *bytes > UINT64_MAX / 1024)
			return false;
		*bytes = *bytes * 1024 / 2;
		return true;
	}
	if (!fw_host_number(option + 5, bytes))
		return false;
	end = option + 5 + strspn(option + 5, "0123456789");
	unit = *end == 'k' ? 1u << 10 : *end == 'm' ? 1u << 20 : *end == 'g' ? 1u << 30 : 1;
	*bytes = *bytes > UINT64_MAX / unit ? UINT64_MAX : *bytes * unit;
	return true;
}

void fw_check_shm_size(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file mounts = fw_host_read(host, "/proc/self/mounts");
	const char *line = NULL;
	uint64_t bytes;

	if (!mounts.text) {
		fw_doctor_no_file(result, "/proc/self/mounts", mounts.error);
		return;
	}
	for (const char *p = mounts.text; (p = strstr(p, " /dev/shm ")); p++)
		line = p;
	if (!line) {
		fw_doctor_problem(result,
				  "/dev/shm is not mounted: loader workers cannot hand over "
				  "batches");
		fw_doctor_fix(result, "sudo mount -t tmpfs -o size=8g shm /dev/shm");
		return;
	}
	line = fw_host_text(host, "%.*s", (int)strcspn(line, "\n"), line);
	if (!find_size(host, line, &bytes)) {
		fw_doctor_unknown(result, "/dev/shm: its size is not told");
	} else if (bytes < LEAST) {
		fw_doctor_problem(result,
				  "/dev/shm holds %.0f MiB: loader workers die with 'bus "
				  "error' once a few batches wait there",
				  (double)bytes / 1048576);
		fw_doctor_fix(result, "docker run --shm-size=8g (or --ipc=host); Kubernetes: mount "
				      "an emptyDir with medium: Memory on /dev/shm");
	} else {
		fw_doctor_ok(result, "%.1f GiB", (double)bytes / 1073741824);
	}
}
