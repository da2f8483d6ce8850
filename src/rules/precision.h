#ifndef FW_RULES_PRECISION_H
#define FW_RULES_PRECISION_H
/* How much of a device's time goes to matrix kernels of each precision, as their names tell it. */
#include "rules/kernel_kind.h"
#include "rules/places.h"

struct fw_precision {
	int64_t fp32_ns, tf32_ns, narrow_ns; /* in the window */
	struct fw_places fp32, tf32;         /* by kernel */
};

void fw_precision_measure(struct fw_precision *precision, const struct fw_ledger *ledger,
			  const struct fw_device_ledger *device);
void fw_precision_release(struct fw_precision *precision);

#endif
