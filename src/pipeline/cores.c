/* The cores that decoding threads may have: affinity, the node of the GPU, the cgroups' quota. */
#include "pipeline/cores.h"

#include "sample/cpu_limit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "0-7,16-23"; false: it cannot be read. */
static bool read_node(int node, cpu_set_t *set)
{
	char path[64], text[4096], *at = text;
	FILE *file;

	CPU_ZERO(set);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "re");
	if (!file)
		return false;
	at = fgets(text, sizeof(text), file);
	fclose(file);
	while (at && *at >= '0' && *at <= '9') {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
		at += *at == ',';
	}
	return CPU_COUNT(set) > 0;
}

void fw_cores_look(int node, struct fw_cores *cores)
{
	struct fw_cpu_limit limit = { .is_known = false };
	cpu_set_t near;
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*cores = (struct fw_cores){ .node = -1 };
	if (sched_getaffinity(0, sizeof(cores->set), &cores->set))
		CPU_ZERO(&cores->set);
	cores->allowed = (uint32_t)CPU_COUNT(&cores->set);
	if (node >= 0 && read_node(node, &near)) {
		CPU_AND(&near, &near, &cores->set);
		if (CPU_COUNT(&near) > 0) {
			cores->set = near;
			cores->node = node;
		}
	}
	cores->count = (uint32_t)CPU_COUNT(&cores->set);
	if (root >= 0) {
		fw_cpu_limit_read(root, (unsigned)getpid(), &limit);
		close(root);
	}
	if (limit.is_known) {
		cores->quota = limit.cores;
		if (limit.cores < cores->count)
			cores->count = (uint32_t)floor(limit.cores);
	}
	if (!cores->count)
		cores->count = 1;
}
