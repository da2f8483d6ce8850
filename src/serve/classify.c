/*
 * Image files through the pipeline. One thread reads files, submits them and writes rows; answers come in any order and wait
 * in a window of entries until those before them are written.
 */
#include "serve/classify.h"

#include "base/file.h"
#include "serve/answer_rows.h"
#include "serve/flow_options.h"
#include "serve/image_bytes.h"
#include "serve/steady_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE_BYTES   ((size_t)128 << 20)
#define MAX_WINDOW_BYTES ((size_t)256 << 20) /* of files read and not yet answered */
#define MAX_FAILURES     20                  /* that are listed at the end */
#define PROGRESS_NS      INT64_C(200000000)

struct window;

/* One image between its reading and its row. done: guarded by the window's lock; the rest is the callback's until then. */
struct entry {
	struct window *window;
	const char *image;
	unsigned char *bytes;
	size_t size;
	bool is_done, is_failed;
	uint32_t count;
	uint32_t *ids;
	float *probabilities;
	struct fw_error err;
};

/* The entries first .. first + used, in a ring of as many as the pipeline takes and some more. */
struct window {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct entry *entries;
	uint32_t *ids;
	float *probabilities;
	size_t cap, first, used, bytes;
};

struct running {
	const struct fw_classify_job *job;
	struct fw_classify_result *result;
	struct fw_pipeline *pipeline;
	struct fw_labels labels;
	struct fw_row_format format;
	struct fw_rows_done done;
	struct fw_str text, failures;
	struct window window;
	FILE *out;
	int64_t start_ns, next_progress_ns;
	bool has_progress;
};

static fw_status window_open(struct window *window, const struct fw_pipeline_stats *stats,
			     struct fw_error *err)
{
	size_t classes;

	pthread_mutex_init(&window->lock, NULL);
	pthread_cond_init(&window->answered, NULL);
	window->cap = (size_t)stats->slots + stats->max_batch;
	classes = window->cap * stats->top;
	window->entries = calloc(window->cap, sizeof(*window->entries));
	window->ids = calloc(classes, sizeof(*window->ids));
	window->probabilities = calloc(classes, sizeof(*window->probabilities));
	if (!window->entries || !window->ids || !window->probabilities)
		return fw_fail_nomem(err, window->cap * sizeof(*window->entries));
	for (size_t i = 0; i < window->cap; i++) {
		window->entries[i].window = window;
		window->entries[i].ids = window->ids + i * stats->top;
		window->entries[i].probabilities = window->probabilities + i * stats->top;
	}
	return FW_OK;
}

static void window_close(struct window *window)
{
	if (!window->cap)
		return;
	for (size_t i = 0; window->entries && i < window->cap; i++)
		free(window->entries[i].bytes);
	free(window->entries);
	free(window->ids);
	free(window->probabilities);
	pthread_mutex_destroy(&window->lock);
	pthread_cond_destroy(&window->answered);
}

static void finish(struct entry *entry)
{
	struct window *window = entry->window;

	pthread_mutex_lock(&window->lock);
	entry->is_done = true;
	pthread_cond_signal(&window->answered);
	pthread_mutex_unlock(&window->lock);
}

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct entry *entry = user;

	entry->is_failed = answer->outcome != FW_PIPELINE_CLASSIFIED;
	entry->count = answer->count;
	memcpy(entry->ids, answer->ids, answer->count * sizeof(*entry->ids));
	memcpy(entry->probabilities, answer->probabilities,
	       answer->count * sizeof(*entry->probabilities));
	if (entry->is_failed)
		entry->err = *answer->error;
	finish(entry);
}

static void show_progress(struct running *r, bool is_last)
{
	int64_t now = fw_steady_ns();
	size_t total = r->job->names->names.len;

	if (!r->has_progress || (!is_last && now < r->next_progress_ns))
		return;
	r->next_progress_ns = now + PROGRESS_NS;
	fprintf(stderr, "\r%zu of %zu images, %zu failed, %.1f images/s ",
		r->result->skipped + r->result->classified + r->result->failed, total,
		r->result->failed,
		(double)(r->result->classified + r->result->failed) * 1e9 /
			(double)(now - r->start_ns + 1));
	if (is_last)
		fputc('\n', stderr);
}

static void note_failure(struct running *r, const struct entry *entry)
{
	if (r->result->failed++ < MAX_FAILURES)
		fw_str_printf(&r->failures, "%s: %s\n", entry->image, entry->err.message);
}

/* The window's first entry is done: its row goes out. */
static fw_status write_first(struct running *r, struct fw_error *err)
{
	struct window *window = &r->window;
	struct entry *entry = &window->entries[window->first];
	const struct fw_row row = {
		.image = entry->image,
		.error = entry->is_failed ? entry->err.message : NULL,
		.count = entry->count,
		.ids = entry->ids,
		.probabilities = entry->probabilities,
	};

	if (entry->is_failed)
		note_failure(r, entry);
	else
		r->result->classified++;
	fw_str_clear(&r->text);
	fw_row_write(&r->format, &row, &r->text);
	free(entry->bytes);
	entry->bytes = NULL;
	window->bytes -= entry->size;
	window->first = (window->first + 1) % window->cap;
	window->used--;
	if (r->text.failed)
		return fw_fail_nomem(err, r->text.cap);
	/* Row by row, so that a run that is stopped has lost none. */
	if (fwrite(r->text.data, 1, r->text.len, r->out) != r->text.len || fflush(r->out))
		return fw_fail(err, FW_ERR_IO, "%s: cannot write: %s",
			       r->job->output ? r->job->output : "standard output",
			       strerror(errno));
	show_progress(r, false);
	return FW_OK;
}

static bool is_first_done(struct window *window, bool is_waiting)
{
	struct entry *entry = &window->entries[window->first];
	bool is_done;

	pthread_mutex_lock(&window->lock);
	while (is_waiting && !entry->is_done)
		pthread_cond_wait(&window->answered, &window->lock);
	is_done = entry->is_done;
	pthread_mutex_unlock(&window->lock);
	return is_done;
}

/* Writes what is done, and waits until at most `most` entries and their bytes are in the window. */
static fw_status write_rows(struct running *r, size_t most, size_t most_bytes, struct fw_error *err)
{
	struct window *window = &r->window;
	fw_status status = FW_OK;

	while (!status && window->used &&
	       is_first_done(window, window->used > most || window->bytes > most_bytes))
		status = write_first(r, err);
	return status;
}

static fw_status start_image(struct running *r, const char *image, struct fw_error *err)
{
	struct window *window = &r->window;
	struct entry *entry = &window->entries[(window->first + window->used) % window->cap];
	struct fw_pipeline_request request;
	fw_status status;

	entry->image = image;
	entry->size = 0;
	entry->count = 0;
	entry->is_done = entry->is_failed = false;
	status = fw_image_bytes_read(image, MAX_FILE_BYTES, &entry->bytes, &entry->size,
				     &entry->err);
	if (status)
		entry->bytes = NULL;
	window->used++;
	window->bytes += entry->size;
	if (status) {
		entry->is_failed = true;
		finish(entry);
		return FW_OK;
	}
	fw_pipeline_request_init(&request);
	request.bytes = entry->bytes;
	request.size = entry->size;
	request.callback = on_answer;
	request.user = entry;
	status = fw_pipeline_submit(r->pipeline, &request, err);
	if (status)
		window->used--;
	return status;
}

static fw_status classify_all(struct running *r, struct fw_error *err)
{
	char *const *names = r->job->names->names.data;
	size_t n = r->job->names->names.len;
	fw_status status = FW_OK;

	r->start_ns = fw_steady_ns();
	for (size_t i = 0; i < n && !status; i++) {
		if (r->done.rows && fw_rows_take(&r->format, &r->done, names[i], &r->text)) {
			r->result->skipped++;
			continue;
		}
		status = start_image(r, names[i], err);
		if (!status)
			status = write_rows(r, r->window.cap - 1, MAX_WINDOW_BYTES, err);
	}
	if (!status)
		status = write_rows(r, 0, 0, err);
	r->result->took_ns = fw_steady_ns() - r->start_ns;
	show_progress(r, true);
	return status;
}

/* What a run before this one has written; the torn end goes. */
static fw_status resume(struct running *r, struct fw_error *err)
{
	const char *path = r->job->output;
	struct fw_file file;
	fw_status status;
	size_t size;

	if (access(path, F_OK) && errno == ENOENT)
		return FW_OK;
	status = fw_file_open(&file, path, err);
	if (status)
		return status;
	status = fw_rows_read(&r->format, (const char *)file.data, file.size, &r->done, err);
	size = file.size;
	fw_file_close(&file);
	if (status) {
		fw_error_prefix(err, "%s", path);
		return status;
	}
	r->result->torn_bytes = size - r->done.bytes;
	if (r->result->torn_bytes && truncate(path, (off_t)r->done.bytes))
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	return FW_OK;
}

static fw_status open_output(struct running *r, struct fw_error *err)
{
	fw_status status = r->job->is_resuming ? resume(r, err) : FW_OK;

	if (status)
		return status;
	r->out = stdout;
	if (r->job->output)
		r->out = fopen(r->job->output, r->job->is_resuming ? "ae" : "we");
	if (!r->out)
		return fw_fail(err, FW_ERR_IO, "%s: %s", r->job->output, strerror(errno));
	if (r->done.bytes)
		return FW_OK;
	fw_row_header(&r->format, &r->text);
	if (r->text.failed)
		return fw_fail_nomem(err, r->text.cap);
	fputs(fw_str_text(&r->text), r->out); /* a failure shows when the first row is flushed */
	return FW_OK;
}

static fw_status open_pipeline(struct running *r, struct fw_error *err)
{
	struct fw_pipeline_stats stats;
	fw_status status = fw_pipeline_create(&r->job->config, &r->pipeline, err);

	fw_pipeline_stats_init(&stats);
	if (status || (status = fw_pipeline_get_stats(r->pipeline, &stats, err)))
		return status;
	if (r->job->explains)
		fw_flow_explain(r->pipeline);
	r->format.top = stats.top < stats.classes ? stats.top : stats.classes;
	if (r->job->labels && r->labels.count != stats.classes)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s: %u labels, but %s has %u classes",
			       r->job->labels, r->labels.count, r->job->config.model,
			       stats.classes);
	return window_open(&r->window, &stats, err);
}

/* The callbacks are over when the pipeline is destroyed; only then may their window go. */
static fw_status close_all(struct running *r, fw_status status, struct fw_error *err)
{
	fw_pipeline_destroy(r->pipeline);
	window_close(&r->window);
	fw_rows_done_release(&r->done);
	fw_labels_release(&r->labels);
	fw_str_release(&r->text);
	r->result->failures = fw_str_detach(&r->failures);
	if (r->out && r->out != stdout && fclose(r->out) && !status)
		status = fw_fail(err, FW_ERR_IO, "%s: cannot write: %s", r->job->output,
				 strerror(errno));
	return status;
}

fw_status fw_classify(const struct fw_classify_job *job, struct fw_classify_result *result,
		      struct fw_error *err)
{
	struct running r = {
		.job = job,
		.result = result,
		.format = { .is_json = job->is_json },
		.has_progress = !job->is_quiet && isatty(STDERR_FILENO),
	};
	fw_status status = FW_OK;

	*result = (struct fw_classify_result){ .failures = NULL };
	if (job->labels) {
		status = fw_labels_read(&r.labels, job->labels, err);
		r.format.labels = &r.labels;
	}
	if (!status && !(status = open_pipeline(&r, err)) && !(status = open_output(&r, err)))
		status = classify_all(&r, err);
	return close_all(&r, status, err);
}

void fw_classify_result_release(struct fw_classify_result *result)
{
	free(result->failures);
	*result = (struct fw_classify_result){ .failures = NULL };
}
