/*
 * The files of a recording in an order in which each finds what it belongs to: processes, then their
 * Python parts, then counters and host samples.
 */
#include "trace/recording_read.h"

#include "base/map.h"
#include "trace/recording_chunks.h"
#include "trace/recording_file.h"
#include "trace/recording_folder.h"

#include <stdlib.h>
#include <string.h>

/*
 * Where the machine does not tell its boot id, files whose machines started within a second of each
 * other are of one machine.
 */
#define SAME_START_NS INT64_C(1000000000)

struct job {
	struct fw_trace *trace;
	const struct fw_recording_options *options;
	struct fw_rec_owners owners;
	struct fw_error refusal; /* of the first file that was refused */
	uint64_t done, total;    /* bytes */
	size_t used;             /* files */
};

static bool has_boot_id(const struct fw_rec_file *h)
{
	static const uint8_t none[sizeof(h->boot_id)];

	return memcmp(h->boot_id, none, sizeof(none)) != 0;
}

static bool is_same_machine(const struct fw_rec_machine *m, const struct fw_rec_file *h)
{
	int64_t apart = h->start_realtime - h->start_mono - m->offset_ns;

	if (memcmp(m->boot_id, h->boot_id, sizeof(h->boot_id)) != 0)
		return false;
	return has_boot_id(h) || (apart < SAME_START_NS && apart > -SAME_START_NS);
}

/* The machine that a file is of; FW_NONE: memory is out. */
static uint32_t machine_of(struct fw_rec_owners *owners, const struct fw_rec_file *h)
{
	struct fw_rec_machine *m = owners->machines.data;

	for (size_t i = 0; i < owners->machines.len; i++)
		if (is_same_machine(&m[i], h))
			return (uint32_t)i;
	m = fw_vec_push(&owners->machines);
	if (!m)
		return FW_NONE;
	memcpy(m->boot_id, h->boot_id, sizeof(m->boot_id));
	m->offset_ns = h->start_realtime - h->start_mono;
	return (uint32_t)(owners->machines.len - 1);
}

static bool add_owner(struct fw_rec_owners *owners, uint32_t machine, uint32_t pid,
		      int64_t start_mono, uint32_t process)
{
	uint64_t *slot = fw_map_at(&owners->last, machine, pid, NULL);
	struct fw_rec_owner *owner = slot ? fw_vec_push(&owners->list) : NULL;

	if (!owner)
		return false;
	*owner = (struct fw_rec_owner){ machine, pid, start_mono, process, (uint32_t)*slot };
	*slot = owners->list.len;
	return true;
}

/*
 * The process of a number that ran at a time: a program that starts another one (exec) has a file for
 * each, and the recorder sees it before the file begins. The one begun last before the time, else the
 * first. FW_NONE: none has a file.
 */
static uint32_t find_owner(const struct fw_rec_owners *owners, uint32_t machine, uint32_t pid,
			   int64_t time_mono)
{
	const struct fw_rec_owner *list = owners->list.data;
	const uint64_t *slot = fw_map_find(&owners->last, machine, pid);
	uint32_t found = FW_NONE;

	for (uint64_t i = slot ? *slot : 0; i; i = list[i - 1].before) {
		found = list[i - 1].process;
		if (list[i - 1].start_mono <= time_mono)
			break;
	}
	return found;
}

/* The process whose CUDA part began next after its interpreter did; else the last before. */
static uint32_t find_owner_of_python(const struct fw_rec_owners *owners, uint32_t machine,
				     uint32_t pid, int64_t start_mono)
{
	const struct fw_rec_owner *list = owners->list.data;
	const uint64_t *slot = fw_map_find(&owners->last, machine, pid);
	uint32_t found = FW_NONE;

	for (uint64_t i = slot ? *slot : 0; i; i = list[i - 1].before) {
		if (found != FW_NONE && list[i - 1].start_mono < start_mono)
			break;
		found = list[i - 1].process;
	}
	return found;
}

uint32_t fw_rec_process(struct fw_rec_reader *r, uint32_t pid, int64_t time_mono)
{
	uint32_t process = find_owner(r->owners, r->machine, pid, time_mono);

	if (process != FW_NONE)
		return process;
	process = fw_trace_process(r->trace, r->file, fw_rec_number(r, pid));
	fw_rec_is_row(r, process);
	return process;
}

/*
 * The process that a file is about: its own, or, for what the shim writes, the one whose CUDA part
 * began next after it.
 */
static bool set_process(struct fw_rec_reader *r)
{
	const struct fw_rec_file *h = &r->header;

	r->process = FW_NONE;
	if (h->kind != FW_REC_FILE_PROCESS && h->kind != FW_REC_FILE_PYTHON)
		return true;
	if (h->kind == FW_REC_FILE_PYTHON)
		r->process = find_owner_of_python(r->owners, r->machine, h->pid, h->start_mono);
	if (r->process != FW_NONE)
		return true;
	r->process = fw_trace_process(r->trace, r->file, fw_rec_number(r, h->pid));
	return fw_rec_is_row(r, r->process) &&
	       add_owner(r->owners, r->machine, h->pid, h->start_mono, r->process);
}

static uint32_t add_file(struct fw_trace *trace, const char *path)
{
	bool failed = false;
	uint32_t file = fw_trace_add_files(trace);

	if (file == FW_NONE)
		return file;
	trace->files.path[file] = fw_trace_intern(trace, path, strlen(path), &failed);
	trace->files.rank[file] = trace->files.world_size[file] = -1;
	trace->files.epoch_ns[file] = INT64_MIN;
	trace->files.clock_error_ns[file] = -1;
	return failed ? FW_NONE : file;
}

static fw_status read_chunks(struct job *job, struct fw_rec_reader *r, struct fw_rec_chunks *chunks,
			     struct fw_error *err)
{
	const struct fw_recording_options *options = job->options;
	bool found = true;
	fw_status status = FW_OK;

	while (!status && found) {
		status = fw_rec_chunks_next(chunks, &r->trace->integrity, &found, err);
		if (status || !found)
			continue;
		r->offset = chunks->offset;
		fw_rec_take_all(r, chunks->payload, chunks->payload_bytes);
		if (r->is_out_of_memory)
			status = fw_trace_fail_growth(r->trace, err);
		if (options && options->progress)
			options->progress(options->user, job->done + chunks->at, job->total);
	}
	return status;
}

static fw_status read_file(struct job *job, struct fw_rec_reader *r, struct fw_rec_chunks *chunks,
			   struct fw_error *err)
{
	struct fw_integrity *flaws = &r->trace->integrity;
	fw_status status;

	if (!set_process(r))
		return fw_trace_fail_growth(r->trace, err);
	status = read_chunks(job, r, chunks, err);
	if (!status)
		status = fw_rec_pair(r, err);
	if (!status)
		status = fw_rec_place(r, err);
	if (!status && !r->is_ended)
		fw_rec_flaw(flaws, &flaws->unended, 1, chunks->size);
	return status;
}

static void release_reader(struct fw_rec_reader *r)
{
	fw_map_release(&r->ids);
	fw_vec_release(&r->waits);
	fw_rec_mapping_release(&r->cupti);
}

/* Reads an open file into its row; the trace is as it was before where the file cannot be used. */
static fw_status take_file(struct job *job, struct fw_rec_chunks *chunks, uint32_t file,
			   struct fw_error *err)
{
	struct fw_trace *trace = job->trace;
	struct fw_integrity before = trace->integrity;
	struct fw_rec_reader r = { .trace = trace,
				   .owners = &job->owners,
				   .header = chunks->header,
				   .file = file,
				   .waits = FW_VEC(struct fw_rec_wait),
				   .cupti = FW_REC_MAPPING,
				   .start = fw_trace_mark(trace) };
	const struct fw_rec_machine *machines;
	fw_status status;

	r.machine = machine_of(&job->owners, &r.header);
	if (r.machine == FW_NONE)
		return fw_fail_nomem(err, sizeof(*machines));
	machines = job->owners.machines.data;
	trace->files.kind[file] = (uint8_t)r.header.kind;
	trace->files.epoch_ns[file] = machines[0].offset_ns;
	status = read_file(job, &r, chunks, err);
	release_reader(&r);
	if (status) {
		fw_trace_forget(trace, &r.start);
		trace->integrity = before;
	} else {
		job->used++;
	}
	return status;
}

static bool is_refusal(fw_status status)
{
	return status == FW_ERR_FORMAT || status == FW_ERR_UNSUPPORTED || status == FW_ERR_IO;
}

static fw_status refuse(struct job *job, uint32_t file, const struct fw_error *why,
			struct fw_error *err)
{
	bool failed = false;

	if (!job->refusal.code)
		job->refusal = *why;
	job->trace->files.refused[file] =
		fw_trace_intern(job->trace, why->message, strlen(why->message), &failed);
	return failed ? fw_trace_fail_growth(job->trace, err) : FW_OK;
}

static fw_status take_part(struct job *job, const struct fw_rec_part *part, struct fw_error *err)
{
	uint32_t file = add_file(job->trace, part->path);
	struct fw_rec_chunks chunks;
	struct fw_error why = { 0 };
	fw_status status;

	if (file == FW_NONE)
		return fw_trace_fail_growth(job->trace, err);
	if (part->refused)
		status = fw_fail(&why, FW_ERR_UNSUPPORTED, "%s", part->refused);
	else {
		status = fw_rec_chunks_open(&chunks, part->path, &why);
		if (!status)
			status = take_file(job, &chunks, file, &why);
		fw_rec_chunks_close(&chunks);
	}
	job->done += part->size;
	if (is_refusal(status))
		return refuse(job, file, &why, err);
	if (status && err)
		*err = why;
	return status;
}

static void release_job(struct job *job)
{
	fw_vec_release(&job->owners.machines);
	fw_vec_release(&job->owners.list);
	fw_map_release(&job->owners.last);
	fw_map_release(&job->owners.devices);
}

static struct job begin(struct fw_trace *trace, const struct fw_recording_options *options)
{
	trace->source = FW_SOURCE_RECORDING;
	return (struct job){ .trace = trace,
			     .options = options,
			     .owners = { .machines = FW_VEC(struct fw_rec_machine),
					 .list = FW_VEC(struct fw_rec_owner) } };
}

static fw_status finish(struct job *job, fw_status status, struct fw_error *err)
{
	const struct fw_rec_machine *machines = job->owners.machines.data;

	if (!status && !job->used) {
		status = job->refusal.code;
		if (err)
			*err = job->refusal;
	}
	if (!status)
		job->trace->epoch_ns = machines[0].offset_ns;
	release_job(job);
	return status;
}

fw_status fw_recording_read(const char *const *paths, size_t count,
			    const struct fw_recording_options *options, struct fw_trace *trace,
			    struct fw_error *err)
{
	struct job job = begin(trace, options);
	struct fw_rec_parts parts = FW_REC_PARTS;
	const struct fw_rec_part *list;
	fw_status status = FW_OK;

	for (size_t i = 0; i < count && !status; i++)
		status = fw_rec_parts_add(&parts, paths[i], err);
	fw_rec_parts_sort(&parts);
	list = parts.list.data;
	for (size_t i = 0; i < parts.list.len; i++)
		job.total += list[i].size;
	for (size_t i = 0; i < parts.list.len && !status; i++)
		status = take_part(&job, &list[i], err);
	fw_rec_parts_release(&parts);
	return finish(&job, status, err);
}

fw_status fw_recording_read_bytes(const char *name, const void *bytes, size_t size,
				  struct fw_trace *trace, struct fw_error *err)
{
	struct job job = begin(trace, NULL);
	uint32_t file = add_file(trace, name);
	struct fw_rec_chunks chunks;
	fw_status status;

	if (file == FW_NONE)
		return fw_trace_fail_growth(trace, err);
	status = fw_rec_chunks_open_bytes(&chunks, name, bytes, size, err);
	if (!status)
		status = take_file(&job, &chunks, file, err);
	fw_rec_chunks_close(&chunks);
	return finish(&job, status, err);
}
