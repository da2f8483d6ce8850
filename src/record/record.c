#include "record/record.h"

#include "record/session.h"
#include "record/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SETTINGS 5

void fw_record_note(struct fw_record_session *session, const char *fmt, ...)
{
	char message[1024];
	const char *kept;
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	if (session->options->note)
		session->options->note(session->options->user, message);
	kept = fw_arena_strndup(&session->arena, message, strlen(message));
	if (kept) {
		const char **place = fw_vec_push(&session->notes);

		if (place)
			*place = kept;
	}
}

const char *fw_record_path(struct fw_record_session *session, const char *name)
{
	return fw_arena_printf(&session->arena, "%s/%s", session->folder.path, name);
}

static int64_t realtime(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* key=value, with what would end it escaped as %XX. */
static void put_option(struct fw_str *text, const char *key, const char *value)
{
	if (text->len)
		fw_str_putc(text, ';');
	fw_str_printf(text, "%s=", key);
	for (const char *p = value; *p; p++)
		if (*p == ';' || *p == '%' || *p == '=' || (unsigned char)*p < 0x20)
			fw_str_printf(text, "%%%02X", (unsigned)(unsigned char)*p);
		else
			fw_str_putc(text, *p);
}

/* FULLWARP_RECORD_OPTIONS, in the arena; NULL when memory is out. */
static const char *options_text(struct fw_record_session *session)
{
	const struct fw_record_options *options = session->options;
	struct fw_str text = { 0 };
	char number[32];
	const char *kept;

	put_option(&text, FW_REC_OPTION_GRAPHS, options->graph_nodes ? "node" : "launch");
	if (options->syncs)
		put_option(&text, FW_REC_OPTION_SYNCS, "1");
	if (options->kernels)
		put_option(&text, FW_REC_OPTION_KERNELS, options->kernels);
	if (options->max_bytes) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)options->max_bytes);
		put_option(&text, FW_REC_OPTION_MAX_BYTES, number);
	}
	if (options->cuda_profiler)
		put_option(&text, FW_REC_OPTION_RANGE, "cuda-profiler");
	if (options->python_calls)
		put_option(&text, FW_REC_OPTION_CALLS, "1");
	kept = text.failed ? NULL : fw_arena_strndup(&session->arena, text.data, text.len);
	fw_str_release(&text);
	return kept;
}

/* The shim's folder, then the user's own; NULL when memory is out. */
static const char *python_path(struct fw_record_session *session)
{
	const char *ours = session->parts.python, *user = getenv("PYTHONPATH");
	size_t length = strlen(ours);

	if (!user || !*user)
		return ours;
	/* Below another recorder it is there already. */
	if (!strncmp(user, ours, length) && (!user[length] || user[length] == ':'))
		return user;
	return fw_arena_printf(&session->arena, "%s:%s", ours, user);
}

/* What the user may miss later, because it is not there to be loaded. */
static void note_missing_parts(struct fw_record_session *session)
{
	if (fw_record_environment_has_nvtx())
		fw_record_note(session, "no NVTX ranges: NVTX_INJECTION64_PATH is set by another "
					"tool");
	if (!session->options->no_python && !session->parts.python)
		fw_record_note(session, "Python programs are not looked into: this build has no "
					"python/sitecustomize.py");
}

/* The environment that makes CUDA, NVTX and Python load our parts; NULL when memory is out. */
static char **child_environment(struct fw_record_session *session)
{
	struct fw_record_setting settings[SETTINGS] = {
		{ FW_REC_ENV_DIR, session->folder.path },
		{ FW_REC_ENV_OPTIONS, options_text(session) },
		{ "CUDA_INJECTION64_PATH", session->parts.library },
	};
	size_t count = 3;

	if (!settings[1].value)
		return NULL;
	if (!fw_record_environment_has_nvtx())
		settings[count++] = (struct fw_record_setting){ "NVTX_INJECTION64_PATH",
								session->parts.library };
	if (!session->options->no_python && session->parts.python) {
		settings[count].name = "PYTHONPATH";
		settings[count++].value = python_path(session);
	}
	if (!settings[count - 1].value)
		return NULL;
	return fw_record_environment_with(&session->arena, settings, count);
}

/* The folder, or a note that says why the program runs without a recording. */
static fw_status open_folder(struct fw_record_session *session, struct fw_error *err)
{
	const struct fw_record_options *options = session->options;
	struct fw_error why = { 0 };
	struct fw_str name = { 0 };
	fw_status status = FW_OK;

	if (options->folder)
		status = fw_record_folder_name(&name, options->folder, &why);
	else
		fw_record_folder_default(&name, options->command[0]);
	if (!status)
		status = fw_record_folder_open(&session->folder, fw_str_text(&name), &why);
	fw_str_release(&name);
	if (status == FW_ERR_ARGUMENT)
		return fw_fail(err, status, "%s", why.message);
	if (status)
		fw_record_note(session, "not recorded: %s", why.message);
	return FW_OK;
}

/* What the schedule wants now; returns until when. */
static int64_t apply_schedule(struct fw_record_session *session, bool is_switched_on)
{
	int64_t until;
	enum fw_rec_wanted wanted = fw_record_schedule_at(&session->options->schedule,
							  fw_record_now() - session->start_mono,
							  is_switched_on, &until);

	atomic_store(&session->folder.control->wanted, (uint32_t)wanted);
	if (wanted == FW_REC_WANT_RECORD)
		session->result->was_wanted = true;
	if (__builtin_add_overflow(until, session->start_mono, &until))
		return INT64_MAX;
	return until;
}

/* Until the program has ended. */
static void watch(struct fw_record_session *session)
{
	bool is_switched_on = false, is_over = false;
	int64_t until = INT64_MAX;

	while (!is_over) {
		if (session->folder.control && session->folder.is_leader)
			until = apply_schedule(session, is_switched_on);
		switch (fw_record_child_wait(&session->child, until, &session->result->status)) {
		case FW_RECORD_EVENT_ENDED: is_over = true; break;
		case FW_RECORD_EVENT_TOGGLE: is_switched_on = !is_switched_on; break;
		default: break;
		}
	}
}

/* The program as it is, without a recording. */
static char **plain_environment(struct fw_record_session *session)
{
	return fw_record_environment_with(&session->arena, NULL, 0);
}

/* The program could not be executed: the status that a shell gives, and no folder left behind. */
static void undo(struct fw_record_session *session, int exec_errno)
{
	const char *meta = session->folder.path ? fw_record_path(session, "meta.json") : NULL;

	session->result->status = exec_errno == ENOENT ? 127 : 126;
	fw_record_note(session, "%s: %s", session->options->command[0], strerror(exec_errno));
	if (!session->folder.is_leader || !fw_record_folder_is_last(&session->folder))
		return;
	if (meta)
		unlink(meta);
	fw_record_folder_remove_page(&session->folder);
}

static fw_status run(struct fw_record_session *session, struct fw_error *err)
{
	struct fw_record_folder *folder = &session->folder;
	char **envp = folder->path ? child_environment(session) : plain_environment(session);
	int exec_errno = 0;
	fw_status status;

	if (!envp)
		return fw_fail_nomem(err, 0);
	session->start_mono = fw_record_now();
	session->start_realtime = realtime();
	if (folder->path) {
		if (folder->is_leader)
			apply_schedule(session, false);
		else
			session->result->was_wanted = true; /* as far as this recorder knows */
		note_missing_parts(session);
		fw_record_write_meta(session);
	}
	session->child.toggle = session->options->signal;
	status = fw_record_child_start(&session->child, session->options->command, envp,
				       &exec_errno, err);
	if (status)
		return status;
	if (exec_errno) {
		undo(session, exec_errno);
		return FW_OK;
	}
	session->result->is_started = true;
	signal(SIGPIPE, SIG_IGN); /* a reader of our messages that went away */
	signal(SIGXFSZ, SIG_IGN); /* a limit on our files is a write error */
	if (folder->path)
		fw_record_start_samplers(session);
	watch(session);
	session->end_mono = fw_record_now();
	session->end_realtime = realtime();
	if (folder->path) {
		fw_record_await_stragglers(session);
		fw_record_stop_samplers(session);
		fw_record_finish(session);
		session->result->is_recorded = true;
		session->result->folder = strdup(folder->path);
		if (session->counters_why)
			session->result->counters_why = strdup(session->counters_why);
		fw_record_write_meta(session);
	}
	fw_record_child_release(&session->child);
	return FW_OK;
}

fw_status fw_record(const struct fw_record_options *options, struct fw_record_result *result,
		    struct fw_error *err)
{
	struct fw_record_session session = { .options = options,
					     .result = result,
					     .folder = { .control_fd = -1 },
					     .child = { .signals = -1 },
					     .notes = FW_VEC(const char *) };
	fw_status status;

	*result = (struct fw_record_result){ 0 };
	fw_record_child_hold_streams();
	status = fw_record_environment_check(err);
	if (!status)
		status = fw_record_parts_find(&session.parts, &session.arena, err);
	if (!status)
		status = open_folder(&session, err);
	if (!status)
		status = run(&session, err);
	fw_record_folder_release(&session.folder);
	fw_vec_release(&session.notes);
	fw_arena_release(&session.arena);
	return status;
}

void fw_record_result_release(struct fw_record_result *result)
{
	free(result->folder);
	free(result->counters_why);
	result->folder = result->counters_why = NULL;
}
