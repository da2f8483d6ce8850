#ifndef FW_SAMPLE_HOST_MACHINE_H
#define FW_SAMPLE_HOST_MACHINE_H
/* The machine and the container around the watched process. */
#include "sample/cpu_limit.h"
#include "sample/host_tell.h"

/* One thread. */
struct fw_host_machine {
	int root;     /* borrowed */
	unsigned pid; /* whose cgroups count */
	struct fw_cpu_limit quota;
	struct fw_told told[FW_HOST_VALUE_COUNT];
};

/* What moves: pressure, traffic, throttling. */
void fw_host_machine_read(struct fw_host_machine *machine, const struct fw_teller *teller);

/* What seldom changes: quota and memory limit. What of both cannot be read is said, if is_first. */
void fw_host_machine_read_limits(struct fw_host_machine *machine, const struct fw_teller *teller,
				 bool is_first);

#endif
