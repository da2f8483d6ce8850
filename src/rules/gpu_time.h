#ifndef FW_RULES_GPU_TIME_H
#define FW_RULES_GPU_TIME_H
/* Sets of time in which operations of a kind ran on a device. */
#include "ledger/intervals.h"
#include "rules/rule.h"

#define FW_CLASS_BIT(class_id) (1u << (class_id))

/* Every owner: the classes before the first idle one. */
#define FW_GPU_BUSY (FW_CLASS_BIT(FW_CLASS_LAUNCH_LATENCY) - 1)
#define FW_GPU_KERNELS                                                                             \
	(FW_CLASS_BIT(FW_CLASS_COMPUTE) | FW_CLASS_BIT(FW_CLASS_COLLECTIVE) |                      \
	 FW_CLASS_BIT(FW_CLASS_GRAPH_OPAQUE))

/* Time in the window in which an operation of one of the owner classes (bits) ran; merged. */
bool fw_gpu_time(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		 uint32_t classes, struct fw_intervals *set);

/* The part of the operation inside the device's window, in ns; 0: none. */
int64_t fw_op_in_window(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			uint32_t op);

#endif
