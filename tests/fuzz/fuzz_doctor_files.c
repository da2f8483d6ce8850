/*
 * What doctor reads of a machine: the input is files ("== /etc/os-release", then its text, up to the
 * next such line) below a root, on which every check runs but the one that uses a GPU. The input as a
 * whole is read as an ld.so.cache and as a program too.
 */
#include "doctor/doctor.h"
#include "doctor/dynamic.h"
#include "doctor/loader_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/fw-fuzz-XXXXXX";
static bool is_made;

/* No other path is written. */
static const char *const files[] = {
	"/environ",
	"/.dockerenv",
	"/run/.containerenv",
	"/etc/docker/daemon.json",
	"/etc/cdi/nvidia.yaml",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf.d/cuda.conf",
	"/opt/program",
	"/opt/lib/libcudart.so.12",
	"/opt/venv/bin/python3",
	"/opt/venv/lib/python3.12/site-packages/torch/version.py",
	"/proc/1/cgroup",
	"/proc/self/cgroup",
	"/proc/self/limits",
	"/proc/self/mounts",
	"/proc/self/status",
	"/proc/meminfo",
	"/proc/modules",
	"/proc/driver/nvidia/params",
	"/proc/driver/nvidia/version",
	"/sys/devices/system/clocksource/clocksource0/current_clocksource",
	"/sys/devices/system/clocksource/clocksource0/available_clocksource",
	"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"/sys/devices/system/node/online",
	"/sys/fs/cgroup/cpu.max",
	"/sys/fs/cgroup/cpu.stat",
	"/sys/fs/cgroup/memory.max",
	"/sys/fs/cgroup/memory.current",
	"/sys/fs/cgroup/memory.events",
	"/sys/kernel/iommu_groups/0/type",
	"/sys/kernel/mm/transparent_hugepage/enabled",
	"/sys/module/nvidia/version",
	"/usr/bin/nvidia-ctk",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/var/log/kern.log",
};
#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

static void path_of(size_t file, char path[256])
{
	snprintf(path, 256, "%s%s", root, files[file]);
}

static void remove_root(void)
{
	char path[256];

	for (size_t i = 0; i < FILE_COUNT; i++) {
		path_of(i, path);
		unlink(path);
		for (char *end = strrchr(path, '/'); end > path + strlen(root);
		     end = strrchr(path, '/')) {
			*end = '\0';
			rmdir(path); /* fails until the last file of it is gone */
		}
	}
	rmdir(root);
}

static void make_root(void)
{
	char path[256];

	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < FILE_COUNT; i++) {
		path_of(i, path);
		for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
			*p = '\0';
			mkdir(path, 0755);
		}
	}
	is_made = true;
	atexit(remove_root);
}

static void write_file(size_t file, const uint8_t *data, size_t size)
{
	char path[256];
	int fd;

	path_of(file, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	if (fd < 0)
		abort();
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done <= 0)
			abort();
		data += done;
		size -= (size_t)done;
	}
	close(fd);
}

/* The file that a line "== PATH" names; FILE_COUNT: none. */
static size_t named(const uint8_t *line, size_t len)
{
	for (size_t i = 0; i < FILE_COUNT; i++)
		if (len == strlen(files[i]) + 3 && !memcmp(line, "== ", 3) &&
		    !memcmp(line + 3, files[i], len - 3))
			return i;
	return FILE_COUNT;
}

static void write_files(const uint8_t *data, size_t size)
{
	size_t file = FILE_COUNT, start = 0;

	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t len = end ? (size_t)(end - data) - at : size - at;
		size_t next = named(data + at, len);

		if (next < FILE_COUNT) {
			if (file < FILE_COUNT)
				write_file(file, data + start, at - start);
			file = next;
			start = at + len + (end != NULL);
		}
		at += len + 1;
	}
	if (file < FILE_COUNT)
		write_file(file, data + start, size - start);
}

static void remove_files(void)
{
	char path[256];

	for (size_t i = 0; i < FILE_COUNT; i++) {
		path_of(i, path);
		unlink(path);
	}
}

static void run_checks(const char *program)
{
	size_t count;
	const struct fw_doctor_check *checks = fw_doctor_checks(&count);
	struct fw_host host;

	if (!fw_host_open(&host, root, NULL)) {
		host.program = program;
		for (size_t i = 0; i < count; i++) {
			struct fw_doctor_result result;

			if (checks[i].when == FW_DOCTOR_SMOKE)
				continue;
			fw_doctor_run(&checks[i], &host, &result);
			if (!result.message || !result.fix)
				abort();
		}
	}
	fw_host_close(&host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_arena arena = { 0 };
	struct fw_dynamic dynamic;

	fw_loader_cache_find(data, size, EM_X86_64, "libcudart.so.12");
	fw_dynamic_read(&dynamic, &arena, data, size, NULL);
	fw_arena_release(&arena);
	if (!is_made)
		make_root();
	write_files(data, size);
	run_checks("/opt/program");
	run_checks("/opt/venv/bin/python3");
	remove_files();
	return 0;
}
