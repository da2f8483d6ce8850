/* The analysed window of each device. */
#include "ledger/build.h"

static void whole_trace(const struct fw_trace *t, const uint32_t *by_end,
			struct fw_device_ledger *d, enum fw_window_source source)
{
	d->window = (struct fw_window){ .start_ns = t->ops.start_ns[d->ops[0]],
					.end_ns = t->ops.end_ns[by_end[d->op_count - 1]],
					.source = source,
					.steps = -1 };
}

fw_status fw_build_windows(struct fw_build *b)
{
	const struct fw_ledger_options *o = b->options;

	if (o->has_window && o->window_start_ns >= o->window_end_ns)
		return fw_fail(b->err, FW_ERR_ARGUMENT,
			       "window: it ends at %lld ns, not after its start, %lld ns",
			       (long long)o->window_end_ns, (long long)o->window_start_ns);
	for (size_t i = 0; i < b->ledger->device_count; i++) {
		struct fw_device_ledger *d = &b->ledger->devices[i];
		const uint32_t *by_end = b->ledger->private->devices[i].by_end;

		whole_trace(b->trace, by_end, d, o->all ? FW_WINDOW_ALL : FW_WINDOW_FALLBACK);
		if (o->has_window)
			d->window = (struct fw_window){ o->window_start_ns, o->window_end_ns,
							FW_WINDOW_USER, -1, 0 };
	}
	return FW_OK;
}
