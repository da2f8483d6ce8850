/* The front door: opens files, joins those of several ranks into one trace. */
#include "import/import.h"

#include "import/kineto.h"
#include "import/source.h"

#include <string.h>

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

/* Hands a whole trace out, or none. */
static fw_status finish(fw_status status, struct fw_trace *built, struct fw_trace **trace)
{
	if (status) {
		fw_trace_destroy(built);
		return status;
	}
	fw_trace_seal(built);
	*trace = built;
	return FW_OK;
}

fw_status fw_import_bytes(const char *name, const void *bytes, size_t size, struct fw_trace **trace,
			  struct fw_error *err)
{
	struct fw_source *source = NULL;
	struct fw_trace *built;
	fw_status status = fw_trace_create(&built, err);

	if (status)
		return status;
	status = fw_source_open_bytes(&source, name, bytes, size, err);
	if (!status)
		status = import_source(source, NULL, built, err);
	fw_source_close(source);
	if (!status)
		built->epoch_ns = built->files.epoch_ns[0];
	return finish(status, built, trace);
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
	for (size_t i = 0; i < count && !status; i++)
		status = import_path(paths[i], options, built, err);
	if (!status && count == 1)
		built->epoch_ns = built->files.epoch_ns[0];
	return finish(status, built, trace);
}

fw_status fw_import_file(const char *path, const struct fw_import_options *options,
			 struct fw_trace **trace, struct fw_error *err)
{
	return fw_import_files(&path, 1, options, trace, err);
}
