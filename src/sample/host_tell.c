#include "sample/host_tell.h"

static void tell_at(const struct fw_teller *teller, struct fw_told *told, enum fw_host_value which,
		    int64_t time_ns)
{
	const struct fw_host_reading reading = { time_ns, teller->pid, teller->tid, which,
						 told->value };

	told->told_ns = time_ns;
	teller->sink->value(teller->sink->context, &reading);
}

void fw_tell(const struct fw_teller *teller, struct fw_told *told, enum fw_host_value which,
	     double value)
{
	struct fw_told *t = &told[which];

	if (!t->is_told || t->value != value) {
		if (t->is_told && t->read_ns > t->told_ns)
			tell_at(teller, t, which, t->read_ns);
		t->value = value;
		t->is_told = true;
		tell_at(teller, t, which, teller->now_ns);
	}
	t->read_ns = teller->now_ns;
}

void fw_told_hold(struct fw_told *told, int64_t until_ns)
{
	if (told->is_told && told->read_ns < until_ns)
		told->read_ns = until_ns;
}

void fw_tell_end(const struct fw_teller *teller, struct fw_told *told)
{
	for (int i = 0; i < FW_HOST_VALUE_COUNT; i++)
		if (told[i].is_told && told[i].read_ns > told[i].told_ns)
			tell_at(teller, &told[i], (enum fw_host_value)i, told[i].read_ns);
}
