/* Operations of a device -> sets of time. */
#include "rules/gpu_time.h"

static int64_t clip_start(const struct fw_device_ledger *device, int64_t t)
{
	return t > device->window.start_ns ? t : device->window.start_ns;
}

static int64_t clip_end(const struct fw_device_ledger *device, int64_t t)
{
	return t < device->window.end_ns ? t : device->window.end_ns;
}

bool fw_gpu_time(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		 uint32_t classes, struct fw_intervals *set)
{
	const struct fw_trace_ops *ops = &ledger->trace->ops;

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i];

		if (classes & FW_CLASS_BIT(ops->owner[op]) &&
		    !fw_intervals_add(set, clip_start(device, ops->start_ns[op]),
				      clip_end(device, ops->end_ns[op])))
			return false;
	}
	fw_intervals_merge(set);
	return true;
}

int64_t fw_op_in_window(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			uint32_t op)
{
	int64_t start = clip_start(device, ledger->trace->ops.start_ns[op]);
	int64_t end = clip_end(device, ledger->trace->ops.end_ns[op]);

	return end > start ? end - start : 0;
}
