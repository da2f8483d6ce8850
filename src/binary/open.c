/* Paths -> files -> images -> kernels, each step over all threads; results in the order of the files. */
#include "binary/opening.h"

#include <stdlib.h>

#define DEFAULT_MAX_UNPACKED (UINT64_C(512) << 20)
#define DEFAULT_MAX_MEMBER   (UINT64_C(8) << 30)
/* A wheel is listed, anything else scanned. */
static void open_bytes(struct fw_opening *opening, size_t i)
{
	struct fw_source *source = opening->files + i;

	if (fw_is_zip(source->bytes))
		source->status = fw_zip_list(source->bytes, &source->arena, &opening->zips[i],
					     &source->error);
	else
		source->status = fw_source_scan(source, &source->error);
	/* Folders hold many files that are of no interest: none stays mapped for nothing. */
	if (!source->jobs.len && !opening->zips[i].len)
		fw_file_close(&source->file);
}

static void open_file(void *context, unsigned worker, size_t i)
{
	struct fw_opening *opening = context;
	struct fw_source *source = opening->files + i;

	(void)worker;
	source->status = fw_file_open(&source->file, source->label, &source->error);
	source->bytes = (struct fw_span){ source->file.data, source->file.size };
	if (source->status == FW_OK)
		open_bytes(opening, i);
}

static void set_error(struct fw_source *source, fw_status status, const struct fw_error *error)
{
	source->status = status;
	source->error = *error;
}

/* Only members that begin like something we read are inflated whole. */
static void open_member(void *context, unsigned worker, size_t i)
{
	struct fw_opening *opening = context;
	struct fw_source *source = opening->members + i;
	const struct fw_zip_member *member = source->member;
	unsigned char start[1024];
	struct fw_span packed, peek = { start, 0 };
	struct fw_error error;
	fw_status status = fw_zip_stored(source->bytes, member, &packed, &error);

	(void)worker;
	if (status != FW_OK) {
		set_error(source, status, &error);
		return;
	}
	source->bytes = packed;
	if (member->method)
		peek.size = fw_zip_peek(packed, start, sizeof(start));
	if (!fw_source_is_readable(member->method ? peek : packed)) {
		source->is_skipped = true;
		return;
	}
	if (member->unpacked > opening->options.max_member)
		status = fw_fail(&error, FW_ERR_UNSUPPORTED,
				 "member of %llu bytes is above the limit",
				 (unsigned long long)member->unpacked);
	else if (member->method)
		status = fw_zip_inflate(member, packed, &source->file, &error);
	if (status == FW_OK && member->method)
		source->bytes = (struct fw_span){ source->file.data, source->file.size };
	if (status == FW_OK)
		status = fw_source_scan(source, &error);
	if (status != FW_OK)
		set_error(source, status, &error);
}

static fw_status make_members(struct fw_opening *opening, struct fw_error *err)
{
	size_t count = 0, n = 0;

	for (size_t i = 0; i < opening->file_count; i++)
		count += opening->zips[i].len;
	opening->members = calloc(count + 1, sizeof(*opening->members));
	opening->order = calloc(count + opening->file_count + 1, sizeof(struct fw_source *));
	if (!opening->members || !opening->order)
		return fw_fail_nomem(err, count * sizeof(*opening->members));
	for (size_t i = 0; i < opening->file_count; i++) {
		struct fw_source *file = opening->files + i;
		const struct fw_zip_member *members = opening->zips[i].data;

		opening->order[opening->order_count++] = file;
		for (size_t k = 0; k < opening->zips[i].len; k++) {
			struct fw_source *source = opening->members + n++;
			const char *label = fw_arena_printf(&file->arena, "%s:%s", file->label,
							    members[k].name);

			if (!label)
				return fw_fail_nomem(err, strlen(file->label));
			fw_source_init(source, label);
			source->bytes = file->bytes;
			source->member = members + k;
			opening->member_count = n;
			opening->order[opening->order_count++] = source;
		}
	}
	return FW_OK;
}

/*
 * What went wrong with a whole file: fatal where the user named it, a problem elsewhere. Unknown kinds
 * in folders and wheels are only counted.
 */
static fw_status judge_sources(struct fw_opening *opening, struct fw_error *err)
{
	struct fw_binary *out = &opening->result;

	for (size_t i = 0; i < opening->order_count; i++) {
		struct fw_source *source = opening->order[i];

		if (source->status == FW_ERR_UNSUPPORTED && !source->is_named && !source->member)
			source->is_skipped = true;
		if (!source->member)
			out->bytes += source->bytes.size;
		out->files_skipped += source->is_skipped;
		out->files += !source->is_skipped;
		if (source->status == FW_OK || source->is_skipped)
			continue;
		if (source->status == FW_ERR_NOMEM || source->is_named) {
			if (err)
				*err = source->error;
			/* A file that could not be opened has its name in the message. */
			if (source->status != FW_ERR_IO)
				fw_error_prefix(err, "%s", source->label);
			return source->status;
		}
		fw_source_problem(source, source->label, &source->error);
	}
	return FW_OK;
}

static void release(struct fw_opening *opening)
{
	fw_release_readers(opening);
	for (size_t i = 0; i < opening->member_count; i++)
		fw_source_release(opening->members + i);
	for (size_t i = 0; i < opening->file_count; i++) {
		fw_source_release(opening->files + i);
		fw_vec_release(&opening->zips[i]);
	}
	fw_paths_release(&opening->paths);
	fw_arena_release(&opening->arena);
	free(opening->members);
	free(opening->files);
	free(opening->zips);
	free(opening->order);
	free(opening->jobs);
	free((void *)(uintptr_t)opening->result.kernels);
	free((void *)(uintptr_t)opening->result.images);
	free((void *)(uintptr_t)opening->result.kernel_of_image);
	free((void *)(uintptr_t)opening->result.problems);
	free(opening);
}

static struct fw_opening *create(const struct fw_binary_options *options)
{
	struct fw_opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return NULL;
	fw_paths_init(&opening->paths, &opening->arena);
	if (options)
		opening->options = *options;
	if (!opening->options.threads)
		opening->options.threads = fw_processors();
	if (opening->options.threads > FW_MOST_THREADS)
		opening->options.threads = FW_MOST_THREADS;
	if (!opening->options.max_unpacked)
		opening->options.max_unpacked = DEFAULT_MAX_UNPACKED;
	if (!opening->options.max_member)
		opening->options.max_member = DEFAULT_MAX_MEMBER;
	return opening;
}

static fw_status make_files(struct fw_opening *opening, size_t count, struct fw_error *err)
{
	opening->files = calloc(count + 1, sizeof(*opening->files));
	opening->zips = calloc(count + 1, sizeof(*opening->zips));
	if (!opening->files || !opening->zips)
		return fw_fail_nomem(err, count * sizeof(*opening->files));
	opening->file_count = count;
	for (size_t i = 0; i < count; i++) {
		fw_source_init(opening->files + i, "");
		opening->zips[i] = (struct fw_vec)FW_VEC(struct fw_zip_member);
	}
	return FW_OK;
}

/* From files whose bytes are there to the result; takes opening over. */
static fw_status finish(struct fw_opening *opening, fw_status status, struct fw_binary **binary,
			struct fw_error *err)
{
	if (status == FW_OK)
		status = make_members(opening, err);
	if (status == FW_OK) {
		fw_parallel(opening->options.threads, opening->member_count, open_member, opening);
		status = judge_sources(opening, err);
	}
	if (status == FW_OK)
		status = fw_read_images(opening, err);
	if (status == FW_OK)
		status = fw_fold(opening, err);
	if (status == FW_OK)
		*binary = &opening->result;
	else
		release(opening);
	return status;
}

fw_status fw_binary_open(struct fw_binary **binary, const char *const *paths, size_t count,
			 const struct fw_binary_options *options, struct fw_error *err)
{
	struct fw_opening *opening = create(options);
	const struct fw_path *files;
	fw_status status = FW_OK;

	*binary = NULL;
	if (!opening)
		return fw_fail_nomem(err, sizeof(*opening));
	for (size_t i = 0; status == FW_OK && i < count; i++)
		status = fw_paths_add(&opening->paths, paths[i], err);
	if (status == FW_OK)
		status = make_files(opening, opening->paths.files.len, err);
	files = opening->paths.files.data;
	for (size_t i = 0; status == FW_OK && i < opening->file_count; i++) {
		opening->files[i].label = files[i].text;
		opening->files[i].is_named = files[i].is_named;
	}
	if (status == FW_OK)
		fw_parallel(opening->options.threads, opening->file_count, open_file, opening);
	return finish(opening, status, binary, err);
}

fw_status fw_binary_open_bytes(struct fw_binary **binary, const void *bytes, size_t size,
			       const char *name, const struct fw_binary_options *options,
			       struct fw_error *err)
{
	struct fw_opening *opening = create(options);
	fw_status status;
	char *label;

	*binary = NULL;
	if (!opening)
		return fw_fail_nomem(err, sizeof(*opening));
	status = make_files(opening, 1, err);
	label = fw_arena_strndup(&opening->arena, name, strlen(name));
	if (status == FW_OK && !label)
		status = fw_fail_nomem(err, strlen(name));
	if (status == FW_OK) {
		opening->files[0].label = label;
		opening->files[0].is_named = true;
		opening->files[0].bytes = (struct fw_span){ bytes, size };
		open_bytes(opening, 0);
	}
	return finish(opening, status, binary, err);
}

void fw_binary_close(struct fw_binary *binary)
{
	/* The result is the first member. */
	if (binary)
		release((struct fw_opening *)binary);
}
