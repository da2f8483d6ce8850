/*
 * What the kernel says in /proc and /sys, as the samplers read it: each text parser on the whole input,
 * then a root in which every file that they read holds it.
 */
#include "sample/cgroups.h"
#include "sample/cpu_limit.h"
#include "sample/host_sampler.h"
#include "sample/machine_text.h"
#include "sample/memory_limit.h"
#include "sample/proc.h"
#include "sample/proc_files.h"
#include "sample/switches.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/fw-fuzz-XXXXXX";
static int root_fd = -1;

static const char *const files[] = {
	"proc/loadavg",
	"proc/meminfo",
	"proc/diskstats",
	"proc/pressure/cpu",
	"proc/pressure/io",
	"proc/pressure/memory",
	"proc/7/stat",
	"proc/7/status",
	"proc/7/statm",
	"proc/7/io",
	"proc/7/schedstat",
	"proc/7/cgroup",
	"proc/7/net/dev",
	"proc/7/task/7/stat",
	"proc/7/task/7/status",
	"proc/7/task/7/schedstat",
	"sys/fs/cgroup/cpu.max",
	"sys/fs/cgroup/cpu.stat",
	"sys/fs/cgroup/memory.max",
	"sys/fs/cgroup/memory.current",
	"sys/fs/cgroup/memory.stat",
};

static void remove_root(void)
{
	char path[256];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		unlink(path);
	}
	for (size_t i = sizeof(files) / sizeof(files[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		for (char *end = strrchr(path, '/'); end > path + strlen(root);
		     end = strrchr(path, '/')) {
			*end = '\0';
			rmdir(path);
		}
	}
	snprintf(path, sizeof(path), "%s/content", root);
	unlink(path);
	rmdir(root);
}

/* Every file is a link to one. */
static void make_root(void)
{
	char path[256], content[256];

	if (!mkdtemp(root))
		abort();
	snprintf(content, sizeof(content), "%s/content", root);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
			*p = '\0';
			mkdir(path, 0755);
		}
		if (symlink(content, path))
			abort();
	}
	root_fd = open(root, O_RDONLY | O_DIRECTORY);
	atexit(remove_root);
}

static void put(const uint8_t *data, size_t size)
{
	int fd = openat(root_fd, "content", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void take_value(void *context, const struct fw_host_reading *reading)
{
	(void)context;
	if (reading->which >= FW_HOST_VALUE_COUNT)
		abort();
}

static void take_thread(void *context, unsigned pid, unsigned tid, const char *name)
{
	(void)context;
	(void)pid;
	(void)tid;
	if (strlen(name) > 31)
		abort();
}

static void take_off(void *context, const struct fw_off_cpu *off)
{
	(void)context;
	(void)off;
}

static void take_lost(void *context, int64_t start_ns, int64_t end_ns, uint64_t count)
{
	(void)context;
	(void)start_ns;
	(void)end_ns;
	(void)count;
}

static void take_cannot(void *context, const char *what)
{
	(void)context;
	(void)what;
}

static void sample(void)
{
	const struct fw_host_sink sink = { NULL,     take_value, take_thread,
					   take_off, take_lost,  take_cannot };
	const struct fw_host_options options = { .root = root, .pid = 7 };
	struct fw_host_sampler *sampler;

	if (fw_host_sampler_open(&sampler, &options, &sink, NULL))
		abort();
	for (int64_t second = 1; second < 4; second++)
		fw_host_sampler_read(sampler, second * 1000000000);
	fw_host_sampler_close(sampler);
}

static void scan(void)
{
	const unsigned tracked[] = { 7 };
	struct fw_value values[FW_PROCESS_VALUE_COUNT];
	struct fw_memory_limit memory;
	struct fw_cpu_limit cpu;
	struct fw_proc *proc;
	uint64_t start;
	char name[32];

	fw_memory_limit_read(root_fd, 7, &memory);
	fw_cpu_limit_read(root_fd, 7, &cpu);
	if (fw_proc_open(&proc, root, NULL))
		abort();
	for (int64_t second = 1; second < 3; second++)
		if (!fw_proc_scan(proc, tracked, 1, second * 1000000000, NULL))
			fw_proc_read(proc, 7, values, name, &start);
	fw_proc_close(proc);
}

static void parse(const char *text)
{
	struct fw_proc_schedstat schedstat;
	struct fw_cgroup_path group;
	struct fw_pressure pressure;
	struct fw_traffic bytes;
	struct fw_proc_stat stat;
	uint64_t number;
	unsigned id;

	fw_proc_parse_stat(text, &stat);
	fw_proc_parse_schedstat(text, &schedstat);
	fw_proc_parse_last_id(text, &id);
	fw_proc_number(text, "VmRSS:", &number);
	fw_pressure_parse(text, &pressure);
	fw_net_parse(text, &bytes);
	fw_disks_parse(text, &bytes);
	if (fw_cgroup_path_parse(text, "memory", &group) && strstr(group.path, ".."))
		abort();
}

/* The input as a ring of the kernel's switch records: the largest power of two of it. */
static void parse_ring(const uint8_t *data, size_t size)
{
	const struct fw_host_sink sink = { NULL,     take_value, take_thread,
					   take_off, take_lost,  take_cannot };
	struct fw_switches switches = { .fd = -1 };
	struct fw_switch_ring ring = { data, 1, 0, 0 };

	while (ring.size * 2 <= size)
		ring.size *= 2;
	if (!size)
		return;
	ring.tail = data[0];
	ring.head = ring.tail + ring.size;
	fw_switches_parse(&switches, &ring, &sink, 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	parse(text);
	free(text);
	parse_ring(data, size);
	if (root_fd < 0)
		make_root();
	put(data, size);
	scan();
	sample();
	return 0;
}
