/* What the tables beside the ledger ask of it. */
#include "ledger/build.h"

uint32_t fw_last_op_ended(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			  int64_t t)
{
	const uint32_t *by_end = fw_device_work(ledger, device)->by_end;
	const int64_t *end_ns = ledger->trace->ops.end_ns;
	size_t low = 0, high = device->op_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (end_ns[by_end[mid]] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? by_end[low - 1] : FW_NONE;
}

/* True when the operation's call belongs to an earlier process, or to this one and began before t. */
static bool is_launched_before(const struct fw_ledger *ledger, uint32_t op, uint32_t process,
			       int64_t t)
{
	uint32_t call = ledger->call_of_op[op], owner = fw_call_process(ledger->trace, call);

	if (owner != process)
		return owner < process;
	return ledger->trace->calls.start_ns[call] < t;
}

uint32_t fw_first_op_launched(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			      uint32_t process, int64_t t)
{
	const struct fw_device_work *w = fw_device_work(ledger, device);
	size_t low = 0, high = w->launched;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (is_launched_before(ledger, w->by_launch[mid], process, t))
			low = mid + 1;
		else
			high = mid;
	}
	if (low == w->launched ||
	    fw_call_process(ledger->trace, ledger->call_of_op[w->by_launch[low]]) != process)
		return FW_NONE;
	return w->by_launch[low];
}

bool fw_thread_class(const struct fw_ledger *ledger, uint32_t thread, enum fw_class class_id,
		     struct fw_intervals *set)
{
	const struct fw_thread_work *w = &ledger->private->threads[thread];
	const struct fw_trace_calls *calls = &ledger->trace->calls;
	const struct fw_trace_ranges *ranges = &ledger->trace->ranges;

	for (size_t i = 0; i < w->call_count; i++) {
		uint32_t c = w->calls[i];

		if (fw_ledger_call_class(ledger, c) == class_id &&
		    !fw_intervals_add(set, calls->start_ns[c], calls->end_ns[c]))
			return false;
	}
	for (size_t i = 0; i < w->range_count; i++) {
		uint32_t r = w->ranges[i];

		if (fw_range_class(ranges->kind[r]) == class_id &&
		    !fw_intervals_add(set, ranges->start_ns[r], ranges->end_ns[r]))
			return false;
	}
	return true;
}

int64_t fw_idle_owned(const struct fw_device_ledger *device, int64_t start, int64_t end,
		      uint32_t classes)
{
	size_t low = 0, high = device->idle_count;
	int64_t sum = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (device->idle[mid].end_ns > start)
			high = mid;
		else
			low = mid + 1;
	}
	for (; low < device->idle_count && device->idle[low].start_ns < end; low++) {
		const struct fw_idle *piece = &device->idle[low];
		int64_t from = piece->start_ns > start ? piece->start_ns : start;
		int64_t to = piece->end_ns < end ? piece->end_ns : end;

		if (classes & 1u << piece->class_id && from < to)
			sum += to - from;
	}
	return sum;
}
