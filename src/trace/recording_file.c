/* The records of a file in their order, its names and its threads. */
#include "trace/recording_file.h"

#include "base/demangle.h"
#include "base/str.h"
#include "base/utf8.h"
#include "trace/recording_chunks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The keys of fw_rec_reader.ids: what is looked up -> the trace's string or row, plus 1. */
enum id_kind { ID_NAME, ID_KERNEL, ID_THREAD };

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static struct fw_integrity *flaws(struct fw_rec_reader *r)
{
	return &r->trace->integrity;
}

static void flaw(struct fw_rec_reader *r, uint64_t *count)
{
	fw_rec_flaw(flaws(r), count, 1, r->offset);
}

bool fw_rec_is_row(struct fw_rec_reader *r, uint32_t row)
{
	r->is_out_of_memory |= row == FW_NONE;
	return row != FW_NONE;
}

static uint64_t *id_at(struct fw_rec_reader *r, enum id_kind kind, uint32_t parent, uint32_t id)
{
	uint64_t *slot = fw_map_at(&r->ids, (uint64_t)kind << 32 | parent, id, NULL);

	r->is_out_of_memory |= !slot;
	return slot;
}

uint32_t fw_rec_text(struct fw_rec_reader *r, const char *text)
{
	return fw_trace_intern(r->trace, text, strlen(text), &r->is_out_of_memory);
}

uint32_t fw_rec_number(struct fw_rec_reader *r, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return fw_rec_text(r, text);
}

uint32_t fw_rec_thread(struct fw_rec_reader *r, uint32_t process, uint32_t tid)
{
	uint64_t *slot = id_at(r, ID_THREAD, process, tid);
	uint32_t row;

	if (!slot || *slot)
		return slot ? (uint32_t)(*slot - 1) : FW_NONE;
	row = fw_trace_thread(r->trace, process, fw_rec_number(r, tid));
	if (fw_rec_is_row(r, row))
		*slot = (uint64_t)row + 1;
	return row;
}

uint32_t fw_rec_stream(struct fw_rec_reader *r, uint32_t device, uint32_t stream)
{
	uint32_t row = fw_trace_device(r->trace, r->file, device);

	if (!fw_rec_is_row(r, row))
		return row;
	/* Contexts of a process share the numbering of streams. */
	row = fw_trace_stream(r->trace, row, stream);
	fw_rec_is_row(r, row);
	return row;
}

uint32_t fw_rec_name(struct fw_rec_reader *r, uint32_t id)
{
	const uint64_t *slot = id ? fw_map_find(&r->ids, (uint64_t)ID_NAME << 32, id) : NULL;

	if (slot)
		return (uint32_t)(*slot - 1);
	if (!id)
		return 0;
	flaw(r, &flaws(r)->lost_names);
	return fw_rec_text(r, "(name lost)");
}

uint32_t fw_rec_kernel_name(struct fw_rec_reader *r, uint32_t id)
{
	uint64_t *slot = id_at(r, ID_KERNEL, 0, id);
	struct fw_arena arena = { 0 };
	uint32_t name;

	if (!slot || *slot)
		return slot ? (uint32_t)(*slot - 1) : 0;
	name = fw_rec_name(r, id);
	if (!name)
		name = fw_rec_text(r, r->is_selected ? "(not selected)" : "(unknown)");
	else
		name = fw_rec_text(r, fw_demangle(&arena, fw_trace_text(r->trace, name)));
	fw_arena_release(&arena);
	/* A lost name is counted each time. */
	if (!id || fw_map_find(&r->ids, (uint64_t)ID_NAME << 32, id))
		*slot = (uint64_t)name + 1;
	return name;
}

/* The text as valid UTF-8 without control characters; what had to be mended is counted. */
static uint32_t intern(struct fw_rec_reader *r, const char *text, size_t len)
{
	struct fw_str mended = { 0 };
	bool controls = false, bytes = false;
	uint32_t id;

	for (size_t i = 0; i < len;) {
		size_t n = fw_utf8_length(text + i, len - i);
		bool is_control = n == 1 && (unsigned char)text[i] < 0x20;

		controls |= is_control;
		bytes |= !n;
		if (n && !is_control)
			fw_str_append(&mended, text + i, n);
		else
			fw_str_puts(&mended, REPLACEMENT);
		i += n ? n : 1;
	}
	if (controls)
		flaw(r, &flaws(r)->control_characters);
	if (bytes)
		flaw(r, &flaws(r)->invalid_utf8);
	r->is_out_of_memory |= mended.failed;
	id = fw_trace_intern(r->trace, fw_str_text(&mended), mended.len, &r->is_out_of_memory);
	fw_str_release(&mended);
	return id;
}

void fw_rec_take_string(struct fw_rec_reader *r, const struct fw_rec_string *record)
{
	const char *text = (const char *)(record + 1);
	uint64_t *slot;

	if (!record->head.extra || record->length > record->head.size - sizeof(*record)) {
		flaw(r, &flaws(r)->bad_records);
		return;
	}
	slot = id_at(r, ID_NAME, 0, record->head.extra);
	if (slot && *slot)
		flaw(r, &flaws(r)->bad_records);
	else if (slot) {
		uint32_t id = intern(r, text, record->length);

		slot = id_at(r, ID_NAME, 0, record->head.extra);
		if (slot)
			*slot = (uint64_t)id + 1;
	}
}

static bool is_number(int64_t value, int32_t *out)
{
	*out = (int32_t)value;
	return value >= 0 && value <= INT32_MAX;
}

void fw_rec_take_info(struct fw_rec_reader *r, const struct fw_rec_info *record)
{
	struct fw_trace_files *files = &r->trace->files;
	uint32_t text = fw_rec_name(r, record->text), key = record->head.extra, row;
	int32_t number;

	switch (key) {
	case FW_REC_INFO_HOST: files->host[r->file] = text; break;
	case FW_REC_INFO_PROCESS_NAME:
		if (r->process != FW_NONE)
			r->trace->processes.name[r->process] = text;
		break;
	case FW_REC_INFO_RANK:
		if (is_number(record->value, &number))
			files->rank[r->file] = number;
		break;
	case FW_REC_INFO_WORLD_SIZE:
		if (is_number(record->value, &number))
			files->world_size[r->file] = number;
		break;
	case FW_REC_INFO_SELECTED: r->is_selected = true; break;
	case FW_REC_INFO_ENDED: r->is_ended = true; break;
	default: break;
	}
	row = fw_trace_add_facts(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	r->trace->facts.file[row] = r->file;
	r->trace->facts.key[row] = key <= UINT8_MAX ? (uint8_t)key : 0;
	r->trace->facts.text[row] = text;
	r->trace->facts.value[row] = record->value;
}

void fw_rec_take_clock(struct fw_rec_reader *r, const struct fw_rec_clock *record)
{
	r->is_out_of_memory |= !fw_rec_mapping_add(&r->cupti, record->cupti, record->before_mono,
						   record->after_mono);
}

/* Counters come on CLOCK_MONOTONIC already; how that was worked out is for people to check. */
void fw_rec_take_device_clock(struct fw_rec_reader *r, const struct fw_rec_device_clock *record)
{
	(void)r;
	(void)record;
}

void fw_rec_take_thread(struct fw_rec_reader *r, const struct fw_rec_thread *record)
{
	uint32_t process = r->process, row;

	/* A number used again: the last process that had it. */
	if (record->pid)
		process = fw_rec_process(r, record->pid, INT64_MAX);
	else if (!fw_rec_has_process(r))
		return;
	row = process == FW_NONE ? FW_NONE : fw_rec_thread(r, process, record->head.extra);
	if (row == FW_NONE)
		return;
	r->trace->threads.name[row] = fw_rec_name(r, record->name);
	/* The main thread bears the program's name. */
	if (record->pid && record->pid == record->head.extra && !r->trace->processes.name[process])
		r->trace->processes.name[process] = r->trace->threads.name[row];
}

bool fw_rec_has_process(struct fw_rec_reader *r)
{
	if (r->process == FW_NONE)
		flaw(r, &flaws(r)->bad_records);
	return r->process != FW_NONE;
}

bool fw_rec_span_mono(struct fw_rec_reader *r, int64_t start, int64_t end)
{
	if (start < 0 || end < 0 || start >= FW_REC_LATEST_NS || end >= FW_REC_LATEST_NS ||
	    end - start > FW_REC_LONGEST_NS) {
		flaw(r, &flaws(r)->bad_times);
		return false;
	}
	if (end < start)
		flaw(r, &flaws(r)->negative_durations);
	return end >= start;
}

bool fw_rec_span_cupti(struct fw_rec_reader *r, uint64_t start, uint64_t end)
{
	if (!start || !end) {
		flaw(r, &flaws(r)->zero_times);
		return false;
	}
	if (start > INT64_MAX || end > INT64_MAX) {
		flaw(r, &flaws(r)->bad_times);
		return false;
	}
	return fw_rec_span_mono(r, (int64_t)start, (int64_t)end);
}

#define FW_RECORD(number, constant, name)                                                          \
	static void take_##name(struct fw_rec_reader *r, const void *record)                       \
	{                                                                                          \
		fw_rec_take_##name(r, record);                                                     \
	}
#include "trace/recording.def"
#undef FW_RECORD

static const struct {
	size_t size;
	void (*take)(struct fw_rec_reader *r, const void *record);
} kinds[FW_REC_KIND_END] = {
#define FW_RECORD(number, constant, name) [number] = { sizeof(struct fw_rec_##name), take_##name },
#include "trace/recording.def"
#undef FW_RECORD
};

void fw_rec_take_all(struct fw_rec_reader *r, const unsigned char *payload, uint32_t size)
{
	uint32_t at = 0;

	while (at < size && !r->is_out_of_memory) {
		const struct fw_rec *head = (const void *)(payload + at);

		/* Where the size makes no sense, the next record cannot be found. */
		if (size - at < sizeof(*head) || head->size < sizeof(*head) || head->size % 8 ||
		    head->size > size - at) {
			flaw(r, &flaws(r)->bad_records);
			return;
		}
		if (head->kind >= FW_REC_KIND_END || !kinds[head->kind].take) {
			flaw(r, &flaws(r)->unknown_records);
		} else if (head->size < kinds[head->kind].size) {
			flaw(r, &flaws(r)->bad_records);
		} else {
			flaws(r)->events++;
			kinds[head->kind].take(r, head);
		}
		at += head->size;
	}
}
