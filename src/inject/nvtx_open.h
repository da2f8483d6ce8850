#ifndef FW_INJECT_NVTX_OPEN_H
#define FW_INJECT_NVTX_OPEN_H
/*
 * NVTX ranges that are open. Pushed ones stand on a stack of their thread, which dies with it; started
 * ones in a table of the process. No lock, no allocation; what has no room is counted as dropped.
 * LIMIT: a range that is still open when the recording ends is not in it.
 */
#include "inject/nvtx_text.h"

#define FW_NVTX_STARTED 2048u /* ranges that can be started and not yet ended */

/* domain: what fw_nvtx_intern gave; NULL: the default one. */
void fw_nvtx_push(const char *domain, struct fw_nvtx_message message);

/* The newest range of that domain on this thread goes to the ring; none there: nothing happens. */
void fw_nvtx_pop(const char *domain);

/* The range's id: unique, never 0. */
uint64_t fw_nvtx_start(const char *domain, struct fw_nvtx_message message);

/* Any thread; an id that is not open does nothing. The range is recorded as the ending thread's. */
void fw_nvtx_end(uint64_t id);

void fw_nvtx_mark(const char *domain, struct fw_nvtx_message message);

/* A thread of this process gets a name. */
void fw_nvtx_name_thread(uint32_t tid, struct fw_nvtx_message message);

#endif
