#include "report/lanes.h"

/* Whether the slice nests into what is open in the lane, and opens it there. */
static bool nests(struct fw_vec *open, int64_t start_ns, int64_t end_ns)
{
	const int64_t *ends = open->data;

	while (open->len && ends[open->len - 1] <= start_ns)
		open->len--;
	return !open->len || ends[open->len - 1] >= end_ns;
}

static void push(struct fw_lanes *lanes, struct fw_vec *open, int64_t end_ns)
{
	int64_t *end;

	if (!open->size)
		open->size = sizeof(int64_t);
	end = fw_vec_push(open);
	if (end)
		*end = end_ns;
	else
		lanes->failed = true;
}

unsigned fw_lanes_take(struct fw_lanes *lanes, int64_t start_ns, int64_t end_ns)
{
	for (unsigned i = 0; i < FW_LANES; i++) {
		if (!nests(&lanes->open[i], start_ns, end_ns))
			continue;
		push(lanes, &lanes->open[i], end_ns);
		if (lanes->used < i + 1)
			lanes->used = i + 1;
		return i;
	}
	lanes->misplaced++;
	return FW_LANES - 1;
}

void fw_lanes_release(struct fw_lanes *lanes)
{
	for (unsigned i = 0; i < FW_LANES; i++)
		fw_vec_release(&lanes->open[i]);
	lanes->used = 0;
	lanes->misplaced = 0;
	lanes->failed = false;
}
