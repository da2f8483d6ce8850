#ifndef FW_TRACE_RECORDING_FILE_H
#define FW_TRACE_RECORDING_FILE_H
/* What reading one file of a recording keeps, and who takes which record. One thread. */
#include "base/map.h"
#include "trace/recording.h"
#include "trace/recording_clock.h"
#include "trace/trace.h"

/* No record is longer: 7 days. What is, was never filled in. */
#define FW_REC_LONGEST_NS (INT64_C(7) * 24 * 3600 * 1000000000)

/* Times are below; see recording_chunks.c. */
#define FW_REC_LATEST_NS (INT64_C(1) << 61)

/* Machines whose files share CLOCK_MONOTONIC. */
struct fw_rec_machine {
	uint8_t boot_id[16];
	int64_t offset_ns; /* Unix time less CLOCK_MONOTONIC */
};

/* A process that has a file of its own. */
struct fw_rec_owner {
	uint32_t machine, pid;
	int64_t start_mono;
	uint32_t process; /* row */
	uint32_t before;  /* the one of the same pid that was added before: index + 1; 0: none */
};

struct fw_rec_owners {
	struct fw_vec machines; /* struct fw_rec_machine */
	struct fw_vec list;     /* struct fw_rec_owner */
	struct fw_map last;     /* (machine, pid) -> index in list + 1 of the one added last */
	struct fw_map devices;  /* string of a UUID -> the first row of devices that has it + 1 */
};

/* A synchronisation that waited for an event. */
struct fw_rec_wait {
	uint32_t sync; /* row */
	uint32_t event;
	uint64_t event_sync;
};

struct fw_rec_reader {
	struct fw_trace *trace;
	struct fw_rec_owners *owners;
	struct fw_rec_file header;
	uint32_t file;       /* row */
	uint32_t machine;    /* index in owners->machines */
	uint32_t process;    /* row; FW_NONE: the file is about no single process */
	uint64_t offset;     /* of the chunk that is read, for flaws */
	struct fw_map ids;   /* see recording_file.c */
	struct fw_vec waits; /* struct fw_rec_wait */
	struct fw_rec_mapping cupti;
	struct fw_trace_mark start; /* where the file's rows begin */
	bool is_selected;           /* only some kernels are named */
	bool is_ended, is_out_of_memory;
};

/* The row of a process: that of its own file, else one of this file. FW_NONE: memory is out. */
uint32_t fw_rec_process(struct fw_rec_reader *r, uint32_t pid, int64_t time_mono);

/* Rows by the numbers of the file; FW_NONE, and noted, when memory is out. */
uint32_t fw_rec_thread(struct fw_rec_reader *r, uint32_t process, uint32_t tid);
uint32_t fw_rec_stream(struct fw_rec_reader *r, uint32_t device, uint32_t stream);

/* The trace's string of a name; that of a kernel is demangled. */
uint32_t fw_rec_name(struct fw_rec_reader *r, uint32_t id);
uint32_t fw_rec_kernel_name(struct fw_rec_reader *r, uint32_t id);

/* The string of a number, or of a word. */
uint32_t fw_rec_number(struct fw_rec_reader *r, uint64_t number);
uint32_t fw_rec_text(struct fw_rec_reader *r, const char *text);

/* Notes a row that could not be added; true when it was. */
bool fw_rec_is_row(struct fw_rec_reader *r, uint32_t row);

/* True when times of the host or of CUPTI can be used, as they are in *start and *end; else counted. */
bool fw_rec_span_mono(struct fw_rec_reader *r, int64_t start, int64_t end);
bool fw_rec_span_cupti(struct fw_rec_reader *r, uint64_t start, uint64_t end);

/* True when the file is about one process, as its GPU records ask for; else counted. */
bool fw_rec_has_process(struct fw_rec_reader *r);

/* Takes the records of a chunk's payload. */
void fw_rec_take_all(struct fw_rec_reader *r, const unsigned char *payload, uint32_t size);

/* One record each: recording_gpu.c, recording_host.c, recording_file.c. */
#define FW_RECORD(number, constant, name)                                                          \
	void fw_rec_take_##name(struct fw_rec_reader *r, const struct fw_rec_##name *record);
#include "trace/recording.def"
#undef FW_RECORD

/*
 * Once the whole file is read: events and waits, graphs and launches, allocations and threads are
 * paired, times put on the common line. FW_ERR_FORMAT where GPU times cannot be placed.
 */
fw_status fw_rec_pair(struct fw_rec_reader *r, struct fw_error *err);
fw_status fw_rec_place(struct fw_rec_reader *r, struct fw_error *err);

#endif
