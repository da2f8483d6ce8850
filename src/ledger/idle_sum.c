/* Prefix sums over the idle pieces of a device. */
#include "ledger/idle_sum.h"

#include <stdlib.h>

/* True if the operation that ends the gap had long been queued on the device when the gap began. */
static bool was_queued(const struct fw_idle_sum *sum, const struct fw_idle *piece)
{
	bool is_asked = sum->classes & FW_IDLE_NOT_QUEUED;
	uint32_t call =
		piece->next_op == FW_NONE ? FW_NONE : sum->ledger->call_of_op[piece->next_op];

	return is_asked && piece->class_id == FW_CLASS_DEVICE_WAIT && call != FW_NONE &&
	       sum->ledger->trace->calls.end_ns[call] <= piece->start_ns - FW_QUEUED_NS;
}

/* What piece i adds to the sum. */
static int64_t counted(const struct fw_idle_sum *sum, size_t i)
{
	const struct fw_idle *piece = &sum->idle[i];
	bool counts = (sum->classes >> piece->class_id & 1) && !was_queued(sum, piece);

	return counts ? piece->end_ns - piece->start_ns : 0;
}

bool fw_idle_sum_build(struct fw_idle_sum *sum, const struct fw_ledger *ledger,
		       const struct fw_device_ledger *device, uint32_t classes)
{
	int64_t total = 0;

	*sum = (struct fw_idle_sum){ ledger, device->idle, device->idle_count, classes, NULL };
	sum->before = malloc((sum->len + 1) * sizeof(*sum->before));
	if (!sum->before)
		return false;
	for (size_t i = 0; i < sum->len; i++) {
		sum->before[i] = total;
		total += counted(sum, i);
	}
	return true;
}

void fw_idle_sum_release(struct fw_idle_sum *sum)
{
	free(sum->before);
	sum->before = NULL;
}

static int64_t until(const struct fw_idle_sum *sum, int64_t t)
{
	size_t low = 0, high = sum->len;
	int64_t after;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sum->idle[mid].start_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	after = sum->idle[low - 1].end_ns - t;
	if (after < 0 || !counted(sum, low - 1))
		after = 0;
	return sum->before[low - 1] + counted(sum, low - 1) - after;
}

int64_t fw_idle_sum_in(const struct fw_idle_sum *sum, int64_t from, int64_t to)
{
	return from < to ? until(sum, to) - until(sum, from) : 0;
}

int64_t fw_idle_sum_in_set(const struct fw_idle_sum *sum, const struct fw_intervals *merged)
{
	int64_t ns = 0;

	for (size_t i = 0; i < merged->len; i++)
		ns += fw_idle_sum_in(sum, merged->items[i].start_ns, merged->items[i].end_ns);
	return ns;
}

int64_t fw_idle_sum_reach(const struct fw_idle_sum *sum, int64_t from, int64_t ns)
{
	int64_t target = until(sum, from) + ns;
	size_t low = 0, high = sum->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sum->before[mid] + counted(sum, mid) < target)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == sum->len)
		return INT64_MAX;
	return sum->idle[low].end_ns - (sum->before[low] + counted(sum, low) - target);
}
