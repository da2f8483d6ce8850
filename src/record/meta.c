/* meta.json: what was recorded, how and when, for people and scripts. */
#include "base/json_writer.h"
#include "record/session.h"
#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* "2026-11-30T15:36:02.123Z" */
static void put_time(struct fw_json *json, const char *key, int64_t realtime)
{
	time_t seconds = (time_t)(realtime / 1000000000);
	char text[64] = { 0 };
	struct tm utc;
	size_t n;

	if (!realtime || !gmtime_r(&seconds, &utc)) {
		fw_json_null(json, key);
		return;
	}
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + n, sizeof(text) - n, ".%03dZ", (int)(realtime / 1000000 % 1000));
	fw_json_string(json, key, text);
}

static void put_seconds(struct fw_json *json, const char *key, int64_t ns)
{
	if (ns)
		fw_json_double(json, key, (double)ns / 1e9);
}

static void put_options(struct fw_json *json, const struct fw_record_options *options)
{
	fw_json_begin_object(json, "options");
	put_seconds(json, "delay_s", options->schedule.delay_ns);
	put_seconds(json, "duration_s", options->schedule.duration_ns);
	put_seconds(json, "every_s", options->schedule.every_ns);
	put_seconds(json, "for_s", options->schedule.for_ns);
	if (options->signal)
		fw_json_int(json, "signal", options->signal);
	if (options->kernels)
		fw_json_string(json, "kernels", options->kernels);
	if (options->max_bytes)
		fw_json_uint(json, "max_bytes", options->max_bytes);
	fw_json_string(json, "graphs", options->graph_nodes ? "node" : "launch");
	fw_json_bool(json, "syncs", options->syncs);
	if (options->cuda_profiler)
		fw_json_string(json, "range", "cuda-profiler");
	fw_json_bool(json, "python", !options->no_python);
	fw_json_bool(json, "python_calls", options->python_calls);
	fw_json_bool(json, "counters", !options->no_counters);
	fw_json_string(json, "counter_source", fw_counter_source_name(options->counter_source));
	put_seconds(json, "interval_s", options->counter_interval_ns);
	fw_json_bool(json, "host", !options->no_host);
	fw_json_end_object(json);
}

static void put_all(struct fw_json *json, const struct fw_record_session *session)
{
	const struct fw_record_result *result = session->result;
	const char *const *notes = session->notes.data;
	char host[HOST_NAME_MAX + 1] = { 0 };

	gethostname(host, sizeof(host) - 1);
	fw_json_begin_object(json, NULL);
	fw_json_int(json, "schema", 1);
	fw_json_string(json, "fullwarp", fw_version());
	fw_json_begin_array(json, "command");
	for (char *const *arg = session->options->command; *arg; arg++)
		fw_json_string(json, NULL, *arg);
	fw_json_end_array(json);
	fw_json_string(json, "host", host);
	fw_json_string(json, "rank", fw_record_rank());
	fw_json_int(json, "recorder_pid", getpid());
	put_time(json, "start", session->start_realtime);
	put_time(json, "end", session->end_realtime);
	if (session->end_realtime) {
		fw_json_double(json, "seconds",
			       (double)(session->end_mono - session->start_mono) / 1e9);
		fw_json_int(json, "exit_status", result->status);
		fw_json_uint(json, "processes", result->processes);
		fw_json_uint(json, "bytes", result->bytes);
		fw_json_uint(json, "samples_lost", result->samples_lost);
		if (result->records_lost == UINT64_MAX)
			fw_json_null(json, "records_lost");
		else
			fw_json_uint(json, "records_lost", result->records_lost);
	} else {
		fw_json_null(json, "exit_status");
	}
	fw_json_string(json, "counters_why_not_better", session->counters_why);
	put_options(json, session->options);
	fw_json_begin_array(json, "notes");
	for (size_t i = 0; i < session->notes.len; i++)
		fw_json_string(json, NULL, notes[i]);
	fw_json_end_array(json);
	fw_json_end_object(json);
	fw_str_putc(json->out, '\n');
}

/* Through another name, so that there is always a whole one. 0, or errno. */
static int replace(const char *path, const char *beside, const struct fw_str *text)
{
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ssize_t n;
	int failed;

	if (fd < 0)
		return errno;
	n = write(fd, text->data, text->len);
	failed = n == (ssize_t)text->len ? 0 : n < 0 ? errno : ENOSPC;
	if (close(fd) && !failed)
		failed = errno;
	if (!failed && rename(beside, path))
		failed = errno;
	if (failed)
		unlink(beside);
	return failed;
}

void fw_record_write_meta(struct fw_record_session *session)
{
	struct fw_str text = { 0 };
	struct fw_json json = { .out = &text, .indent = 2 };
	char name[32] = "meta.json";
	const char *path, *beside;
	int failed = ENOMEM;

	if (!session->folder.is_leader)
		snprintf(name, sizeof(name), "meta-%ld.json", (long)getpid());
	path = fw_record_path(session, name);
	beside = path ? fw_arena_printf(&session->arena, "%s.new", path) : NULL;
	put_all(&json, session);
	if (beside && !text.failed)
		failed = replace(path, beside, &text);
	fw_str_release(&text);
	if (failed)
		fw_record_note(session, "%s/%s: %s", session->folder.path, name, strerror(failed));
}
