#include "tune/cache.h"

#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYNC_EVERY 32

/* Results kept of one file: as many as spaces that are listed have configurations. */
#define RESULTS_MAX FW_TUNE_MAX_LISTED

struct fw_tune_cache {
	struct fw_tune_cache_options options;
	uint64_t conditions; /* hash */
	struct fw_tune_cache_stats stats;
	struct fw_vec results; /* struct fw_tune_result */
	struct fw_map index;   /* key -> 1 + its result */
	struct fw_tune_cache_line line;
	char *path;
	int fd; /* -1: not open yet */
	unsigned unsynced;
	bool has_header; /* ours stands in the file */
	bool has_failed;
};

static fw_status keep(struct fw_tune_cache *cache, const struct fw_tune_result *result,
		      struct fw_error *err)
{
	uint64_t key = fw_tune_space_key(cache->options.space, &result->config);
	uint64_t *at = fw_map_at(&cache->index, key, 0, NULL);
	struct fw_tune_result *to = cache->results.data;

	if (!at || (!*at && cache->results.len >= RESULTS_MAX))
		return fw_fail_nomem(err, sizeof(*result));
	if (*at) {
		to[*at - 1] = *result;
		return FW_OK;
	}
	to = fw_vec_push(&cache->results);
	if (!to)
		return fw_fail_nomem(err, sizeof(*result));
	*to = *result;
	*at = cache->results.len;
	return FW_OK;
}

/* What differs between their conditions and ours, most telling first. */
static void tell_difference(struct fw_tune_cache *cache, const struct fw_tune_conditions *theirs)
{
	const struct fw_tune_conditions *ours = cache->options.conditions;
	char *to = cache->stats.difference;
	size_t size = sizeof(cache->stats.difference);

	if (strcmp(theirs->kernel, ours->kernel))
		snprintf(to, size, "of another kernel: %.100s", theirs->kernel);
	else if (strcmp(theirs->gpu, ours->gpu))
		snprintf(to, size, "measured on another GPU: %s", theirs->gpu);
	else if (strcmp(theirs->uuid, ours->uuid))
		snprintf(to, size, "measured on another %s", theirs->gpu);
	else if (theirs->driver != ours->driver)
		snprintf(to, size, "measured with another driver: CUDA %u.%u",
			 theirs->driver / 1000, theirs->driver % 1000 / 10);
	else if (strcmp(theirs->nvrtc, ours->nvrtc))
		snprintf(to, size, "compiled by another NVRTC: %s", theirs->nvrtc);
	else if (strcmp(theirs->l2, ours->l2))
		snprintf(to, size, "measured with --l2 %s", theirs->l2);
	else if (theirs->source != ours->source)
		snprintf(to, size, "of another state of the source");
	else
		snprintf(to, size, "of another launch, other arguments or other sizes");
}

static fw_status read_line(struct fw_tune_cache *cache, const char *text, size_t len,
			   struct fw_error *err)
{
	struct fw_tune_cache_line *line = &cache->line;
	enum fw_tune_line kind = fw_tune_cache_read(text, len, cache->options.space, line);

	switch (kind) {
	case FW_TUNE_LINE_HEADER:
		if (line->conditions == cache->conditions)
			cache->has_header = true;
		else
			tell_difference(cache, &line->header);
		return FW_OK;
	case FW_TUNE_LINE_RESULT:
	case FW_TUNE_LINE_FOREIGN_SPACE: break;
	default: return FW_ERR_FORMAT;
	}
	if (line->conditions != cache->conditions) {
		cache->stats.foreign++;
		return FW_OK;
	}
	if (kind == FW_TUNE_LINE_FOREIGN_SPACE ||
	    !fw_tune_space_is_valid(cache->options.space, &line->result.config)) {
		cache->stats.foreign_space++;
		return FW_OK;
	}
	return keep(cache, &line->result, err);
}

fw_status fw_tune_cache_read_text(struct fw_tune_cache *cache, const char *text, size_t len,
				  struct fw_error *err)
{
	const char *end;
	uint64_t number = 0;

	if (!len)
		text = ""; /* an empty file's text may be NULL */
	end = text + len;

	for (const char *p = text; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		fw_status status = read_line(cache, p, (size_t)(stop - p), err);

		number++;
		if (status == FW_ERR_NOMEM)
			return status;
		if (status && newline) {
			if (!cache->stats.damaged++)
				cache->stats.first_damaged = number;
		}
		cache->stats.is_torn = !newline;
		p = newline ? newline + 1 : end;
	}
	cache->stats.results = cache->results.len;
	return FW_OK;
}

static fw_status read_file(struct fw_tune_cache *cache, struct fw_error *err)
{
	struct fw_file file;
	fw_status status;

	if (access(cache->path, F_OK) && errno == ENOENT)
		return FW_OK;
	status = fw_file_open(&file, cache->path, err);
	if (status)
		return status;
	status = fw_tune_cache_read_text(cache, (const char *)file.data, file.size, err);
	fw_file_close(&file);
	if (cache->options.forgets) {
		cache->results.len = 0;
		fw_map_release(&cache->index);
		cache->stats.results = 0;
	}
	return status;
}

fw_status fw_tune_cache_open(const struct fw_tune_cache_options *options,
			     struct fw_tune_cache **out, struct fw_error *err)
{
	struct fw_tune_cache *cache = calloc(1, sizeof(*cache));
	fw_status status = FW_OK;

	if (!cache)
		return fw_fail_nomem(err, sizeof(*cache));
	cache->options = *options;
	cache->conditions = fw_tune_conditions_hash(options->conditions);
	cache->results = (struct fw_vec)FW_VEC(struct fw_tune_result);
	cache->fd = -1;
	if (options->path) {
		cache->path = strdup(options->path);
		status = cache->path ? read_file(cache, err) : fw_fail_nomem(err, 1);
	}
	if (!status && cache->path) {
		/* Opened now: that it cannot be written is better known before hours of measuring. */
		cache->fd = open(cache->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (cache->fd < 0)
			status = fw_fail(err, FW_ERR_IO, "%s: %s", cache->path, strerror(errno));
	}
	if (status)
		fw_tune_cache_close(cache, NULL);
	else
		*out = cache;
	return status;
}

void fw_tune_cache_stats(const struct fw_tune_cache *cache, struct fw_tune_cache_stats *stats)
{
	*stats = cache->stats;
}

const struct fw_tune_result *fw_tune_cache_find(const struct fw_tune_cache *cache,
						const struct fw_tune_config *config)
{
	uint64_t key = fw_tune_space_key(cache->options.space, config);
	const uint64_t *at = fw_map_find(&cache->index, key, 0);
	const struct fw_tune_result *results = cache->results.data;

	return at && *at ? &results[*at - 1] : NULL;
}

/* One write a line, so that lines of several processes do not mix. */
static fw_status write_text(struct fw_tune_cache *cache, const struct fw_str *text,
			    struct fw_error *err)
{
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = write(cache->fd, text->data + done, text->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fw_fail(err, FW_ERR_IO, "%s: %s", cache->path,
				       n ? strerror(errno) : "nothing could be written");
		done += (size_t)n;
	}
	return FW_OK;
}

static fw_status sync_file(struct fw_tune_cache *cache, struct fw_error *err)
{
	cache->unsynced = 0;
	/* EINVAL: a pipe or terminal, which has nothing to wait for. */
	if (fsync(cache->fd) && errno != EINVAL)
		return fw_fail(err, FW_ERR_IO, "%s: %s", cache->path, strerror(errno));
	return FW_OK;
}

fw_status fw_tune_cache_append(struct fw_tune_cache *cache, const struct fw_tune_result *result,
			       struct fw_error *err)
{
	struct fw_str text = { 0 };
	fw_status status = keep(cache, result, err);

	if (status || !cache->path || cache->has_failed)
		return status;
	if (cache->stats.is_torn)
		fw_str_putc(&text, '\n');
	if (!cache->has_header)
		fw_tune_cache_put_header(&text, cache->options.conditions, cache->options.space);
	fw_tune_cache_put_result(&text, cache->conditions, cache->options.space, result);
	status = text.failed ? fw_fail_nomem(err, text.len) : write_text(cache, &text, err);
	fw_str_release(&text);
	cache->has_header = true;
	cache->stats.is_torn = false;
	if (!status && ++cache->unsynced == SYNC_EVERY)
		status = sync_file(cache, err);
	cache->has_failed = status;
	return status;
}

fw_status fw_tune_cache_close(struct fw_tune_cache *cache, struct fw_error *err)
{
	fw_status status = FW_OK;

	if (!cache)
		return FW_OK;
	if (cache->fd >= 0) {
		if (cache->unsynced && !cache->has_failed)
			status = sync_file(cache, err);
		if (close(cache->fd) && !status)
			status = fw_fail(err, FW_ERR_IO, "%s: %s", cache->path, strerror(errno));
	}
	fw_vec_release(&cache->results);
	fw_map_release(&cache->index);
	free(cache->path);
	free(cache);
	return status;
}
