/* Images -> kernels, over all threads, with a bound on what is unpacked at a time. */
#include "binary/fatbin.h"
#include "binary/opening.h"
#include "binary/schedule.h"

#include <stdlib.h>

/* All that a file may unpack to, so that a small one cannot keep the machine busy. */
#define TOTAL_RATIO 64
#define TOTAL_SLACK (UINT64_C(1) << 30)

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

static void read_job(struct fw_reader *reader, struct fw_job *job)
{
	struct fw_error error;
	fw_status status;

	job->first = reader->found.len;
	if (job->packing != FW_PACKING_NONE && !reader->buffer)
		status = fw_fail_nomem(&error, (size_t)job->image.bytes);
	else
		status = read_image(reader, job, &error);
	job->image.kernel_count = (uint32_t)(reader->found.len - job->first);
	if (status == FW_OK)
		return;
	job->image.error = fw_arena_strndup(&reader->arena, error.message, strlen(error.message));
	if (!job->image.error)
		job->image.error = "out of memory";
}

/* What images are read with, and the queue they come from. */
struct reading {
	struct fw_opening *opening;
	struct fw_schedule schedule;
};

static void read_jobs(void *context, unsigned worker, size_t item)
{
	struct reading *reading = context;
	struct fw_reader *reader = reading->opening->readers + worker;
	struct fw_job *job;

	(void)item;
	while ((job = fw_schedule_next(&reading->schedule, reader))) {
		job->worker = worker;
		read_job(reader, job);
	}
}

/* What only reading needs; the kernels found and their names stay. */
static void drop_scratch(struct fw_reader *reader)
{
	fw_unpack_release(reader);
	fw_vec_release(&reader->slots);
}

fw_status fw_read_images(struct fw_opening *opening, struct fw_error *err)
{
	struct reading reading = { .opening = opening };
	size_t count = 0;
	unsigned threads;

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
	fw_schedule_init(&reading.schedule, opening->jobs, opening->job_count);
	threads = opening->options.threads;
	if (threads > opening->job_count)
		threads = (unsigned)opening->job_count;
	fw_parallel(threads, threads, read_jobs, &reading);
	fw_schedule_release(&reading.schedule);
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
