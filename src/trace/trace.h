#ifndef FW_TRACE_TRACE_H
#define FW_TRACE_TRACE_H
/*
 * A trace in memory: columns (structure of arrays) filled by a reader, read by the ledger and the
 * rules. Built by one thread; immutable and shareable after fw_trace_seal().
 * All times are int64_t nanoseconds from the trace's start.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "trace/columns.h"

#include <stdbool.h>
#include <stdint.h>

#define FW_NONE      UINT32_MAX
#define FW_CORR_NONE INT64_MIN

enum fw_op_kind { FW_OP_KERNEL, FW_OP_COPY, FW_OP_MEMSET, FW_OP_GRAPH };

enum fw_copy_direction {
	FW_COPY_UNKNOWN,
	FW_COPY_HTOD,
	FW_COPY_DTOH,
	FW_COPY_HTOA,
	FW_COPY_ATOH,
	FW_COPY_ATOA,
	FW_COPY_ATOD,
	FW_COPY_DTOA,
	FW_COPY_DTOD,
	FW_COPY_HTOH,
	FW_COPY_PTOP
};

enum fw_memory_kind {
	FW_MEM_UNKNOWN,
	FW_MEM_PAGEABLE,
	FW_MEM_PINNED,
	FW_MEM_DEVICE,
	FW_MEM_ARRAY,
	FW_MEM_MANAGED,
	FW_MEM_DEVICE_STATIC,
	FW_MEM_MANAGED_STATIC
};

enum fw_range_kind {
	FW_RANGE_OTHER,    /* containers: annotations, step markers, NVTX: they own nothing */
	FW_RANGE_OPERATOR, /* framework operator */
	FW_RANGE_PYTHON,   /* Python function */
	FW_RANGE_INPUT,    /* wait for the data loader */
	FW_RANGE_STEP,     /* ProfilerStep#N */
	FW_RANGE_OVERHEAD, /* the profiler's own work */
	FW_RANGE_COMPILE,  /* torch.compile at work */
	FW_RANGE_CALL_SITE /* a container: the line of a slow .item(), .cpu()..., "file:line item()" */
};

enum fw_sync_kind {
	FW_SYNC_UNKNOWN,
	FW_SYNC_EVENT,
	FW_SYNC_STREAM_WAIT,
	FW_SYNC_STREAM,
	FW_SYNC_CONTEXT
};

enum fw_off_cpu { FW_OFF_BLOCKED, FW_OFF_RUNNABLE };

/* Why nothing, or not everything, was recorded; the order of enum fw_rec_loss_reason. */
enum fw_loss_reason {
	FW_LOSS_DROPPED_GPU,
	FW_LOSS_DROPPED_HOST,
	FW_LOSS_PAUSED,
	FW_LOSS_OTHER_PROFILER,
	FW_LOSS_SIZE,
	FW_LOSS_DISK,
	FW_LOSS_REASONS
};

/* The values of CUpti_ActivityStreamFlag. */
enum fw_stream_flag {
	FW_STREAM_UNKNOWN,
	FW_STREAM_BLOCKING,     /* waits for the legacy default stream, and it for this one */
	FW_STREAM_NON_BLOCKING, /* does not */
	FW_STREAM_DEFAULT       /* the legacy default stream itself */
};

/* What a file of the table of files is: a trace, or a part of a recording. */
enum fw_file_kind {
	FW_FILE_TRACE,
	FW_FILE_PROCESS,
	FW_FILE_COUNTERS,
	FW_FILE_HOST,
	FW_FILE_PYTHON,
	FW_FILE_KINDS
};

enum fw_class {
#define FW_CLASS(constant, id, group, text) FW_CLASS_##constant,
#include "trace/classes.def"
#undef FW_CLASS
	FW_CLASS_COUNT
};

enum fw_blind_spot {
#define FW_BLIND(constant, id, text, remedy, recording) FW_BLIND_##constant,
#include "trace/blind_spots.def"
#undef FW_BLIND
	FW_BLIND_COUNT
};

enum fw_trace_source { FW_SOURCE_NONE, FW_SOURCE_KINETO, FW_SOURCE_NSYS, FW_SOURCE_RECORDING };

/* Every table: `len` rows, one array a column, e.g. trace->ops.start_ns[i]. */
#define FW_TABLE(name)                                                                             \
	struct fw_trace_##name {                                                                   \
		size_t len, cap;
#define FW_COL(type, name) type *name;
#define FW_END                                                                                     \
	}                                                                                          \
	;
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

/* What had to be skipped or repaired while reading; counts over all files. */
struct fw_integrity {
	uint64_t events; /* records read and kept */
#define FW_FLAW(name, partial, text) uint64_t name;
#include "trace/integrity.def"
#undef FW_FLAW
	/* Byte offset (uncompressed) of the first flaw; UINT64_MAX: none. */
	uint64_t first_flaw_offset;
};

/* Interned strings: equal bytes have equal ids; id 0 is "". */
struct fw_strings {
	struct fw_arena arena;
	struct fw_vec entries; /* struct fw_string */
	uint32_t recent
		[1024];  /* ids of strings that came lately, by length and a few bytes; 0: none */
	uint32_t *slots; /* open addressing: id + 1, 0: free */
	size_t slot_cap;
};

struct fw_string {
	const char *text; /* NUL-terminated; may hold NULs inside only if the source did */
	uint32_t len, hash;
};

struct fw_trace {
	enum fw_trace_source source;
	struct fw_integrity integrity;
	uint32_t blind_spots; /* bit 1 << enum fw_blind_spot */
	int64_t epoch_ns;     /* Unix time of t = 0; INT64_MIN: unknown */
	struct fw_strings strings;
	struct fw_columns columns;
	struct fw_map index; /* lookups while building: see trace.c */
#define FW_TABLE(name) struct fw_trace_##name name;
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
};

/* An empty trace; fw_trace_destroy accepts NULL. */
fw_status fw_trace_create(struct fw_trace **trace, struct fw_error *err);
void fw_trace_destroy(struct fw_trace *trace);

/*
 * From here on, columns past so many bytes of memory go to temporary files (base/spill.h);
 * 0: no limit. For a trace without rows.
 */
void fw_trace_limit_memory(struct fw_trace *trace, uint64_t bytes);

/* The error of a row that could not be added (FW_NONE). */
fw_status fw_trace_fail_growth(const struct fw_trace *trace, struct fw_error *err);

/*
 * One more row, zeroed, in the table of that name; its index, or FW_NONE when memory is out or the
 * table holds 2^32 - 2 rows. Column pointers of that table may move.
 */
#define FW_TABLE(name) uint32_t fw_trace_add_##name(struct fw_trace *trace);
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

/*
 * Takes out the rows from `from` on whose byte in drop (one a row, from `from`) is not 0; the others
 * close up in their order. Only for tables whose rows nothing refers to: ops, calls, ranges, ...
 */
#define FW_TABLE(name)                                                                             \
	void fw_trace_filter_##name(struct fw_trace *trace, size_t from, const uint8_t *drop);
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

/* How many rows each table of events holds. */
struct fw_trace_mark {
#define FW_TABLE(name)
#define FW_EVENTS(name) size_t name;
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
};

struct fw_trace_mark fw_trace_mark(const struct fw_trace *trace);

/* Takes out the events since the mark. */
void fw_trace_forget(struct fw_trace *trace, const struct fw_trace_mark *mark);

/* Moves the times of the events between two marks. */
void fw_trace_shift(struct fw_trace *trace, const struct fw_trace_mark *from,
		    const struct fw_trace_mark *to, int64_t by);

/* The earliest start of an operation, call or range between two marks; INT64_MAX: there is none. */
int64_t fw_trace_earliest(const struct fw_trace *trace, const struct fw_trace_mark *from,
			  const struct fw_trace_mark *to);

/* The id of a string; 0 for "" and, with *failed set (may be NULL), when memory is out. */
uint32_t fw_trace_intern(struct fw_trace *trace, const char *text, size_t len, bool *failed);

/* The text of an id; never NULL, lives as long as the trace. */
const char *fw_trace_text(const struct fw_trace *trace, uint32_t id);

/* Rows found by their keys, created when absent; FW_NONE when memory is out. */
uint32_t fw_trace_device(struct fw_trace *trace, uint32_t file, int64_t id);
uint32_t fw_trace_process(struct fw_trace *trace, uint32_t file, uint32_t pid);
uint32_t fw_trace_thread(struct fw_trace *trace, uint32_t process, uint32_t tid);
uint32_t fw_trace_stream(struct fw_trace *trace, uint32_t device, int64_t id);

/* From here on that number in that file names a device that exists already. False: memory is out. */
bool fw_trace_alias_device(struct fw_trace *trace, uint32_t file, int64_t id, uint32_t row);

/* The same, but never created: FW_NONE when absent. */
uint32_t fw_trace_find_process(const struct fw_trace *trace, uint32_t file, uint32_t pid);
uint32_t fw_trace_find_thread(const struct fw_trace *trace, uint32_t process, uint32_t tid);

/* The row of shapes equal to *shape, which is added when absent; FW_NONE when memory is out. */
struct fw_shape {
	uint32_t grid[3], block[3];
	int32_t registers;
	int64_t smem_static, smem_dynamic, smem_total;
	uint32_t cluster;
};
uint32_t fw_trace_shape(struct fw_trace *trace, const struct fw_shape *shape);

/*
 * Counts in the integrity what only the whole tells: calls recorded twice, and operations that start
 * before every call with their id in their file. Call once, before sealing.
 */
fw_status fw_trace_audit(struct fw_trace *trace, struct fw_error *err);

/*
 * Moves all times so that the earliest record starts at 0, sets the blind spots that follow from
 * what is absent, and drops the build-time lookups. Call once, after the last row. epoch_ns, when the
 * reader set it, moves along.
 */
void fw_trace_seal(struct fw_trace *trace);

/* Device of an operation. */
static inline uint32_t fw_op_device(const struct fw_trace *trace, uint32_t op)
{
	return trace->streams.device[trace->ops.stream[op]];
}

/* Id ("copy-h2d"), description and group of a class; static storage. */
const char *fw_class_id(enum fw_class c);
const char *fw_class_text(enum fw_class c);
bool fw_class_is_idle(enum fw_class c);

const char *fw_blind_spot_id(enum fw_blind_spot b);
const char *fw_blind_spot_text(enum fw_blind_spot b);

/* How to capture it the next time, the way this trace was captured. */
const char *fw_blind_spot_remedy(const struct fw_trace *trace, enum fw_blind_spot b);

#endif
