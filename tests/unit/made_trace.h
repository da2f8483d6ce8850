#ifndef FW_TEST_MADE_TRACE_H
#define FW_TEST_MADE_TRACE_H
/* Small traces made by hand. Times are in microseconds; every file has process "1" with threads by name. */
#include "ledger/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What a test leaves out of a record is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define US 1000

struct made_op {
	int64_t start, end, corr; /* corr 0: none */
	const char *name;         /* NULL: "kernel" */
	enum fw_class owner;      /* compute if left out */
	int device, stream;
	bool is_pageable;
	const char *process; /* NULL: the record names none */
	uint32_t file;
};

struct made_call {
	int64_t start, end, corr;
	const char *name;             /* NULL: cudaLaunchKernel */
	const char *process, *thread; /* NULL: "1", "main" */
	const char *graph;
	uint32_t file;
};

struct made_range {
	int64_t start, end;
	enum fw_range_kind kind;
	const char *name;
	const char *process, *thread;
	uint32_t file;
};

static inline uint32_t made_string(struct fw_trace *t, const char *text)
{
	return text ? fw_trace_intern(t, text, strlen(text), NULL) : 0;
}

static inline uint32_t made_thread(struct fw_trace *t, uint32_t file, const char *process,
				   const char *thread)
{
	uint32_t p = fw_trace_process(t, file, made_string(t, process ? process : "1"));

	return fw_trace_thread(t, p, made_string(t, thread ? thread : "main"));
}

static inline void made_range(struct fw_trace *t, struct made_range r)
{
	uint32_t row = fw_trace_add_ranges(t);

	t->ranges.start_ns[row] = r.start * US;
	t->ranges.end_ns[row] = r.end * US;
	t->ranges.kind[row] = (uint8_t)r.kind;
	t->ranges.name[row] = made_string(t, r.name ? r.name : "range");
	t->ranges.thread[row] = made_thread(t, r.file, r.process, r.thread);
}

/* A trace whose time starts at 0, with two files. */
static inline struct fw_trace *made_trace(void)
{
	struct fw_trace *t;

	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	fw_trace_add_files(t);
	fw_trace_add_files(t);
	made_range(t, (struct made_range){ 0, 1, FW_RANGE_OTHER, "start" });
	return t;
}

static inline uint32_t made_call(struct fw_trace *t, struct made_call c)
{
	uint32_t row = fw_trace_add_calls(t);

	t->calls.start_ns[row] = c.start * US;
	t->calls.end_ns[row] = c.end * US;
	t->calls.corr[row] = c.corr ? c.corr : FW_CORR_NONE;
	t->calls.name[row] = made_string(t, c.name ? c.name : "cudaLaunchKernel");
	t->calls.graph[row] = made_string(t, c.graph);
	t->calls.thread[row] = made_thread(t, c.file, c.process, c.thread);
	return row;
}

static inline enum fw_op_kind made_kind(enum fw_class owner)
{
	if (owner == FW_CLASS_COMPUTE || owner == FW_CLASS_COLLECTIVE)
		return FW_OP_KERNEL;
	if (owner == FW_CLASS_GRAPH_OPAQUE)
		return FW_OP_GRAPH;
	return owner == FW_CLASS_MEMSET ? FW_OP_MEMSET : FW_OP_COPY;
}

static inline uint32_t made_op(struct fw_trace *t, struct made_op o)
{
	uint32_t row = fw_trace_add_ops(t), device = fw_trace_device(t, o.file, o.device);

	t->ops.start_ns[row] = o.start * US;
	t->ops.end_ns[row] = o.end * US;
	t->ops.corr[row] = o.corr ? o.corr : FW_CORR_NONE;
	t->ops.stream[row] = fw_trace_stream(t, device, o.stream);
	t->ops.name[row] = made_string(t, o.name ? o.name : "kernel");
	t->ops.owner[row] = (uint8_t)o.owner;
	t->ops.kind[row] = (uint8_t)made_kind(o.owner);
	t->ops.detail[row] = FW_NONE;
	t->ops.process[row] = FW_NONE;
	if (o.process)
		t->ops.process[row] = fw_trace_process(t, o.file, made_string(t, o.process));
	if (t->ops.kind[row] == FW_OP_COPY || t->ops.kind[row] == FW_OP_MEMSET) {
		uint32_t detail = fw_trace_add_transfers(t);

		t->transfers.bytes[detail] = 100;
		t->transfers.src[detail] = o.is_pageable ? FW_MEM_PAGEABLE : FW_MEM_PINNED;
		t->ops.detail[row] = detail;
	}
	return row;
}

/* Seals the trace and builds its ledger over the whole of it. */
static inline struct fw_ledger *made_ledger(struct fw_trace *t)
{
	struct fw_ledger_options options = { .all = true };
	struct fw_ledger *ledger;
	struct fw_error err = { 0 };

	fw_trace_seal(t);
	if (fw_ledger_build(t, &options, &ledger, &err))
		fail_msg("%s", err.message);
	return ledger;
}

static inline void made_destroy(struct fw_ledger *ledger)
{
	struct fw_trace *t = (struct fw_trace *)ledger->trace;

	fw_ledger_destroy(ledger);
	fw_trace_destroy(t);
}

#endif
