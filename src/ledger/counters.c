/* The table of counters -> what a device's window and its kernels measured: docs/ledger-fill.md. */
#include "ledger/counters.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/counters_build.h"

/*
 * Samples and kernels are timed by one clock, to half a microsecond (measured on an H200), and placed on
 * CLOCK_MONOTONIC apart, to some microseconds: so far from its ends a kernel is surely alone.
 */
#define MARGIN_NS 20000

/* Samples that tell of less than this share of a window do not stand for its kernels. */
#define COVERED_LEAST 0.9

static const struct {
	const char *name, *text;
} counters[FW_COUNTER_COUNT] = {
#define FW_COUNTER(constant, name, text) [FW_COUNTER_##constant] = { name, text },
#include "ledger/counters.def"
#undef FW_COUNTER
};

const char *fw_counter_name(enum fw_counter counter)
{
	return counters[counter].name;
}

const char *fw_counter_text(enum fw_counter counter)
{
	return counters[counter].text;
}

enum source { SOURCE_NONE, SOURCE_GPM, SOURCE_PM };

/* What the strings of the trace mean here. */
struct words {
	uint8_t *counter; /* 1 + enum fw_counter; 0: another */
	uint8_t *source;  /* enum source */
};

static void release_words(struct words *words)
{
	free(words->counter);
	free(words->source);
}

static bool read_words(const struct fw_trace *trace, struct words *words)
{
	size_t count = trace->strings.entries.len;

	words->counter = calloc(count + 1, 1);
	words->source = calloc(count + 1, 1);
	for (size_t i = 1; words->counter && words->source && i < count; i++) {
		const char *text = fw_trace_text(trace, (uint32_t)i);

		for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
			if (!strcmp(text, counters[c].name))
				words->counter[i] = (uint8_t)(c + 1);
		if (!strcmp(text, "pm-sampling"))
			words->source[i] = SOURCE_PM;
		else if (!strcmp(text, "gpm"))
			words->source[i] = SOURCE_GPM;
	}
	return words->counter && words->source;
}

/* The device of which a row of the table is a sample, by a source that covers time; NULL: of none. */
static struct fw_device_ledger *device_of(const struct fw_ledger *ledger, const struct words *words,
					  size_t row)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;
	uint32_t device;

	if (!words->counter[t->name[row]] || !words->source[t->source[row]] ||
	    t->time_ns[row] <= t->start_ns[row] || t->device[row] >= ledger->trace->devices.len ||
	    !(t->value[row] >= 0 && t->value[row] <= 100))
		return NULL;
	device = ledger->private->ledger_of_device[t->device[row]];
	return device == FW_NONE ? NULL : &ledger->devices[device];
}

/* The better source that each device has; the samples of a lesser one, of other times, are left out. */
static void choose_sources(struct fw_ledger *ledger, const struct words *words)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;

	for (size_t i = 0; i < t->len; i++) {
		struct fw_device_ledger *device = device_of(ledger, words, i);

		if (device && words->source[t->source[i]] > words->source[device->counter_source])
			device->counter_source = t->source[i];
	}
}

/* Where a row goes; NULL: it is no sample, or one of a lesser source. */
static struct fw_counter_rows *place_of(const struct fw_ledger *ledger, const struct words *words,
					size_t row)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;
	struct fw_device_ledger *device = device_of(ledger, words, row);

	if (!device || words->source[t->source[row]] != words->source[device->counter_source])
		return NULL;
	return &fw_device_work(ledger, device)->counters[words->counter[t->name[row]] - 1];
}

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct fw_trace_counters *t = ctx;

	return (t->start_ns[a] > t->start_ns[b]) - (t->start_ns[a] < t->start_ns[b]);
}

/* By time; one that begins before the last has ended is left out. */
static bool order(const struct fw_trace_counters *t, struct fw_counter_rows *samples)
{
	uint32_t *rows = samples->rows;
	size_t kept = 0;

	if (!fw_sort_rows(rows, samples->count, by_start, t))
		return false;
	for (size_t i = 0; i < samples->count; i++)
		if (!kept || t->start_ns[rows[i]] >= t->time_ns[rows[kept - 1]])
			rows[kept++] = rows[i];
	samples->count = kept;
	return true;
}

/* Room for the rows of each counter that were counted, which are counted anew. */
static bool make_room(struct fw_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
			struct fw_counter_rows *rows = &ledger->private->devices[d].counters[c];

			rows->rows = fw_arena_array(&ledger->private->arena, rows->count + 1,
						    sizeof(uint32_t));
			if (!rows->rows)
				return false;
			rows->count = 0;
		}
	return true;
}

static bool collect(struct fw_ledger *ledger, const struct words *words)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;
	struct fw_counter_rows *rows;

	for (size_t i = 0; i < t->len; i++) {
		rows = place_of(ledger, words, i);
		if (rows)
			rows->count++;
	}
	if (!make_room(ledger))
		return false;
	for (size_t i = 0; i < t->len; i++) {
		rows = place_of(ledger, words, i);
		if (rows)
			rows->rows[rows->count++] = (uint32_t)i;
	}
	for (size_t d = 0; d < ledger->device_count; d++)
		for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
			if (!order(t, &ledger->private->devices[d].counters[c]))
				return false;
	return true;
}

static void measure_windows(struct fw_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
			struct fw_device_ledger *device = &ledger->devices[d];

			device->measured[c] =
				fw_counter_over(ledger, device, (enum fw_counter)c,
						device->window.start_ns, device->window.end_ns);
		}
}

fw_status fw_ledger_counters(struct fw_ledger *ledger, struct fw_error *err)
{
	struct words words = { 0 };
	bool ok;

	if (!ledger->trace->counters.len)
		return FW_OK;
	ok = read_words(ledger->trace, &words);
	if (ok) {
		choose_sources(ledger, &words);
		ok = collect(ledger, &words);
	}
	release_words(&words);
	if (!ok)
		return fw_fail_nomem(err, ledger->trace->counters.len);
	measure_windows(ledger);
	return FW_OK;
}

bool fw_counters_are_fine(const struct fw_ledger *ledger, const struct fw_device_ledger *device)
{
	return device->counter_source &&
	       !strcmp(fw_trace_text(ledger->trace, device->counter_source), "pm-sampling");
}

/* The first sample that ends after t. */
static size_t first_after(const struct fw_trace_counters *t, const struct fw_counter_rows *rows,
			  int64_t ns)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->time_ns[rows->rows[middle]] > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void add(struct fw_counter_mean *mean, double value, int64_t ns)
{
	mean->covered_ns += ns;
	mean->samples++;
	mean->value += (value - mean->value) * (double)ns / (double)mean->covered_ns;
}

struct fw_counter_mean fw_counter_over(const struct fw_ledger *ledger,
				       const struct fw_device_ledger *device,
				       enum fw_counter counter, int64_t start_ns, int64_t end_ns)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;
	const struct fw_counter_rows *rows = &fw_device_work(ledger, device)->counters[counter];
	struct fw_counter_mean mean = { 0 };

	for (size_t i = first_after(t, rows, start_ns); i < rows->count; i++) {
		int64_t start = t->start_ns[rows->rows[i]], end = t->time_ns[rows->rows[i]];

		if (start >= end_ns)
			break;
		start = start > start_ns ? start : start_ns;
		end = end < end_ns ? end : end_ns;
		if (end > start)
			add(&mean, t->value[rows->rows[i]], end - start);
	}
	return mean;
}

double fw_counter_while_busy(const struct fw_device_ledger *device, enum fw_counter counter)
{
	const struct fw_counter_mean *mean = &device->measured[counter];
	int64_t window = device->window.end_ns - device->window.start_ns;
	int64_t busy = device->kernel_busy_ns + device->ns[FW_CLASS_GRAPH_OPAQUE];
	double value;

	if (counter == FW_COUNTER_DRAM || !mean->samples || busy <= 0 ||
	    (double)mean->covered_ns < COVERED_LEAST * (double)window)
		return -1;
	value = mean->value * (double)window / (double)busy;
	return value < 100 ? value : 100; /* the clocks do not agree to the last microsecond */
}

double fw_counter_occupancy(const struct fw_counter_mean measured[FW_COUNTER_COUNT])
{
	const struct fw_counter_mean *sms = &measured[FW_COUNTER_SM_BUSY];
	const struct fw_counter_mean *warps = &measured[FW_COUNTER_WARPS];
	double occupancy;

	/* Of the same times only. */
	if (!sms->samples || sms->covered_ns != warps->covered_ns || sms->value <= 0)
		return -1;
	occupancy = 100 * warps->value / sms->value;
	return occupancy < 100 ? occupancy : 100;
}

void fw_counters_credit(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			struct fw_counter_cursor *cursor, struct fw_kernel_row *row,
			int64_t start_ns, int64_t end_ns)
{
	const struct fw_trace_counters *t = &ledger->trace->counters;

	if (!fw_counters_are_fine(ledger, device) || end_ns - start_ns <= 2 * MARGIN_NS)
		return;
	start_ns += MARGIN_NS;
	end_ns -= MARGIN_NS;
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
		const struct fw_counter_rows *rows = &fw_device_work(ledger, device)->counters[c];
		size_t *i = &cursor->next[c];

		for (; *i < rows->count && t->time_ns[rows->rows[*i]] <= end_ns; ++*i) {
			int64_t start = t->start_ns[rows->rows[*i]];
			int64_t end = t->time_ns[rows->rows[*i]];

			if (start >= start_ns)
				add(&row->measured[c], t->value[rows->rows[*i]], end - start);
		}
	}
}
