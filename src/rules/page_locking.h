#ifndef FW_RULES_PAGE_LOCKING_H
#define FW_RULES_PAGE_LOCKING_H
/* PyTorch's thread that copies each batch into page-locked memory, of which a loader has one. */
#include "trace/trace.h"

/*
 * The share of [start_ns, end_ns) in which that thread of the process ran, 0..1, of several loaders the
 * busiest; < 0: the trace has no samples of it.
 */
double fw_page_locking_share(const struct fw_trace *trace, uint32_t process, int64_t start_ns,
			     int64_t end_ns);

#endif
