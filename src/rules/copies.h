#ifndef FW_RULES_COPIES_H
#define FW_RULES_COPIES_H
/* Copies that block the host, and the synchronisation that belongs to such a copy. */
#include "rules/host.h"

/* Copies of at most this many bytes read back or write single values: what they cost is the wait. */
#define FW_SMALL_COPY_BYTES 4096

/*
 * The synchronisation that waits for a blocking copy: the next call of the thread, a
 * ...StreamSynchronize that starts within 20 us, as framework copies of pageable memory do. FW_NONE: none.
 */
uint32_t fw_copy_sync(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t copy);

/* The blocking copy that a synchronisation belongs to (the inverse of fw_copy_sync); FW_NONE: none. */
uint32_t fw_sync_copy(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t sync);

/* Bytes that the call copied; -1: unknown, or no copy of the call is recorded. */
int64_t fw_copy_bytes(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t call);

#endif
