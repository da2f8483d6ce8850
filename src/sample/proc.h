#ifndef FW_SAMPLE_PROC_H
#define FW_SAMPLE_PROC_H
/* The host's side of processes: memory, CPU time, children, limits, from /proc below a root. */
#include "base/error.h"
#include "sample/values.h"

#include <stdint.h>

/* Bounded memory of the processes of the machine; one thread. */
struct fw_proc;

/* root: "/", or where another system's proc and sys are mounted. */
fw_status fw_proc_open(struct fw_proc **proc, const char *root, struct fw_error *err);

/*
 * Looks at all processes at now_ns (a steady clock). `tracked` are those to be asked about; each
 * process below one of them counts as a child of the nearest.
 */
fw_status fw_proc_scan(struct fw_proc *proc, const unsigned *tracked, size_t count, int64_t now_ns,
		       struct fw_error *err);

/*
 * Fills the host's values of `values` (FW_PROCESS_VALUE_COUNT) for a process that was tracked in the
 * last scan. CPU figures are of the time between the last two scans. name gets the command's name,
 * empty where there is no such process here; start is a number that differs for two processes that
 * had the same pid one after the other.
 */
void fw_proc_read(struct fw_proc *proc, unsigned pid, struct fw_value *values, char name[32],
		  uint64_t *start);

void fw_proc_close(struct fw_proc *proc);

#endif
