/* What a process has of the anonymous memory that it may share with others, as forked workers do. */
#include "sample/host_parts.h"

#include <stdio.h>

/*
 * To tell it the kernel walks the pages of the process, about 10 ms a GB: one process is read at a time, with
 * at least so long between two, and so long that they stay below their share of the CPU.
 */
#define LEAST_NS  INT64_C(500000000)
#define CPU_SHARE 0.15

/* A larger process would hold up the other samples for too long. */
#define MOST_BYTES 4294967296.0

/* Without page faults it has copied no page. So many, of 4 KiB each, are worth a reading. */
#define LEAST_FAULTS 2048

/* One never read comes first, then the one with the most page faults since it was; NULL: none is worth it. */
static struct fw_tree_process *choose(const struct fw_host_sampler *s)
{
	struct fw_tree_process **processes = s->tree.processes.data, *best = NULL;
	uint64_t most = LEAST_FAULTS;

	for (size_t i = 0; i < s->tree.processes.len; i++) {
		struct fw_tree_process *process = processes[i];
		const struct fw_told *resident = &process->told[FW_HOST_RESIDENT];
		uint64_t faults = process->minor_faults - process->share_faults;

		if (process->pid == s->tree.root_pid || process->has_ended ||
		    process->has_no_share || !resident->is_told || resident->value > MOST_BYTES)
			continue;
		if (!process->share_ns)
			return process;
		if (faults < most)
			continue;
		most = faults;
		best = process;
	}
	return best;
}

bool fw_sampler_read_share(struct fw_host_sampler *s, int64_t now_ns)
{
	struct fw_tree_process *process = choose(s);
	const struct fw_teller teller = { &s->sink, now_ns, process ? process->pid : 0, 0 };
	char path[40], text[FW_PROC_FILE_BYTES];
	uint64_t kb;

	if (!process)
		return false;
	process->share_ns = now_ns;
	process->share_faults = process->minor_faults;
	snprintf(path, sizeof(path), "proc/%u/smaps_rollup", process->pid);
	if (fw_proc_file(s->tree.files.root, path, text) && fw_proc_number(text, "Pss_Anon:", &kb))
		fw_tell(&teller, process->told, FW_HOST_PSS_ANON, (double)kb * 1024);
	else
		process->has_no_share = true;
	return true;
}

int64_t fw_sampler_share_wait(const struct fw_host_sampler *s, int64_t used_ns)
{
	double wait_ns = (double)used_ns / (CPU_SHARE * s->options.most_cpu);

	return wait_ns > (double)LEAST_NS ? (int64_t)wait_ns : LEAST_NS;
}
