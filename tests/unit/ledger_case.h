#ifndef FW_TESTS_LEDGER_CASE_H
#define FW_TESTS_LEDGER_CASE_H
/* Small traces written by hand for the tests of the ledger: one process, one GPU, many threads. */
#include "ledger/ledger.h"

#include <string.h>

struct ledger_case {
	struct fw_trace *trace;
	uint32_t process, device;
	struct fw_ledger *ledger;
};

static inline uint32_t case_text(struct ledger_case *c, const char *text)
{
	return fw_trace_intern(c->trace, text, strlen(text), NULL);
}

static inline void case_open(struct ledger_case *c)
{
	struct fw_trace *t;
	uint32_t file;

	*c = (struct ledger_case){ 0 };
	assert_int_equal(fw_trace_create(&c->trace, NULL), FW_OK);
	t = c->trace;
	file = fw_trace_add_files(t);
	t->files.rank[file] = t->files.world_size[file] = -1;
	t->files.epoch_ns[file] = INT64_MIN;
	c->process = fw_trace_process(t, file, case_text(c, "42"));
	c->device = fw_trace_device(t, file, 0);
}

static inline uint32_t case_thread(struct ledger_case *c, const char *tid)
{
	return fw_trace_thread(c->trace, c->process, case_text(c, tid));
}

static inline uint32_t case_call(struct ledger_case *c, uint32_t thread, const char *name,
				 int64_t start, int64_t end, int64_t corr)
{
	struct fw_trace_calls *calls = &c->trace->calls;
	uint32_t row = fw_trace_add_calls(c->trace);

	calls->start_ns[row] = start;
	calls->end_ns[row] = end;
	calls->corr[row] = corr;
	calls->thread[row] = thread;
	calls->name[row] = case_text(c, name);
	return row;
}

static inline uint32_t case_range(struct ledger_case *c, uint32_t thread, enum fw_range_kind kind,
				  int64_t start, int64_t end)
{
	static const char *const names[] = { "note",           "aten::op",
					     "step.py",        "DataLoader.__next__",
					     "ProfilerStep#1", "overhead" };
	struct fw_trace_ranges *ranges = &c->trace->ranges;
	uint32_t row = fw_trace_add_ranges(c->trace);

	ranges->start_ns[row] = start;
	ranges->end_ns[row] = end;
	ranges->thread[row] = thread;
	ranges->name[row] = case_text(c, names[kind]);
	ranges->kind[row] = (uint8_t)kind;
	return row;
}

/* A thread was not on a CPU. */
static inline void case_off_cpu(struct ledger_case *c, uint32_t thread, enum fw_off_cpu why,
				int64_t start, int64_t end)
{
	struct fw_trace_switches *switches = &c->trace->switches;
	uint32_t row = fw_trace_add_switches(c->trace);

	switches->start_ns[row] = start;
	switches->end_ns[row] = end;
	switches->thread[row] = thread;
	switches->why[row] = (uint8_t)why;
}

static inline uint32_t case_op(struct ledger_case *c, int64_t stream, int64_t start, int64_t end,
			       int64_t corr)
{
	struct fw_trace_ops *ops = &c->trace->ops;
	uint32_t row = fw_trace_add_ops(c->trace);

	ops->start_ns[row] = start;
	ops->end_ns[row] = end;
	ops->corr[row] = corr;
	ops->stream[row] = fw_trace_stream(c->trace, c->device, stream);
	ops->process[row] = ops->detail[row] = FW_NONE;
	return row;
}

static inline uint32_t case_kernel(struct ledger_case *c, int64_t stream, int64_t start,
				   int64_t end, int64_t corr)
{
	uint32_t row = case_op(c, stream, start, end, corr);

	c->trace->ops.name[row] = case_text(c, "kernel");
	c->trace->ops.kind[row] = FW_OP_KERNEL;
	c->trace->ops.owner[row] = FW_CLASS_COMPUTE;
	return row;
}

/* From pageable memory, so that its call blocks. */
static inline uint32_t case_copy(struct ledger_case *c, int64_t stream, int64_t start, int64_t end,
				 int64_t corr)
{
	uint32_t row = case_op(c, stream, start, end, corr), detail;

	detail = fw_trace_add_transfers(c->trace);
	c->trace->transfers.bytes[detail] = 4096;
	c->trace->transfers.direction[detail] = FW_COPY_HTOD;
	c->trace->transfers.src[detail] = FW_MEM_PAGEABLE;
	c->trace->transfers.dst[detail] = FW_MEM_DEVICE;
	c->trace->ops.detail[row] = detail;
	c->trace->ops.name[row] = case_text(c, "Memcpy HtoD (Pageable -> Device)");
	c->trace->ops.kind[row] = FW_OP_COPY;
	c->trace->ops.owner[row] = FW_CLASS_COPY_H2D;
	return row;
}

static inline void case_sync(struct ledger_case *c, enum fw_sync_kind kind, int64_t stream,
			     int64_t start, int64_t end, int64_t corr)
{
	struct fw_trace_syncs *syncs = &c->trace->syncs;
	uint32_t row = fw_trace_add_syncs(c->trace);

	syncs->start_ns[row] = start;
	syncs->end_ns[row] = end;
	syncs->corr[row] = corr;
	syncs->wait_corr[row] = FW_CORR_NONE;
	syncs->device[row] = c->device;
	syncs->stream_id[row] = stream;
	syncs->kind[row] = (uint8_t)kind;
}

/* A launch call of 5 ns and the kernel it launched. */
static inline void case_launch(struct ledger_case *c, uint32_t thread, int64_t call, int64_t start,
			       int64_t end, int64_t corr)
{
	case_call(c, thread, "cudaLaunchKernel", call, call + 5, corr);
	case_kernel(c, 7, start, end, corr);
}

/* The ledger of the device; times stay as written when the earliest is 0. */
static inline const struct fw_device_ledger *case_build(struct ledger_case *c,
							const struct fw_ledger_options *options)
{
	static const struct fw_ledger_options all = { .all = true };

	fw_trace_seal(c->trace);
	assert_int_equal(fw_ledger_build(c->trace, options ? options : &all, &c->ledger, NULL),
			 FW_OK);
	return &c->ledger->devices[0];
}

static inline void case_close(struct ledger_case *c)
{
	fw_ledger_destroy(c->ledger);
	fw_trace_destroy(c->trace);
}

#endif
