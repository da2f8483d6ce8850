#include "sample/proc.h"

#include "base/vec.h"
#include "sample/memory_limit.h"
#include "sample/proc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes looked at in a scan, and parents followed up from one. */
#define PROCESSES_MOST 65536
#define DEPTH_MOST     64

struct entry {
	struct fw_proc_stat stat;
	unsigned owner; /* the nearest tracked process above it; 0: none, or tracked itself */
};

struct scan {
	struct fw_vec entries; /* struct entry, by pid */
	int64_t ns;
};

struct fw_proc {
	int root;
	struct scan scans[2]; /* the last one is [0] */
	double ticks_per_second, page_bytes;
};

fw_status fw_proc_open(struct fw_proc **proc, const char *root, struct fw_error *err)
{
	struct fw_proc *p = calloc(1, sizeof(*p));

	*proc = NULL;
	if (!p)
		return fw_fail_nomem(err, sizeof(*p));
	p->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->root < 0) {
		free(p);
		return fw_fail(err, FW_ERR_IO, "%s: %s", root, strerror(errno));
	}
	for (size_t i = 0; i < 2; i++)
		p->scans[i].entries = (struct fw_vec)FW_VEC(struct entry);
	p->ticks_per_second = (double)sysconf(_SC_CLK_TCK);
	p->page_bytes = (double)sysconf(_SC_PAGESIZE);
	*proc = p;
	return FW_OK;
}

void fw_proc_close(struct fw_proc *proc)
{
	if (!proc)
		return;
	close(proc->root);
	fw_vec_release(&proc->scans[0].entries);
	fw_vec_release(&proc->scans[1].entries);
	free(proc);
}

static int by_pid(const void *a, const void *b)
{
	unsigned x = ((const struct entry *)a)->stat.pid, y = ((const struct entry *)b)->stat.pid;

	return (x > y) - (x < y);
}

static struct entry *find(const struct scan *scan, unsigned pid)
{
	struct entry key = { .stat = { .pid = pid } };

	if (!scan->entries.len)
		return NULL;
	return bsearch(&key, scan->entries.data, scan->entries.len, sizeof(key), by_pid);
}

/* Reads the process that the name of a folder in /proc stands for; others are passed over. */
static fw_status add_process(struct fw_proc *proc, const char *name, struct scan *scan,
			     struct fw_error *err)
{
	char path[300], text[FW_PROC_FILE_BYTES];
	struct fw_proc_stat stat;
	struct entry *entry;

	if (*name < '1' || *name > '9' || strspn(name, "0123456789") != strlen(name))
		return FW_OK;
	snprintf(path, sizeof(path), "proc/%s/stat", name);
	if (!fw_proc_file(proc->root, path, text) || !fw_proc_parse_stat(text, &stat))
		return FW_OK; /* it has just ended */
	entry = fw_vec_push(&scan->entries);
	if (!entry)
		return fw_fail_nomem(err, sizeof(*entry));
	entry->stat = stat;
	return FW_OK;
}

static fw_status read_all(struct fw_proc *proc, struct scan *scan, struct fw_error *err)
{
	int fd = openat(proc->root, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	fw_status status = FW_OK;
	struct dirent *found;

	scan->entries.len = 0;
	if (!folder) {
		status = fw_fail(err, FW_ERR_IO, "proc: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return status;
	}
	while (!status && scan->entries.len < PROCESSES_MOST && (found = readdir(folder)))
		status = add_process(proc, found->d_name, scan, err);
	closedir(folder);
	return status;
}

static bool is_tracked(const unsigned *tracked, size_t count, unsigned pid)
{
	for (size_t i = 0; i < count; i++)
		if (tracked[i] == pid)
			return true;
	return false;
}

static unsigned find_owner(const struct scan *scan, const struct entry *entry,
			   const unsigned *tracked, size_t count)
{
	if (is_tracked(tracked, count, entry->stat.pid))
		return 0;
	for (int depth = 0; entry && depth < DEPTH_MOST; depth++) {
		if (is_tracked(tracked, count, entry->stat.parent))
			return entry->stat.parent;
		entry = find(scan, entry->stat.parent);
	}
	return 0;
}

fw_status fw_proc_scan(struct fw_proc *proc, const unsigned *tracked, size_t count, int64_t now_ns,
		       struct fw_error *err)
{
	struct scan *scan = &proc->scans[0], older = proc->scans[1];
	struct entry *entries;
	fw_status status;

	proc->scans[1] = proc->scans[0];
	*scan = older;
	scan->ns = now_ns;
	status = read_all(proc, scan, err);
	if (status) {
		scan->entries.len = 0;
		return status;
	}
	entries = scan->entries.data;
	if (scan->entries.len)
		qsort(entries, scan->entries.len, sizeof(*entries), by_pid);
	for (size_t i = 0; i < scan->entries.len; i++)
		entries[i].owner = find_owner(scan, &entries[i], tracked, count);
	return FW_OK;
}

/*
 * CPU time since the scan before, in percent of a core. A process that was not there then has used all
 * of its time since.
 */
static bool cpu_percent(const struct fw_proc *proc, const struct entry *entry, double *percent)
{
	const struct entry *before = find(&proc->scans[1], entry->stat.pid);
	double seconds = (double)(proc->scans[0].ns - proc->scans[1].ns) * 1e-9;
	uint64_t used = entry->stat.ticks;

	if (!proc->scans[1].entries.len || !(seconds > 0))
		return false;
	if (before && before->stat.start == entry->stat.start) {
		if (used < before->stat.ticks)
			return false;
		used -= before->stat.ticks;
	}
	*percent = (double)used / proc->ticks_per_second / seconds * 100;
	return true;
}

/* Anonymous and shared memory of a process; kernels before 4.5 do not tell them apart. */
static bool read_memory(struct fw_proc *proc, unsigned pid, double *anonymous, double *shared)
{
	char path[32], text[FW_PROC_FILE_BYTES];
	uint64_t anon_kb, shared_kb;

	snprintf(path, sizeof(path), "proc/%u/status", pid);
	if (!fw_proc_file(proc->root, path, text) || !fw_proc_number(text, "RssAnon:", &anon_kb) ||
	    !fw_proc_number(text, "RssShmem:", &shared_kb))
		return false;
	*anonymous = (double)anon_kb * 1024;
	*shared = (double)shared_kb * 1024;
	return true;
}

struct children {
	double count, rss, cpu, anonymous, largest_shared;
	bool has_cpu;
};

static void sum_children(struct fw_proc *proc, unsigned pid, struct children *sum)
{
	const struct entry *entries = proc->scans[0].entries.data;

	*sum = (struct children){ .has_cpu = true };
	for (size_t i = 0; i < proc->scans[0].entries.len; i++) {
		double percent, anonymous, shared;

		if (entries[i].owner != pid)
			continue;
		sum->count++;
		sum->rss += (double)entries[i].stat.rss_pages * proc->page_bytes;
		if (cpu_percent(proc, &entries[i], &percent))
			sum->cpu += percent;
		else
			sum->has_cpu = false;
		if (!read_memory(proc, entries[i].stat.pid, &anonymous, &shared))
			continue;
		sum->anonymous += anonymous;
		if (shared > sum->largest_shared)
			sum->largest_shared = shared;
	}
}

static void fill_memory(struct fw_proc *proc, unsigned pid, const struct children *sum,
			struct fw_value *values)
{
	double anonymous, shared;

	if (!read_memory(proc, pid, &anonymous, &shared)) {
		values[FW_PROCESS_SHARED] = values[FW_PROCESS_HOST_MEMORY] =
			fw_value_unknown("/proc/PID/status does not tell");
		return;
	}
	values[FW_PROCESS_SHARED] = fw_value_measured(shared, "/proc");
	if (shared < sum->largest_shared)
		shared = sum->largest_shared;
	values[FW_PROCESS_HOST_MEMORY] =
		fw_value_modelled(anonymous + sum->anonymous + shared,
				  "anonymous pages of all and the largest shared memory");
}

static void fill_limit(struct fw_proc *proc, unsigned pid, struct fw_value *values)
{
	struct fw_memory_limit limit;
	const char *which;

	fw_memory_limit_read(proc->root, pid, &limit);
	which = limit.is_cgroup ? "cgroup" : "machine";
	if (limit.is_known) {
		values[FW_PROCESS_HOST_LIMIT] = fw_value_measured((double)limit.limit, which);
		values[FW_PROCESS_HOST_FREE] = fw_value_measured((double)limit.free, which);
	} else {
		values[FW_PROCESS_HOST_LIMIT] = values[FW_PROCESS_HOST_FREE] =
			fw_value_unknown("no limit could be read");
	}
}

void fw_proc_read(struct fw_proc *proc, unsigned pid, struct fw_value *values, char name[32],
		  uint64_t *start)
{
	const struct entry *entry = find(&proc->scans[0], pid);
	const char *no_cpu = "CPU time needs two readings";
	struct children sum;
	double percent;

	name[0] = '\0';
	*start = 0;
	values[FW_PROCESS_PINNED] = fw_value_unknown("only a recording of the process shows it");
	if (!entry) {
		for (int i = FW_PROCESS_RSS; i < FW_PROCESS_VALUE_COUNT; i++)
			if (i != FW_PROCESS_PINNED)
				values[i] = fw_value_unknown("not in this /proc (another PID "
							     "namespace, or it ended)");
		return;
	}
	memcpy(name, entry->stat.name, sizeof(entry->stat.name));
	*start = entry->stat.start;
	sum_children(proc, pid, &sum);
	values[FW_PROCESS_RSS] =
		fw_value_measured((double)entry->stat.rss_pages * proc->page_bytes, "/proc");
	values[FW_PROCESS_CPU] = cpu_percent(proc, entry, &percent)
					 ? fw_value_measured(percent, "/proc")
					 : fw_value_unknown(no_cpu);
	values[FW_PROCESS_CHILDREN] = fw_value_measured(sum.count, "/proc");
	values[FW_PROCESS_CHILDREN_RSS] = fw_value_measured(sum.rss, "/proc");
	values[FW_PROCESS_CHILDREN_CPU] =
		sum.has_cpu ? fw_value_measured(sum.cpu, "/proc") : fw_value_unknown(no_cpu);
	fill_memory(proc, pid, &sum, values);
	fill_limit(proc, pid, values);
}
