/* The front door: opens files, joins those of several ranks into one trace. */
#include "import/import.h"

#include "import/kineto.h"
#include "import/source.h"
#include "trace/recording_read.h"

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
	trace->files.clock_error_ns[file] = -1;
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
	struct fw_trace_mark before = fw_trace_mark(trace);
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
	fw_trace_forget(trace, &before);
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

/* What makes the earliest time of a file 0. */
static int64_t zero_of(const struct fw_trace *t, const struct fw_trace_mark *from,
		       const struct fw_trace_mark *to)
{
	int64_t time = fw_trace_earliest(t, from, to);

	return time == INT64_MAX ? 0 : -time;
}

/* One time for all files where all tell theirs; else each starts at 0 and keeps its own. */
static void align(struct fw_trace *t, const struct fw_trace_mark *marks)
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
		int64_t by = is_known ? epochs[i] - zero : zero_of(t, &marks[i], &marks[i + 1]);

		fw_trace_shift(t, &marks[i], &marks[i + 1], by);
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
	if (fw_is_recording_bytes(bytes, size))
		return finish(fw_recording_read_bytes(name, bytes, size, built, err), built, trace,
			      err);
	status = fw_source_open_bytes(&source, name, bytes, size, err);
	if (!status)
		status = import_source(source, options, built, err);
	fw_source_close(source);
	if (!status)
		built->epoch_ns = built->files.epoch_ns[0];
	return finish(status, built, trace, err);
}

static fw_status import_traces(const char *const *paths, size_t count,
			       const struct fw_import_options *options, struct fw_trace *built,
			       struct fw_error *err)
{
	struct several several = { 0 };
	struct fw_trace_mark *marks = calloc(count + 1, sizeof(*marks));
	fw_status status = FW_OK;

	if (!marks)
		return fw_fail_nomem(err, count * sizeof(*marks));
	for (size_t i = 0; i < count && !status; i++) {
		status = import_one_of(paths[i], options, built, &several, err);
		marks[i + 1] = fw_trace_mark(built);
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
	return status;
}

static fw_status import_recordings(const char *const *paths, size_t count,
				   const struct fw_import_options *options, struct fw_trace *built,
				   struct fw_error *err)
{
	struct fw_recording_options how = { 0 };

	if (options) {
		how.progress = options->progress;
		how.user = options->user;
	}
	for (size_t i = 0; i < count; i++)
		if (!fw_is_recording(paths[i]))
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "%s: not a recording; recordings and other traces cannot be "
				       "read together",
				       paths[i]);
	return fw_recording_read(paths, count, &how, built, err);
}

static bool has_recording(const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fw_is_recording(paths[i]))
			return true;
	return false;
}

fw_status fw_import_files(const char *const *paths, size_t count,
			  const struct fw_import_options *options, struct fw_trace **trace,
			  struct fw_error *err)
{
	struct fw_trace *built;
	fw_status status;

	if (!count)
		return fw_fail(err, FW_ERR_ARGUMENT, "no trace files");
	status = fw_trace_create(&built, err);
	if (status)
		return status;
	fw_trace_limit_memory(built, options ? options->max_memory_bytes : 0);
	if (has_recording(paths, count))
		status = import_recordings(paths, count, options, built, err);
	else
		status = import_traces(paths, count, options, built, err);
	return finish(status, built, trace, err);
}

fw_status fw_import_file(const char *path, const struct fw_import_options *options,
			 struct fw_trace **trace, struct fw_error *err)
{
	return fw_import_files(&path, 1, options, trace, err);
}
