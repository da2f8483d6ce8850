/* Records of the host, the recorder and the Python shim -> rows, on CLOCK_MONOTONIC. */
#include "trace/recording_chunks.h"
#include "trace/recording_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void flaw(struct fw_rec_reader *r, uint64_t *count)
{
	fw_rec_flaw(&r->trace->integrity, count, 1, r->offset);
}

/* "GPU-01234567-89ab-...", as NVML and nvidia-smi write it; 0: all zeros. */
static uint32_t uuid_text(struct fw_rec_reader *r, const uint8_t id[16])
{
	char text[48];
	size_t at = 0;
	uint8_t any = 0;

	at += (size_t)snprintf(text, sizeof(text), "GPU");
	for (int i = 0; i < 16; i++) {
		any |= id[i];
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%02x",
				       !i || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "", id[i]);
	}
	return any ? fw_rec_text(r, text) : 0;
}

/*
 * The device of a file that holds counters is the one that a process used, which has the same UUID.
 * False: memory is out.
 */
static bool join_device(struct fw_rec_reader *r, uint32_t id, uint32_t uuid, uint32_t *row)
{
	uint64_t *slot = fw_map_at(&r->owners->devices, uuid, 0, NULL);

	if (slot && *slot && uuid && r->header.kind == FW_REC_FILE_COUNTERS) {
		*row = (uint32_t)(*slot - 1);
		return fw_trace_alias_device(r->trace, r->file, id, *row);
	}
	*row = slot ? fw_trace_device(r->trace, r->file, id) : FW_NONE;
	if (*row == FW_NONE)
		return false;
	r->trace->devices.uuid[*row] = uuid;
	if (!*slot)
		*slot = (uint64_t)*row + 1;
	return true;
}

void fw_rec_take_device(struct fw_rec_reader *r, const struct fw_rec_device *d)
{
	struct fw_trace_devices *devices = &r->trace->devices;
	uint32_t row;

	if (!join_device(r, d->head.extra, uuid_text(r, d->uuid), &row)) {
		r->is_out_of_memory = true;
		return;
	}
	if (!devices->name[row])
		devices->name[row] = fw_rec_name(r, d->name);
	if (devices->cc[row] < 0 && d->cc > 0 && d->cc < 1000)
		devices->cc[row] = d->cc;
	if (devices->sms[row] < 0 && d->sms > 0)
		devices->sms[row] = d->sms;
	if (devices->memory_bytes[row] < 0 && d->memory_bytes > 0)
		devices->memory_bytes[row] = d->memory_bytes;
}

/* Steps and waits mean something to the ledger; the others only hold what happens inside them. */
static uint8_t range_kind(uint32_t kind)
{
	switch (kind) {
	case FW_REC_RANGE_INPUT: return FW_RANGE_INPUT;
	case FW_REC_RANGE_STEP: return FW_RANGE_STEP;
	case FW_REC_RANGE_COMPILE: return FW_RANGE_COMPILE;
	case FW_REC_RANGE_CALL_SITE: return FW_RANGE_CALL_SITE;
	default: return FW_RANGE_OTHER;
	}
}

void fw_rec_take_range(struct fw_rec_reader *r, const struct fw_rec_range *range)
{
	struct fw_trace_ranges *ranges = &r->trace->ranges;
	uint32_t thread, row;

	if (!fw_rec_has_process(r) || !fw_rec_span_mono(r, range->start_mono, range->end_mono))
		return;
	thread = fw_rec_thread(r, r->process, range->tid);
	row = fw_trace_add_ranges(r->trace);
	if (thread == FW_NONE || !fw_rec_is_row(r, row))
		return;
	ranges->start_ns[row] = range->start_mono;
	ranges->end_ns[row] = range->end_mono;
	ranges->thread[row] = thread;
	ranges->name[row] = fw_rec_name(r, range->name);
	ranges->kind[row] = range_kind(range->head.extra);
}

static void count_lost(uint64_t *lost, const struct fw_rec_loss *loss)
{
	uint64_t room = UINT64_MAX - *lost;

	/* Where nobody counted, at least one was lost. */
	if (loss->count == UINT64_MAX)
		*lost += room > 0;
	else
		*lost += loss->count < room ? loss->count : room;
}

void fw_rec_take_loss(struct fw_rec_reader *r, const struct fw_rec_loss *loss)
{
	struct fw_trace_blind_intervals *blind = &r->trace->blind_intervals;
	uint32_t reason = loss->head.extra, row;

	if (reason != FW_REC_LOSS_PAUSED && reason != FW_REC_LOSS_OTHER_PROFILER)
		count_lost(r->header.kind == FW_REC_FILE_PROCESS
				   ? &r->trace->integrity.dropped_records
				   : &r->trace->integrity.dropped_samples,
			   loss);
	if (r->process == FW_NONE || !fw_rec_span_mono(r, loss->start_mono, loss->end_mono))
		return;
	row = fw_trace_add_blind_intervals(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	blind->start_ns[row] = loss->start_mono;
	blind->end_ns[row] = loss->end_mono;
	blind->lost[row] = loss->count;
	blind->process[row] = r->process;
	blind->reason[row] = reason < FW_LOSS_REASONS ? (uint8_t)reason : FW_LOSS_DROPPED_HOST;
}

void fw_rec_take_counter(struct fw_rec_reader *r, const struct fw_rec_counter *c)
{
	struct fw_trace_counters *counters = &r->trace->counters;
	uint32_t device, row;

	if (!isfinite(c->value)) {
		flaw(r, &r->trace->integrity.bad_records);
		return;
	}
	if (!fw_rec_span_mono(r, c->start_mono, c->end_mono))
		return;
	device = fw_trace_device(r->trace, r->file, c->head.extra);
	row = fw_trace_add_counters(r->trace);
	if (!fw_rec_is_row(r, device) || !fw_rec_is_row(r, row))
		return;
	counters->start_ns[row] = c->start_mono;
	counters->time_ns[row] = c->end_mono;
	counters->value[row] = c->value;
	counters->device[row] = device;
	counters->name[row] = fw_rec_name(r, c->name);
	counters->source[row] = fw_rec_name(r, c->source);
}

void fw_rec_take_host(struct fw_rec_reader *r, const struct fw_rec_host *h)
{
	struct fw_trace_host_samples *samples = &r->trace->host_samples;
	uint32_t process = FW_NONE, thread = FW_NONE, row;

	if (!isfinite(h->value)) {
		flaw(r, &r->trace->integrity.bad_records);
		return;
	}
	if (!fw_rec_span_mono(r, h->time_mono, h->time_mono))
		return;
	if (h->pid) {
		process = fw_rec_process(r, h->pid, h->time_mono);
		if (!fw_rec_is_row(r, process))
			return;
		if (h->head.extra)
			thread = fw_rec_thread(r, process, h->head.extra);
	}
	row = fw_trace_add_host_samples(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	samples->time_ns[row] = h->time_mono;
	samples->value[row] = h->value;
	samples->file[row] = r->file;
	samples->process[row] = process;
	samples->thread[row] = thread;
	samples->name[row] = fw_rec_name(r, h->name);
}

void fw_rec_take_switch(struct fw_rec_reader *r, const struct fw_rec_switch *s)
{
	struct fw_trace_switches *switches = &r->trace->switches;
	uint32_t process, thread, row;

	if (!fw_rec_span_mono(r, s->start_mono, s->end_mono))
		return;
	process = fw_rec_process(r, s->pid, s->start_mono);
	if (!fw_rec_is_row(r, process))
		return;
	thread = fw_rec_thread(r, process, s->head.extra);
	row = fw_trace_add_switches(r->trace);
	if (thread == FW_NONE || !fw_rec_is_row(r, row))
		return;
	switches->start_ns[row] = s->start_mono;
	switches->end_ns[row] = s->end_mono;
	switches->thread[row] = thread;
	switches->why[row] = s->why == FW_REC_OFF_RUNNABLE ? FW_OFF_RUNNABLE : FW_OFF_BLOCKED;
}

void fw_rec_take_loader(struct fw_rec_reader *r, const struct fw_rec_loader *l)
{
	struct fw_trace_loaders *loaders = &r->trace->loaders;
	uint32_t row;

	if (!fw_rec_has_process(r) || !fw_rec_span_mono(r, l->time_mono, l->time_mono))
		return;
	row = fw_trace_add_loaders(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	loaders->time_ns[row] = l->time_mono;
	loaders->process[row] = r->process;
	loaders->workers[row] = l->workers;
	loaders->prefetch[row] = l->prefetch;
	loaders->batch[row] = l->batch;
	loaders->pin_memory[row] = l->pin_memory != 0;
	loaders->persistent[row] = l->persistent != 0;
}
