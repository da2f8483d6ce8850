/* Images -> kernels, over all threads, with a bound on what is unpacked at a time. */
#include "binary/fatbin.h"
#include "binary/opening.h"

#include <stdlib.h>

/* Bytes of unpacked images at a time: in buffers that the workers keep, and in larger ones. */
#define KEPT_AT_ONCE  (UINT64_C(24) << 20)
#define LARGE_AT_ONCE (UINT64_C(96) << 20)
/* All that a file may unpack to, so that a small one cannot keep the machine busy. */
#define TOTAL_RATIO 64
#define TOTAL_SLACK (UINT64_C(1) << 30)

/* The order in which images are read: large ones first, so that no thread ends long after the others. */
static int compare_jobs(const void *a, const void *b)
{
	const struct fw_job *x = *(struct fw_job *const *)a, *y = *(struct fw_job *const *)b;

	if (x->image.bytes != y->image.bytes)
		return x->image.bytes > y->image.bytes ? -1 : 1;
	return (x > y) - (x < y);
}

/* Fills jobs with what is worth reading; declared sizes are judged before anything is unpacked. */
static void collect_jobs(struct fw_opening *opening)
{
	for (size_t i = 0; i < opening->order_count; i++) {
		struct fw_source *source = opening->order[i];
		uint64_t total = 0,
			 limit = (uint64_t)source->bytes.size * TOTAL_RATIO + TOTAL_SLACK;
		struct fw_job *jobs = source->jobs.data;

		for (size_t k = 0; k < source->jobs.len; k++) {
			struct fw_image *image = &jobs[k].image;

			if (image->kind == FW_IMAGE_LTO || image->kind == FW_IMAGE_OTHER ||
			    (image->kind == FW_IMAGE_PTX && opening->options.without_ptx))
				continue;
			if (image->is_compressed && image->bytes > opening->options.max_unpacked)
				image->error = "declares more unpacked bytes than are allowed";
			else if (image->is_compressed && image->bytes > limit - total)
				image->error = "the file's images unpack to more than is plausible";
			if (image->error)
				continue;
			total += image->is_compressed ? image->bytes : 0;
			opening->jobs[opening->job_count++] = &jobs[k];
		}
	}
	if (opening->job_count)
		qsort(opening->jobs, opening->job_count, sizeof(struct fw_job *), compare_jobs);
}

/* Memory for one unpacked image; small buffers stay with the worker. */
static unsigned char *take_buffer(struct fw_opening *opening, struct fw_reader *reader, size_t size)
{
	size_t keep = (size_t)(KEPT_AT_ONCE / opening->options.threads);

	if (size > keep) {
		fw_budget_take(&opening->budget, size);
		return malloc(size);
	}
	if (size > reader->kept_bytes) {
		free(reader->kept_buffer);
		reader->kept_bytes = 0;
		reader->kept_buffer = malloc(size);
		if (reader->kept_buffer)
			reader->kept_bytes = size;
	}
	return reader->kept_buffer;
}

static void return_buffer(struct fw_opening *opening, struct fw_reader *reader, size_t size)
{
	if (reader->buffer == reader->kept_buffer)
		return;
	free(reader->buffer);
	fw_budget_return(&opening->budget, size);
}

static fw_status read_image(struct fw_reader *reader, struct fw_job *job, struct fw_error *err)
{
	struct fw_span bytes;
	fw_status status = fw_unpack(reader, job, &bytes, err);

	if (status != FW_OK)
		return status;
	reader->copies_names = job->packing != FW_PACKING_NONE;
	if (job->image.kind == FW_IMAGE_CUBIN)
		return fw_cubin_read(reader, &job->image, bytes, err);
	return fw_ptx_read(reader, &job->image, bytes, err);
}

static void read_job(void *context, unsigned worker, size_t item)
{
	struct fw_opening *opening = context;
	struct fw_job *job = opening->jobs[item];
	struct fw_reader *reader = opening->readers + worker;
	size_t size = (size_t)job->image.bytes;
	struct fw_error error;
	fw_status status = FW_OK;

	job->worker = worker;
	job->first = reader->found.len;
	if (job->packing != FW_PACKING_NONE) {
		reader->buffer = take_buffer(opening, reader, size);
		if (!reader->buffer)
			status = fw_fail_nomem(&error, size);
	}
	if (status == FW_OK)
		status = read_image(reader, job, &error);
	if (job->packing != FW_PACKING_NONE)
		return_buffer(opening, reader, size);
	job->image.kernel_count = (uint32_t)(reader->found.len - job->first);
	if (status == FW_OK)
		return;
	job->image.error = fw_arena_strndup(&reader->arena, error.message, strlen(error.message));
	if (!job->image.error)
		job->image.error = "out of memory";
}

/* What only reading needs; the kernels found and their names stay. */
static void drop_scratch(struct fw_reader *reader)
{
	fw_unpack_release(reader);
	free(reader->kept_buffer);
	reader->kept_buffer = NULL;
	fw_vec_release(&reader->slots);
}

fw_status fw_read_images(struct fw_opening *opening, struct fw_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < opening->order_count; i++)
		count += opening->order[i]->jobs.len;
	opening->jobs = calloc(count + 1, sizeof(struct fw_job *));
	opening->readers = calloc(opening->options.threads, sizeof(struct fw_reader));
	if (!opening->jobs || !opening->readers)
		return fw_fail_nomem(err, count * sizeof(struct fw_job *));
	for (unsigned i = 0; i < opening->options.threads; i++) {
		opening->readers[i].found = (struct fw_vec)FW_VEC(struct fw_found);
		opening->readers[i].slots = (struct fw_vec)FW_VEC(uint32_t);
	}
	collect_jobs(opening);
	fw_budget_init(&opening->budget, LARGE_AT_ONCE);
	fw_parallel(opening->options.threads, opening->job_count, read_job, opening);
	fw_budget_release(&opening->budget);
	for (unsigned i = 0; i < opening->options.threads; i++)
		drop_scratch(opening->readers + i);
	return FW_OK;
}

void fw_release_readers(struct fw_opening *opening)
{
	for (unsigned i = 0; opening->readers && i < opening->options.threads; i++) {
		struct fw_reader *reader = opening->readers + i;

		drop_scratch(reader);
		fw_vec_release(&reader->found);
		fw_arena_release(&reader->arena);
	}
	free(opening->readers);
	opening->readers = NULL;
}
