#ifndef FW_LEDGER_WAITS_H
#define FW_LEDGER_WAITS_H
/*
 * What synchronisation calls waited for: the GPU-side records where the trace has them, else the
 * device as a whole. Built for one device; read-only afterwards; borrows the ledger.
 */
#include "base/map.h"
#include "ledger/ledger_private.h"

struct fw_waits {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	uint32_t *syncs; /* rows of the trace's syncs that block the host, by correlation id */
	size_t sync_count;
	struct fw_map streams; /* (device row, stream number) -> stream row */
	uint32_t *by_stream;   /* the device's operations by stream, then end */
	size_t *first_of; /* by stream row: where its operations begin; one past the last row */
};

/* False when memory is out; fw_waits_release is due in both cases. */
bool fw_waits_build(struct fw_waits *waits, const struct fw_ledger *ledger,
		    const struct fw_device_ledger *device);
void fw_waits_release(struct fw_waits *waits);

/*
 * When the last operation ended that the synchronisation waited for on this device; INT64_MIN:
 * there was none. *elsewhere: a record says that it waited for another device.
 */
int64_t fw_waits_last_end(const struct fw_waits *waits, uint32_t call, bool *elsewhere);

#endif
