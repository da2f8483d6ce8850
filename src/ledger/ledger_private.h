#ifndef FW_LEDGER_LEDGER_PRIVATE_H
#define FW_LEDGER_LEDGER_PRIVATE_H
/* What the files of the ledger share. Built by fw_ledger_build, read-only afterwards. */
#include "ledger/intervals.h"
#include "ledger/ledger.h"

/* A stretch of a thread's time and what it was doing: the first class of the contract's order. */
struct fw_span {
	int64_t start_ns, end_ns;
	uint32_t item; /* row of ranges, of calls, or, for host-not-running, of switches */
	enum fw_class class_id;
	bool is_range;
};

/* Spans in order of time that do not overlap. */
struct fw_timeline {
	struct fw_span *spans;
	size_t len;
};

struct fw_thread_work {
	const uint32_t *calls, *ranges, *switches; /* its rows, by start */
	size_t call_count, range_count, switch_count;
	struct fw_timeline host;   /* all that explains its time but Python */
	struct fw_timeline python; /* Python functions, wherever host has something or not */
	uint64_t ops, kernels;     /* launched by it, on all devices */
};

/* Rows of the table of counters: one counter of one device, by time, without overlap. */
struct fw_counter_rows {
	uint32_t *rows;
	size_t count;
};

/* Beside each struct fw_device_ledger, at the same index. Ties keep the order of rows. */
struct fw_device_work {
	const uint32_t *by_end;    /* by end, then start of the launch call (none first) */
	const uint32_t *by_launch; /* those with a call, by process, start of the call, start */
	size_t launched;
	struct fw_intervals blind; /* times in which a process of the device was not recorded */
	struct fw_counter_rows counters[FW_COUNTER_COUNT];
};

enum fw_op_flag {
	FW_OP_FIRST =
		1, /* its call launched a kernel (or graph) on this device for the first time */
	FW_OP_ALONE = 2 /* the only operation of its call on this device */
};

struct fw_ledger_private {
	struct fw_arena arena;
	struct fw_vec kept;             /* void *: what fw_keep took */
	struct fw_thread_work *threads; /* one a row of trace->threads */
	struct fw_device_work *devices; /* one a device of the ledger */
	const uint32_t
		*ledger_of_device; /* row of trace->devices -> index in ledger->devices, FW_NONE */
	const uint8_t *call_class; /* enum fw_class of each call */
	const uint8_t *op_flags;   /* bits of enum fw_op_flag */
};

static inline struct fw_device_work *fw_device_work(const struct fw_ledger *ledger,
						    const struct fw_device_ledger *device)
{
	return &ledger->private->devices[device - ledger->devices];
}

static inline uint32_t fw_call_process(const struct fw_trace *trace, uint32_t call)
{
	return trace->threads.process[trace->calls.thread[call]];
}

/* The last operation of the device that ended at or before t; FW_NONE. O(log n). */
uint32_t fw_last_op_ended(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			  int64_t t);

/*
 * The operation of the device whose launch call, on any thread of the process, is the first to begin
 * at or after t; FW_NONE. O(log n).
 */
uint32_t fw_first_op_launched(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			      uint32_t process, int64_t t);

/*
 * Adds the calls or ranges of the thread that are of a class, whatever else covers them, to set
 * (not merged). False when memory is out.
 */
bool fw_thread_class(const struct fw_ledger *ledger, uint32_t thread, enum fw_class class_id,
		     struct fw_intervals *set);

/*
 * Idle nanoseconds of the device in [start, end) that any of the classes own (bit 1 << class).
 * O(log n + pieces).
 */
int64_t fw_idle_owned(const struct fw_device_ledger *device, int64_t start, int64_t end,
		      uint32_t classes);

/* Sorts rows by compare, which sees ctx; equal rows keep their order. False when memory is out. */
bool fw_sort_rows(uint32_t *rows, size_t count,
		  int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);

/* Finds the samples of every device and the means of its window; before the kernel tables. */
fw_status fw_ledger_counters(struct fw_ledger *ledger, struct fw_error *err);

/* The kernel table, and with it the fill table; called last, when everything else is in place. */
fw_status fw_ledger_kernels(struct fw_ledger *ledger, struct fw_device_ledger *device,
			    struct fw_error *err);

/* Fills fill_ns and the fill of each of the device's kernel rows. */
fw_status fw_ledger_fill(struct fw_ledger *ledger, struct fw_device_ledger *device,
			 struct fw_kernel_row *rows, struct fw_error *err);

#endif
