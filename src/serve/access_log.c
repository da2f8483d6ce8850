#include "serve/access_log.h"

#include "base/error.h"
#include "base/json_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

fw_status fw_access_log_open(struct fw_access_log *log, const char *path, struct fw_error *err)
{
	*log = (struct fw_access_log){ .path = path, .fd = -1 };
	pthread_mutex_init(&log->lock, NULL);
	if (!path)
		return FW_OK;
	log->fd = strcmp(path, "-") ? open_file(path) : STDOUT_FILENO;
	if (log->fd < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	return FW_OK;
}

void fw_access_log_close(struct fw_access_log *log)
{
	if (log->fd >= 0 && log->fd != STDOUT_FILENO)
		close(log->fd);
	log->fd = -1;
	pthread_mutex_destroy(&log->lock);
}

fw_status fw_access_log_reopen(struct fw_access_log *log, struct fw_error *err)
{
	int fd;

	if (log->fd < 0 || log->fd == STDOUT_FILENO)
		return FW_OK;
	fd = open_file(log->path);
	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", log->path, strerror(errno));
	pthread_mutex_lock(&log->lock);
	close(log->fd);
	log->fd = fd;
	pthread_mutex_unlock(&log->lock);
	return FW_OK;
}

static void put_time(struct fw_json *json)
{
	struct timespec now;
	struct tm tm;
	char text[40], day[24];

	clock_gettime(CLOCK_REALTIME, &now);
	if (!gmtime_r(&now.tv_sec, &tm) || !strftime(day, sizeof(day), "%FT%T", &tm))
		return;
	snprintf(text, sizeof(text), "%s.%03ldZ", day, now.tv_nsec / 1000000);
	fw_json_string(json, "time", text);
}

static void put_ms(struct fw_json *json, const char *key, int64_t ns)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.3f", (double)ns / 1e6);
	fw_json_number(json, key, digits);
}

static void put_stages(struct fw_json *json, const int64_t *stage_ns)
{
	fw_json_begin_object(json, "stages_ms");
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		put_ms(json, fw_pipeline_stage_name((enum fw_pipeline_stage)i), stage_ns[i]);
	fw_json_end_object(json);
}

static void write_line(struct fw_access_log *log, const struct fw_str *line)
{
	ssize_t n = -1;

	pthread_mutex_lock(&log->lock);
	/* At once, so that lines of several processes do not mix. */
	if (!line->failed)
		do
			n = write(log->fd, line->data, line->len);
		while (n < 0 && errno == EINTR);
	pthread_mutex_unlock(&log->lock);
	if (n < 0 || (size_t)n != line->len)
		atomic_fetch_add(&log->lost, 1);
}

void fw_access_log_write(struct fw_access_log *log, const struct fw_access *access)
{
	struct fw_str line = { 0 };
	struct fw_json json = { .out = &line };

	if (!log->path)
		return;
	fw_json_begin_object(&json, NULL);
	put_time(&json);
	fw_json_string(&json, "client", access->client);
	fw_json_string(&json, "method", access->method);
	fw_json_string(&json, "path", access->path);
	fw_json_uint(&json, "status", access->status);
	fw_json_uint(&json, "bytes_in", access->bytes_in);
	fw_json_uint(&json, "bytes_out", access->bytes_out);
	put_ms(&json, "total_ms", access->total_ns);
	if (access->stage_ns) {
		fw_json_uint(&json, "images", access->images);
		fw_json_uint(&json, "batch", access->batch);
		put_stages(&json, access->stage_ns);
	}
	fw_json_end_object(&json);
	fw_str_putc(&line, '\n');
	write_line(log, &line);
	fw_str_release(&line);
}
