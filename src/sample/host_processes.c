/* The watched processes: memory, input and output. */
#include "sample/host_parts.h"

#include <errno.h>
#include <stdio.h>

/* False: it has ended, or its number is another's now. */
static bool read_process_stat(struct fw_host_sampler *s, const struct fw_teller *teller,
			      struct fw_tree_process *process)
{
	const struct fw_held_name name = { process->pid, 0, "stat" };
	char text[FW_PROC_FILE_BYTES];
	struct fw_proc_stat stat;
	int error = fw_held_read(&s->tree.files, &process->stat, name, text);

	if (fw_sampler_is_gone(error))
		return false;
	if (error || !fw_proc_parse_stat(text, &stat))
		return true;
	if (stat.start != process->start)
		return false;
	process->minor_faults = stat.minor_faults;
	fw_tell(teller, process->told, FW_HOST_PARENT, stat.parent);
	fw_tell(teller, process->told, FW_HOST_THREADS, stat.threads);
	fw_tell(teller, process->told, FW_HOST_MAJOR_FAULTS, (double)stat.major_faults);
	return true;
}

static void read_io(struct fw_host_sampler *s, const struct fw_teller *teller,
		    struct fw_tree_process *process)
{
	static const struct {
		const char *key;
		enum fw_host_value which;
	} lines[] = { { "rchar:", FW_HOST_READ_CALLS },
		      { "wchar:", FW_HOST_WRITE_CALLS },
		      { "read_bytes:", FW_HOST_READ },
		      { "write_bytes:", FW_HOST_WRITE } };
	const struct fw_held_name name = { process->pid, 0, "io" };
	char text[FW_PROC_FILE_BYTES];
	uint64_t bytes;
	int error = fw_held_read(&s->tree.files, &process->io, name, text);

	if (error && !fw_sampler_is_gone(error))
		fw_sampler_say(
			s, FW_SAMPLER_SAID_IO,
			error == EACCES
				? "Bytes that a process read and wrote: /proc/PID/io may not be "
				  "read (another user's, or one that changed its user)."
				: "Bytes that a process read and wrote: /proc/PID/io cannot be "
				  "read.");
	for (size_t i = 0; !error && i < sizeof(lines) / sizeof(lines[0]); i++)
		if (fw_proc_number(text, lines[i].key, &bytes))
			fw_tell(teller, process->told, lines[i].which, (double)bytes);
}

static void read_statm(struct fw_host_sampler *s, const struct fw_teller *teller,
		       struct fw_tree_process *process)
{
	const struct fw_held_name name = { process->pid, 0, "statm" };
	char text[FW_PROC_FILE_BYTES];
	uint64_t size, resident;
	const char *rest;

	if (fw_held_read(&s->tree.files, &process->statm, name, text))
		return;
	rest = fw_proc_digits(text, &size);
	if (rest && *rest == ' ' && fw_proc_digits(rest + 1, &resident))
		fw_tell(teller, process->told, FW_HOST_RESIDENT, (double)resident * s->page_bytes);
}

static void read_process_status(struct fw_host_sampler *s, const struct fw_teller *teller,
				struct fw_tree_process *process)
{
	static const struct {
		const char *key;
		enum fw_host_value which;
	} lines[] = { { "RssShmem:", FW_HOST_SHARED },
		      { "VmLck:", FW_HOST_LOCKED },
		      { "VmPin:", FW_HOST_PINNED } };
	char path[32], text[FW_PROC_FILE_BYTES];
	uint64_t kb;

	snprintf(path, sizeof(path), "proc/%u/status", process->pid);
	if (!fw_proc_file(s->tree.files.root, path, text))
		return;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (fw_proc_number(text, lines[i].key, &kb))
			fw_tell(teller, process->told, lines[i].which, (double)kb * 1024);
}

void fw_sampler_read_process(struct fw_host_sampler *s, struct fw_tree_process *process,
			     int64_t now_ns)
{
	const struct fw_teller teller = { &s->sink, now_ns, process->pid, 0 };
	const int64_t slow_ns =
		fw_pace_wait(&s->processes, FW_SAMPLER_SLOW_NS, FW_SAMPLER_SLOW_PERIODS);
	const int64_t moderate_ns =
		fw_pace_wait(&s->processes, FW_SAMPLER_MODERATE_NS, FW_SAMPLER_MODERATE_PERIODS);
	bool is_first = !process->read_ns;

	/* Without running its memory only shrinks, when others press on it. */
	if (!process->has_run && !is_first && now_ns - process->read_ns < slow_ns)
		return;
	process->has_run = !s->is_here;
	process->read_ns = now_ns;
	if (!read_process_stat(s, &teller, process)) {
		process->has_ended = true;
		return;
	}
	read_io(s, &teller, process);
	read_statm(s, &teller, process);
	if (now_ns - process->status_ns >= moderate_ns) {
		process->status_ns = now_ns;
		read_process_status(s, &teller, process);
	}
}
