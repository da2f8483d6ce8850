/* Marks -> steps. */
#include "rules/steps.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct fw_step *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The marks of one kind of the device's nth process, each as a step without an end. */
static bool add_marks(const struct fw_ledger *ledger, size_t device, const struct fw_rows *marks,
		      enum fw_range_kind kind, struct fw_vec *steps)
{
	const struct fw_trace_ranges *ranges = &ledger->trace->ranges;
	const struct fw_window *w = &ledger->devices[device].window;

	for (size_t i = 0; i < marks->count; i++) {
		uint32_t row = marks->rows[i];
		struct fw_step *step;

		if (ranges->kind[row] != kind || ranges->end_ns[row] <= w->start_ns ||
		    ranges->start_ns[row] >= w->end_ns)
			continue;
		step = fw_vec_push(steps);
		if (!step)
			return false;
		step->start_ns = ranges->start_ns[row];
	}
	return true;
}

/* Each ends where the next begins; the last has no known end and is left out. */
static void close_steps(struct fw_vec *steps)
{
	struct fw_step *list = steps->data;

	if (!steps->len)
		return;
	qsort(list, steps->len, sizeof(*list), by_start);
	for (size_t i = 0; i + 1 < steps->len; i++)
		list[i].end_ns = list[i + 1].start_ns;
	steps->len--;
}

static bool collect(const struct fw_ledger *ledger, size_t device, const struct fw_host *host,
		    enum fw_range_kind kind, struct fw_vec *steps)
{
	struct fw_rows marks;

	for (size_t p = 0; fw_host_marks(host, device, p, &marks); p++) {
		struct fw_vec found = FW_VEC(struct fw_step);

		if (!add_marks(ledger, device, &marks, kind, &found)) {
			fw_vec_release(&found);
			return false;
		}
		if (found.len > steps->len) {
			fw_vec_release(steps);
			*steps = found;
		} else {
			fw_vec_release(&found);
		}
	}
	close_steps(steps);
	return true;
}

bool fw_steps_of(const struct fw_ledger *ledger, size_t device, const struct fw_host *host,
		 struct fw_vec *steps, bool *is_annotated)
{
	*steps = (struct fw_vec)FW_VEC(struct fw_step);
	*is_annotated = true;
	if (!collect(ledger, device, host, FW_RANGE_STEP, steps))
		return false;
	if (steps->len)
		return true;
	*is_annotated = false;
	return collect(ledger, device, host, FW_RANGE_INPUT, steps);
}
