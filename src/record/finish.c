/* The end of a recording: who still writes into it, and what is left of it. */
#include "record/losses.h"
#include "record/session.h"
#include "record/stream.h"
#include "trace/recording_pack.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes that outlive the program are waited for so long, if they are recorded. */
#define STRAGGLERS_NS INT64_C(1000000000)

/* The library looks at the page every 100 ms, and writes what it has. */
#define LAST_WORDS_NS INT64_C(400000000)

/* The pid in "process-<pid>-<n>.fwr" or "python-<pid>-<n>.fwr"; 0: another name. */
static long pid_of(const char *name)
{
	const char *digits;
	char *end;
	long pid;

	if (!strncmp(name, "process-", 8))
		digits = name + 8;
	else if (!strncmp(name, "python-", 7))
		digits = name + 7;
	else
		return 0;
	errno = 0;
	pid = strtol(digits, &end, 10);
	return errno || pid <= 0 || end == digits || *end != '-' ? 0 : pid;
}

static bool is_alive(long pid)
{
	return !kill((pid_t)pid, 0) || errno == EPERM;
}

/* Calls visit for each file of the folder, as it is now, until it returns false. */
static void each_file(struct fw_record_session *session,
		      bool (*visit)(struct fw_record_session *session, const char *name))
{
	struct dirent **entries = NULL;
	int count = scandir(session->folder.path, &entries, NULL, alphasort);
	bool is_on = true;

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			is_on = is_on && visit(session, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static bool is_over(struct fw_record_session *session, const char *name)
{
	long pid = pid_of(name);

	if (pid && is_alive(pid))
		session->has_stragglers = true;
	return !session->has_stragglers;
}

static bool has_stragglers(struct fw_record_session *session)
{
	session->has_stragglers = false;
	each_file(session, is_over);
	return session->has_stragglers;
}

void fw_record_await_stragglers(struct fw_record_session *session)
{
	int64_t until = fw_record_now() + STRAGGLERS_NS;
	int status;

	while (has_stragglers(session) && fw_record_now() < until)
		if (fw_record_child_is_interrupted(&session->child) ||
		    fw_record_child_wait(&session->child, fw_record_now() + STRAGGLERS_NS / 20,
					 &status) == FW_RECORD_EVENT_ENDED)
			break;
}

static bool count_file(struct fw_record_session *session, const char *name)
{
	const char *path = fw_record_path(session, name);
	struct stat info;

	if (!path || stat(path, &info))
		return true;
	session->result->bytes += (uint64_t)info.st_size;
	if (!strncmp(name, "process-", 8))
		session->result->processes++;
	return true;
}

static bool is_ours_and_hangs(const struct fw_record_session *session, const char *name)
{
	return (session->counters_hang && !strcmp(name, "counters.fwr")) ||
	       (session->host_hangs && !strncmp(name, "host", 4));
}

/* What the programs' own files lost. */
static void count_losses(struct fw_record_session *session, const char *path)
{
	uint64_t *total = &session->result->records_lost;

	if (__builtin_add_overflow(*total, fw_record_losses(path), total))
		*total = UINT64_MAX;
}

/*
 * Compresses a file whose writer has ended; one that cannot be compressed stays as it is, readable. The
 * user, who waits, may end this by ^C.
 */
static bool pack_file(struct fw_record_session *session, const char *name)
{
	const char *path = fw_record_path(session, name), *dot = strrchr(name, '.');
	long pid = pid_of(name);

	if (!path || !dot || strcmp(dot, ".fwr") != 0 || is_ours_and_hangs(session, name) ||
	    (pid && is_alive(pid)))
		return true;
	if (pid)
		count_losses(session, path);
	fw_recording_pack(path, NULL, NULL);
	return !fw_record_child_is_interrupted(&session->child);
}

static bool tidy_file(struct fw_record_session *session, const char *name)
{
	const char *path = fw_record_path(session, name);

	if (path && !strncmp(name, "yield-", 6))
		unlink(path);
	return true;
}

void fw_record_finish(struct fw_record_session *session)
{
	struct fw_record_folder *folder = &session->folder;
	int64_t until;
	int status;

	if (fw_record_folder_is_last(folder)) {
		atomic_store(&folder->control->wanted, FW_REC_WANT_STOP);
		until = fw_record_now() + LAST_WORDS_NS;
		while (has_stragglers(session) && fw_record_now() < until)
			fw_record_child_wait(&session->child, until, &status);
		each_file(session, tidy_file);
		each_file(session, pack_file);
		fw_record_folder_remove_page(folder);
	}
	each_file(session, count_file);
}
