#ifndef FW_PIPELINE_CORES_H
#define FW_PIPELINE_CORES_H
/* The cores that decoding threads may have. */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct fw_cores {
	uint32_t count;   /* at least 1 */
	uint32_t allowed; /* by the affinity of the process, on all nodes */
	double quota;     /* of its cgroups, in cores; 0: none is known */
	int node;         /* of memory, whose cores alone are counted; negative: all are */
	cpu_set_t set;    /* those that are counted, before the quota */
};

/* node: where the GPU is; negative: anywhere. Its cores are preferred where the process may use some of them. */
void fw_cores_look(int node, struct fw_cores *cores);

#endif
