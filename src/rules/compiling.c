/* Ranges that compilation leaves in a trace. */
#include "rules/compiling.h"

#include <string.h>

/* Names that torch.compile gives to the ranges in which it compiles; cached graphs run under others. */
static bool is_compile(const char *name)
{
	static const char *const parts[] = { "entire_frame_compile", "backend_compile",
					     "compile_inner",        "fx_codegen_and_compile",
					     "async_compile.wait",   "compile_file",
					     "dynamo_timed" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

struct job {
	const struct fw_trace *trace;
	int64_t end_ns;
	struct fw_intervals *set;
	int64_t compilations;
};

static bool add_ranges(struct job *job, const struct fw_rows *rows)
{
	const struct fw_trace_ranges *ranges = &job->trace->ranges;
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t row = rows->rows[i];

		if (ranges->start_ns[row] >= job->end_ns ||
		    (ranges->kind[row] != FW_RANGE_COMPILE &&
		     !is_compile(fw_trace_text(job->trace, ranges->name[row]))))
			continue;
		if (!fw_intervals_add(job->set, ranges->start_ns[row], ranges->end_ns[row]))
			return false;
		/* Compile ranges nest; the outermost is one compilation. */
		job->compilations += ranges->start_ns[row] >= end;
		if (ranges->end_ns[row] > end)
			end = ranges->end_ns[row];
	}
	return true;
}

bool fw_compiling(const struct fw_ledger *ledger, const struct fw_host *host, size_t device,
		  int64_t end_ns, struct fw_intervals *set, int64_t *compilations)
{
	struct job job = { .trace = ledger->trace, .end_ns = end_ns, .set = set };
	struct fw_rows rows;

	for (size_t p = 0; fw_host_marks(host, device, p, &rows); p++)
		if (!add_ranges(&job, &rows))
			return false;
	for (size_t p = 0; fw_host_operators(host, device, p, &rows); p++)
		if (!add_ranges(&job, &rows))
			return false;
	fw_intervals_merge(set);
	*compilations = job.compilations;
	return true;
}
