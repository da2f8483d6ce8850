#ifndef FW_LEDGER_LEDGER_H
#define FW_LEDGER_LEDGER_H
/*
 * Trace -> ledger: every nanosecond of a device's window has one owner (docs/ledger.md). Immutable
 * after fw_ledger_build; borrows the trace, which must outlive it.
 */
#include "trace/trace.h"

struct fw_ledger_options {
	bool all;        /* window: first to last operation of each device */
	bool has_window; /* window given: [window_start_ns, window_end_ns) in trace time */
	int64_t window_start_ns, window_end_ns;
};

/* Whole-trace figures of a device, as the ground-truth tables define them. */
struct fw_device_totals {
	int64_t kernels, memsets, streams;
	int64_t kernel_busy_ns; /* union of kernel intervals, collectives included */
	int64_t kernel_sum_ns;
	int64_t gpu_busy_ns; /* union of all operations */
	int64_t span_ns;     /* last end - first start */
	int64_t longest_gap_ns;
	/* Host calls named ...Synchronize of the device's file, each once by correlation id. */
	int64_t syncs, sync_ns;
};

/* Copies of one kind, e.g. "HtoD (Pageable -> Device)". */
struct fw_copy_total {
	const char *kind; /* the record's name without the word Memcpy */
	int64_t count;
	int64_t bytes; /* -1: unknown */
};

enum fw_window_source {
	FW_WINDOW_ALL,     /* --all */
	FW_WINDOW_USER,    /* --window */
	FW_WINDOW_STEPS,   /* steady annotated steps */
	FW_WINDOW_PATTERN, /* steady repetitions of the kernel sequence */
	FW_WINDOW_FALLBACK /* fewer than 3 steps found: the whole trace, and the report says so */
};

struct fw_window {
	int64_t start_ns, end_ns;
	enum fw_window_source source;
	int64_t steps;         /* steady steps inside; -1: unknown */
	int64_t dropped_steps; /* leading steps left out as warm-up */
};

/* A piece of an idle gap, and what the host did then. Busy time is not listed. */
struct fw_idle {
	int64_t start_ns, end_ns;
	enum fw_class class_id;
	uint32_t next_op; /* X: the operation that ends the gap; FW_NONE at the window's end */
	uint32_t call;    /* the call that owns the piece; FW_NONE: not a call */
	uint32_t range;   /* the operator, Python function or loader wait; FW_NONE */
	uint32_t off_cpu; /* the row of switches, of host-not-running; FW_NONE */
};

/* Compute nanoseconds by how full the GPU can have been: a model, never a measurement. */
enum fw_fill {
	FW_FILL_GRID_LIMITED, /* fewer blocks than the GPU holds at once */
	FW_FILL_TAIL,         /* the share of the last, partial wave */
	FW_FILL_OCCUPANCY,    /* enough blocks; theoretical occupancy under 50 % */
	FW_FILL_FULL,
	FW_FILL_UNKNOWN, /* no launch configuration, no device properties, or several kernels at once */
	FW_FILL_COUNT
};

enum fw_counter {
#define FW_COUNTER(constant, name, text) FW_COUNTER_##constant,
#include "ledger/counters.def"
#undef FW_COUNTER
	FW_COUNTER_COUNT
};

/* The mean of a counter's samples, weighted by time. */
struct fw_counter_mean {
	double value;       /* percent, if there are samples */
	int64_t covered_ns; /* the time of which they tell */
	int64_t samples;    /* 0: unknown */
};

/* All launches of one kernel with one configuration in the window; by total time, longest first. */
struct fw_kernel_row {
	uint32_t name, shape; /* shape FW_NONE: unknown */
	int64_t count, total_ns;
	int64_t min_ns, max_ns;
	double occupancy;      /* theoretical, 0..1; < 0: unknown */
	uint32_t limiters;     /* bits of enum fw_limiter (fullwarp/occupancy.h); 0: unknown */
	int32_t blocks_per_sm; /* -1: unknown */
	double waves;          /* grid blocks / (SMs x blocks a SM); < 0: unknown */
	enum fw_fill fill;     /* where most of its time went */
	/* Of samples wholly inside times in which nothing but this row ran. */
	struct fw_counter_mean measured[FW_COUNTER_COUNT];
};

struct fw_device_ledger {
	uint32_t device;
	struct fw_device_totals totals;
	const struct fw_copy_total *copies;
	size_t copy_count;
	struct fw_window window;
	int64_t ns[FW_CLASS_COUNT]; /* sums to window.end_ns - window.start_ns */
	int64_t kernel_busy_ns;     /* in the window, collectives included */
	int64_t gpu_busy_ns;        /* in the window */
	const struct fw_idle *idle; /* in order of time; sums to the idle classes of ns */
	size_t idle_count;
	int64_t fill_ns[FW_FILL_COUNT]; /* sums to ns[FW_CLASS_COMPUTE] */
	const struct fw_kernel_row *kernels;
	size_t kernel_count;
	uint32_t counter_source; /* string: "pm-sampling", "gpm"; 0: no counters were sampled */
	struct fw_counter_mean measured[FW_COUNTER_COUNT]; /* of the window */
	const uint32_t *ops; /* the device's operations by start time */
	size_t op_count;
};

struct fw_ledger {
	const struct fw_trace *trace;
	struct fw_device_ledger *devices; /* only those with operations */
	size_t device_count;
	const uint32_t *call_of_op; /* for each operation its launch call, or FW_NONE */
	const uint32_t *nth_of_op; /* its place among the call's operations on its device, from 0 */
	struct fw_ledger_private *private;
};

/*
 * FW_ERR_ARGUMENT for an empty or reversed window; FW_ERR_FORMAT if the trace has no operations;
 * FW_ERR_INTERNAL if the classes did not sum to the window.
 */
fw_status fw_ledger_build(const struct fw_trace *trace, const struct fw_ledger_options *options,
			  struct fw_ledger **ledger, struct fw_error *err);
void fw_ledger_destroy(struct fw_ledger *ledger);

/* The index in ledger->devices of a row of trace->devices; SIZE_MAX: it has no operations. */
size_t fw_ledger_of_device(const struct fw_ledger *ledger, uint32_t device);

/* How a host call counts in the ledger's order of causes: sync, blocking-copy, one-time, alloc or api. */
enum fw_class fw_ledger_call_class(const struct fw_ledger *ledger, uint32_t call);

/* "grid-limited", "tail", "occupancy", "full", "unknown" */
const char *fw_fill_id(enum fw_fill fill);
const char *fw_fill_text(enum fw_fill fill); /* one line of explanation */

#endif
