#ifndef FW_IMPORT_KINETO_H
#define FW_IMPORT_KINETO_H
/*
 * Chrome JSON as PyTorch's profiler (Kineto) writes it -> rows of a trace. One pass over a window that
 * slides along the file; docs/design/import.md.
 */
#include "base/str.h"
#include "import/import.h"
#include "import/kineto_event.h"
#include "import/source.h"

/* What the text of a name says, worked out once a name. */
struct fw_name_facts {
	bool is_known, is_collective, is_input, is_step, is_container;
	uint8_t copy_owner; /* enum fw_class */
	uint8_t direction;  /* enum fw_copy_direction */
	uint8_t src, dst;   /* enum fw_memory_kind */
};

/* Properties of a GPU as the header lists them; the GPU may have no operation. */
struct fw_kineto_gpu {
	int64_t id, memory_bytes;
	int32_t cc, sms;
	uint32_t name, uuid; /* strings; 0: unknown */
	bool is_amd;
};

struct fw_kineto_label {
	uint32_t pid, tid, name; /* strings */
	bool is_thread;
};

struct fw_kineto_thread {
	char key[56]; /* pid, 0, tid */
	uint8_t len;  /* 0: free */
	uint32_t row;
};

#define FW_KINETO_THREADS 64

/* The state of reading one file. */
struct fw_kineto {
	struct fw_trace *trace;
	uint32_t file; /* row of files */
	const struct fw_import_options *options;
	struct fw_source *source;
	char *buffer;
	size_t cap, len, at; /* text in the buffer; where the cursor is */
	uint64_t offset;     /* of the buffer's first byte in the unpacked file */
	bool at_end;         /* the source has no more */
	int64_t base_ns;     /* baseTimeNanoseconds */
	bool has_base, has_header, is_amd, is_out_of_memory;
	bool is_execution_trace, has_events, has_seen_events, is_cut;
	bool is_bare;   /* the file is the array of events and nothing else */
	bool is_list;   /* the same, but its first element is no event */
	bool is_shaken; /* damage was skipped in this array: its records may not be where they seem */
	uint64_t reread_bytes;            /* looked at again after damage */
	uint64_t kineto_events;           /* events of a category that Kineto writes */
	struct fw_integrity flaws_before; /* of the files before this one */
	uint64_t first_flaw_offset;
	int64_t earliest_ns; /* of the start times that are not 0; INT64_MAX: none */
	size_t zero_starts;  /* rows that start at 0 and last */
	size_t first_op, first_call, first_range; /* rows of this file start here */
	struct fw_vec gpus;                       /* struct fw_kineto_gpu */
	struct fw_vec labels;                     /* struct fw_kineto_label */
	struct fw_vec names;                      /* struct fw_name_facts by string id */
	struct fw_str scratch;
	struct fw_kineto_thread threads[FW_KINETO_THREADS];
	size_t last_thread; /* the slot used last */
};

/* Reads the whole source into the trace as file row `file`. */
fw_status fw_kineto_import(struct fw_source *source, const struct fw_import_options *options,
			   uint32_t file, struct fw_trace *trace, struct fw_error *err);

/* Adds the rows of one event (kineto_rows.c). */
void fw_kineto_add(struct fw_kineto *k, const struct fw_event *event, uint64_t offset);

/* Notes a flaw at an offset of the unpacked file. */
void fw_kineto_flaw(struct fw_kineto *k, uint64_t *count, uint64_t offset);

/* The id of a text, unescaped and made valid UTF-8; what had to be mended is counted. */
uint32_t fw_kineto_intern(struct fw_kineto *k, const struct fw_lex_text *text, uint64_t offset);

const struct fw_name_facts *fw_kineto_name(struct fw_kineto *k, uint32_t name);

/* The value of a key beside traceEvents (kineto_header.c). */
void fw_kineto_read_header(struct fw_kineto *k, struct fw_lex *lex, const struct fw_lex_text *key);

/* Drops what starts at 0 because its time was never filled in. */
void fw_kineto_drop_unfilled(struct fw_kineto *k);

/* Names the threads and processes that have rows. */
void fw_kineto_name_threads(struct fw_kineto *k);

/* Gives the devices of this file what the header said of them. */
void fw_kineto_name_devices(struct fw_kineto *k);

#endif
