/* The front door: opens files, joins those of several ranks into one trace. */
#include "import/import.h"

#include "import/kineto.h"
#include "import/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint32_t add_file(struct fw_trace *trace, const char *name)
{
	bool failed = false;
	uint32_t file = fw_trace_add_files(trace);

	if (file == FW_NONE)
		return file;
	trace->files.path[file] = fw_trace_intern(trace, name, strlen(name), &failed);
	trace->files.rank[file] = trace->files.world_size[file] = -1;
	trace->files.epoch_ns[file] = INT64_MIN;
	return failed ? FW_NONE : file;
}

static fw_status import_source(struct fw_source *source, const struct fw_import_options *options,
			       struct fw_trace *trace, struct fw_error *err)
{
	uint32_t file = add_file(trace, fw_source_name(source));

	if (file == FW_NONE)
		return fw_fail_nomem(err, sizeof(struct fw_trace_files));
	trace->source = FW_SOURCE_KINETO;
	return fw_kineto_import(source, options, file, trace, err);
}

static fw_status import_path(const char *path, const struct fw_import_options *options,
			     struct fw_trace *trace, struct fw_error *err)
{
	struct fw_source *source;
	fw_status status = fw_source_open(&source, path, err);

	if (status)
		return status;
	status = import_source(source, options, trace, err);
	fw_source_close(source);
	return status;
}

/* Where the rows of a file start. */
struct mark {
	size_t ops, calls, ranges, syncs, allocations, counters;
};

static struct mark mark_of(const struct fw_trace *t)
{
	return (struct mark){ t->ops.len,   t->calls.len,       t->ranges.len,
			      t->syncs.len, t->allocations.len, t->counters.len };
}

static void shift(int64_t *times, size_t from, size_t to, int64_t by)
{
	for (size_t i = from; i < to; i++)
		times[i] += by;
}

static void shift_rows(struct fw_trace *t, const struct mark *from, const struct mark *to,
		       int64_t by)
{
	shift(t->ops.start_ns, from->ops, to->ops, by);
	shift(t->ops.end_ns, from->ops, to->ops, by);
	shift(t->calls.start_ns, from->calls, to->calls, by);
	shift(t->calls.end_ns, from->calls, to->calls, by);
	shift(t->ranges.start_ns, from->ranges, to->ranges, by);
	shift(t->ranges.end_ns, from->ranges, to->ranges, by);
	shift(t->syncs.start_ns, from->syncs, to->syncs, by);
	shift(t->syncs.end_ns, from->syncs, to->syncs, by);
	shift(t->allocations.time_ns, from->allocations, to->allocations, by);
	shift(t->counters.time_ns, from->counters, to->counters, by);
}

static int64_t least(const int64_t *times, size_t from, size_t to, int64_t so_far)
{
	for (size_t i = from; i < to; i++)
		if (times[i] < so_far)
			so_far = times[i];
	return so_far;
}

static int64_t earliest(const struct fw_trace *t, const struct mark *from, const struct mark *to)
{
	int64_t time = least(t->ops.start_ns, from->ops, to->ops, INT64_MAX);

	time = least(t->calls.start_ns, from->calls, to->calls, time);
	time = least(t->ranges.start_ns, from->ranges, to->ranges, time);
	return time == INT64_MAX ? 0 : time;
}

static void forget_rows(struct fw_trace *t, const struct mark *from)
{
	t->ops.len = from->ops;
	t->calls.len = from->calls;
	t->ranges.len = from->ranges;
	t->syncs.len = from->syncs;
	t->allocations.len = from->allocations;
	t->counters.len = from->counters;
}

/* What reading several files keeps between them. */
struct several {
	struct fw_error refusal; /* of the first file that was refused */
	struct fw_map seen;      /* (device, inode) of the files -> row of files */
};

/* A file that is named twice, perhaps by two paths, would count twice. Pipes can be read once anyway. */
static fw_status refuse_repeated(const char *path, struct several *several,
				 const struct fw_trace *trace, struct fw_error *err)
{
	struct stat info;
	bool inserted;
	uint64_t *row;

	if (!strcmp(path, "-") || stat(path, &info) || !S_ISREG(info.st_mode))
		return FW_OK;
	row = fw_map_at(&several->seen, info.st_dev, info.st_ino, &inserted);
	if (!row)
		return fw_fail_nomem(err, sizeof(*row));
	if (inserted)
		*row = trace->files.len;
	if (inserted || *row >= trace->files.len)
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: the same file as %s, counted once", path,
		       fw_trace_text(trace, trace->files.path[*row]));
}

/*
 * Reads one of several files. Where there is nothing usable in it the others still count: it leaves no
 * rows, and says why in the table of files.
 */
static fw_status import_one_of(const char *path, const struct fw_import_options *options,
			       struct fw_trace *trace, struct several *several,
			       struct fw_error *err)
{
	struct fw_integrity integrity = trace->integrity;
	struct mark before = mark_of(trace);
	struct fw_error why = { 0 };
	size_t file = trace->files.len;
	fw_status status = refuse_repeated(path, several, trace, &why);
	bool failed = false;

	if (!status)
		status = import_path(path, options, trace, &why);
	if (status != FW_ERR_FORMAT && status != FW_ERR_UNSUPPORTED) {
		if (status && err)
			*err = why;
		return status;
	}
	if (!several->refusal.code)
		several->refusal = why;
	if (trace->files.len == file)
		file = add_file(trace, path);
	if (file == FW_NONE)
		return fw_trace_fail_growth(trace, err);
	forget_rows(trace, &before);
	trace->integrity = integrity;
	trace->files.refused[file] =
		fw_trace_intern(trace, why.message, strlen(why.message), &failed);
	return failed ? fw_trace_fail_growth(trace, err) : FW_OK;
}

static bool is_used(const struct fw_trace *t, size_t file)
{
	return !t->files.refused[file];
}

static bool has_used_file(const struct fw_trace *t)
{
	for (size_t i = 0; i < t->files.len; i++)
		if (is_used(t, i))
			return true;
	return false;
}

/* One time for all files where all tell theirs; else each starts at 0 and keeps its own. */
static void align(struct fw_trace *t, const struct mark *marks)
{
	int64_t *epochs = t->files.epoch_ns, zero = INT64_MAX;
	bool is_known = true;
	size_t used = 0;

	for (size_t i = 0; i < t->files.len; i++) {
		used += is_used(t, i);
		is_known &= epochs[i] != INT64_MIN || !is_used(t, i);
		if (is_used(t, i) && epochs[i] < zero)
			zero = epochs[i];
	}
	for (size_t i = 0; i < t->files.len; i++) {
		if (!is_used(t, i))
			continue;
		int64_t by = is_known ? epochs[i] - zero : -earliest(t, &marks[i], &marks[i + 1]);

		shift_rows(t, &marks[i], &marks[i + 1], by);
		if (epochs[i] != INT64_MIN)
			epochs[i] -= by;
	}
	if (is_known)
		t->epoch_ns = zero;
	else if (used > 1)
		t->blind_spots |= 1u << FW_BLIND_UNALIGNED;
}

/* Hands a whole trace out, or none. */
static fw_status finish(fw_status status, struct fw_trace *built, struct fw_trace **trace,
			struct fw_error *err)
{
	if (!status)
		status = fw_trace_audit(built, err);
	if (status) {
		fw_trace_destroy(built);
		return status;
	}
	fw_trace_seal(built);
	*trace = built;
	return FW_OK;
}

fw_status fw_import_bytes(const char *name, const void *bytes, size_t size,
			  const struct fw_import_options *options, struct fw_trace **trace,
			  struct fw_error *err)
{
	struct fw_source *source = NULL;
	struct fw_trace *built;
	fw_status status = fw_trace_create(&built, err);

	if (status)
		return status;
	status = fw_source_open_bytes(&source, name, bytes, size, err);
	if (!status)
		status = import_source(source, options, built, err);
	fw_source_close(source);
	if (!status)
		built->epoch_ns = built->files.epoch_ns[0];
	return finish(status, built, trace, err);
}

fw_status fw_import_files(const char *const *paths, size_t count,
			  const struct fw_import_options *options, struct fw_trace **trace,
			  struct fw_error *err)
{
	struct several several = { 0 };
	struct fw_trace *built;
	struct mark *marks;
	fw_status status;

	if (!count)
		return fw_fail(err, FW_ERR_ARGUMENT, "no trace files");
	status = fw_trace_create(&built, err);
	if (status)
		return status;
	fw_trace_limit_memory(built, options ? options->max_memory_bytes : 0);
	marks = calloc(count + 1, sizeof(*marks));
	if (!marks)
		status = fw_fail_nomem(err, count * sizeof(*marks));
	for (size_t i = 0; i < count && !status; i++) {
		status = import_one_of(paths[i], options, built, &several, err);
		marks[i + 1] = mark_of(built);
	}
	if (!status && !has_used_file(built)) {
		status = several.refusal.code;
		if (err)
			*err = several.refusal;
	}
	if (!status)
		align(built, marks);
	free(marks);
	fw_map_release(&several.seen);
	return finish(status, built, trace, err);
}

fw_status fw_import_file(const char *path, const struct fw_import_options *options,
			 struct fw_trace **trace, struct fw_error *err)
{
	return fw_import_files(&path, 1, options, trace, err);
}
