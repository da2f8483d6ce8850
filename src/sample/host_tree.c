#include "sample/host_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of /proc is looked through so often: where the newest number is known, or not. */
#define FULL_NS       INT64_C(20000000000)
#define FULL_ALONE_NS INT64_C(250000000)

/* So many new numbers are looked at one by one; more, and all of /proc is looked through. */
#define NEW_IDS_MOST 256

/* So many of the newest may be too young to be seen. */
#define NEW_IDS_YOUNG 32

/* Processes of a machine that are looked at. */
#define ENTRIES_MOST 65536u

void fw_tree_init(struct fw_tree *tree, int root, const struct fw_host_options *options)
{
	*tree = (struct fw_tree){ .root_pid = options->pid, .adopter = options->adopter };
	tree->files.root = root;
	tree->processes = (struct fw_vec)FW_VEC(struct fw_tree_process *);
}

static struct fw_tree_process *find_process(const struct fw_tree *tree, unsigned pid)
{
	struct fw_tree_process **processes = tree->processes.data;

	for (size_t i = 0; i < tree->processes.len; i++)
		if (processes[i]->pid == pid && !processes[i]->has_ended)
			return processes[i];
	return NULL;
}

static bool has_thread(const struct fw_tree_process *process, unsigned tid)
{
	const struct fw_tree_thread *threads = process->threads.data;

	for (size_t i = 0; i < process->threads.len; i++)
		if (threads[i].tid == tid && !threads[i].has_ended)
			return true;
	return false;
}

static fw_status add_thread(struct fw_tree *tree, struct fw_tree_process *process, unsigned tid,
			    struct fw_error *err)
{
	struct fw_tree_thread *thread;

	if (has_thread(process, tid))
		return FW_OK;
	if (tree->thread_count == FW_TREE_THREADS) {
		tree->left_out++;
		return FW_OK;
	}
	thread = fw_vec_push(&process->threads);
	if (!thread)
		return fw_fail_nomem(err, sizeof(*thread));
	thread->tid = tid;
	thread->is_stale = process->has_stale = true;
	thread->schedstat.fd = thread->stat.fd = thread->switches.fd = -1;
	tree->thread_count++;
	return FW_OK;
}

/* The number that a folder of /proc is named by; 0: another folder. */
static unsigned id_of(const char *name)
{
	uint64_t id;
	const char *end = fw_proc_digits(name, &id);

	return end && !*end && id <= INT32_MAX ? (unsigned)id : 0;
}

static DIR *open_folder(const struct fw_tree *tree, const char *path)
{
	int fd = openat(tree->files.root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	int error = errno;

	if (!folder && fd >= 0)
		close(fd);
	errno = error;
	return folder;
}

static fw_status list_threads(struct fw_tree *tree, struct fw_tree_process *process,
			      struct fw_error *err)
{
	char path[32];
	fw_status status = FW_OK;
	struct dirent *found;
	DIR *folder;

	snprintf(path, sizeof(path), "proc/%u/task", process->pid);
	folder = open_folder(tree, path);
	while (folder && !status && (found = readdir(folder))) {
		unsigned tid = id_of(found->d_name);

		if (tid)
			status = add_thread(tree, process, tid, err);
	}
	if (folder)
		closedir(folder);
	return status;
}

static fw_status add_process(struct fw_tree *tree, const struct fw_proc_stat *stat,
			     struct fw_error *err)
{
	struct fw_tree_process *process, **slot;

	if (tree->processes.len == FW_TREE_PROCESSES) {
		tree->left_out++;
		return FW_OK;
	}
	process = calloc(1, sizeof(*process));
	slot = process ? fw_vec_push(&tree->processes) : NULL;
	if (!slot) {
		free(process);
		return fw_fail_nomem(err, sizeof(*process));
	}
	*slot = process;
	process->pid = stat->pid;
	process->parent = stat->parent;
	process->start = stat->start;
	process->stat.fd = process->statm.fd = process->io.fd = -1;
	process->threads = (struct fw_vec)FW_VEC(struct fw_tree_thread);
	return list_threads(tree, process, err);
}

static bool belongs(const struct fw_tree *tree, const struct fw_proc_stat *stat)
{
	if (stat->pid == tree->root_pid)
		return true;
	return (tree->adopter && stat->parent == tree->adopter) || find_process(tree, stat->parent);
}

static bool read_stat(const struct fw_tree *tree, unsigned pid, struct fw_proc_stat *stat)
{
	char path[32], text[FW_PROC_FILE_BYTES];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	return fw_proc_file(tree->files.root, path, text) && fw_proc_parse_stat(text, stat) &&
	       stat->pid == pid;
}

/* A new number is a process's, or a thread's: /proc opens for both. */
static fw_status look_at(struct fw_tree *tree, unsigned id, struct fw_error *err)
{
	char path[32], text[FW_PROC_FILE_BYTES];
	struct fw_tree_process *process;
	struct fw_proc_stat stat;
	uint64_t leader;

	snprintf(path, sizeof(path), "proc/%u/status", id);
	if (find_process(tree, id) || !fw_proc_file(tree->files.root, path, text) ||
	    !fw_proc_number(text, "Tgid:", &leader) || leader > INT32_MAX)
		return FW_OK;
	process = find_process(tree, (unsigned)leader);
	if (process)
		return add_thread(tree, process, id, err);
	if (leader != id || !read_stat(tree, id, &stat) || !belongs(tree, &stat))
		return FW_OK;
	return add_process(tree, &stat, err);
}

static fw_status list_processes(struct fw_tree *tree, struct fw_vec *stats, struct fw_error *err)
{
	DIR *folder = open_folder(tree, "proc");
	fw_status status = FW_OK;
	struct dirent *found;

	tree->is_blind = !folder;
	while (folder && !status && stats->len < ENTRIES_MOST && (found = readdir(folder))) {
		unsigned pid = id_of(found->d_name);
		struct fw_proc_stat stat, *kept;

		if (!pid || find_process(tree, pid) || !read_stat(tree, pid, &stat))
			continue;
		kept = fw_vec_push(stats);
		if (kept)
			*kept = stat;
		else
			status = fw_fail_nomem(err, sizeof(*kept));
	}
	if (folder)
		closedir(folder);
	return status;
}

/* Children before their parents in the list need another pass; each pass but the last adds one. */
static fw_status add_found(struct fw_tree *tree, struct fw_vec *stats, struct fw_error *err)
{
	struct fw_proc_stat *stat = stats->data;
	fw_status status = FW_OK;
	bool is_any = true;

	while (is_any && !status) {
		is_any = false;
		for (size_t i = 0; i < stats->len && !status; i++) {
			if (!stat[i].pid || !belongs(tree, &stat[i]))
				continue;
			status = add_process(tree, &stat[i], err);
			stat[i].pid = 0;
			is_any = true;
		}
	}
	return status;
}

static fw_status look_at_all(struct fw_tree *tree, struct fw_error *err)
{
	struct fw_vec stats = FW_VEC(struct fw_proc_stat);
	size_t known = tree->processes.len;
	fw_status status = list_processes(tree, &stats, err);

	tree->left_out = 0;
	for (size_t i = 0; i < known && !status; i++)
		status = list_threads(tree, ((struct fw_tree_process **)tree->processes.data)[i],
				      err);
	if (!status)
		status = add_found(tree, &stats, err);
	fw_vec_release(&stats);
	return status;
}

static unsigned newest_id(const struct fw_tree *tree)
{
	char text[FW_PROC_FILE_BYTES];
	unsigned id;

	return fw_proc_file(tree->files.root, "proc/loadavg", text) &&
			       fw_proc_parse_last_id(text, &id)
		       ? id
		       : 0;
}

/*
 * Numbers given between the last two looks, not since: a process has its number a little before it
 * can be seen, and most of those that end soon, of whomever, have ended by now.
 */
fw_status fw_tree_look(struct fw_tree *tree, int64_t now_ns, struct fw_error *err)
{
	unsigned newest = newest_id(tree), since = tree->last_ids[1], until = tree->last_ids[0];
	int64_t wait_ns = newest ? FULL_NS : FULL_ALONE_NS;
	bool is_full = !tree->full_ns || now_ns - tree->full_ns >= wait_ns ||
		       (newest && (until < since || until - since > NEW_IDS_MOST));
	fw_status status = FW_OK;

	/* What had a number before the first look, but could not be seen yet. */
	if (!until && newest > NEW_IDS_YOUNG)
		until = newest - NEW_IDS_YOUNG;
	tree->last_ids[1] = until;
	tree->last_ids[0] = newest;
	if (is_full) {
		tree->full_ns = now_ns;
		return look_at_all(tree, err);
	}
	for (unsigned id = since + 1; newest && id <= until && !status; id++)
		status = look_at(tree, id, err);
	return status;
}

void fw_tree_drop_thread(struct fw_tree *tree, struct fw_tree_process *process, size_t index)
{
	struct fw_tree_thread *threads = process->threads.data;

	fw_held_close(&tree->files, &threads[index].schedstat);
	fw_held_close(&tree->files, &threads[index].stat);
	process->threads.len--;
	tree->thread_count--;
	memmove(&threads[index], &threads[index + 1],
		(process->threads.len - index) * sizeof(*threads));
}

void fw_tree_drop_process(struct fw_tree *tree, size_t index)
{
	struct fw_tree_process **processes = tree->processes.data, *process = processes[index];

	while (process->threads.len)
		fw_tree_drop_thread(tree, process, process->threads.len - 1);
	fw_vec_release(&process->threads);
	fw_held_close(&tree->files, &process->stat);
	fw_held_close(&tree->files, &process->statm);
	fw_held_close(&tree->files, &process->io);
	free(process);
	tree->processes.len--;
	memmove(&processes[index], &processes[index + 1],
		(tree->processes.len - index) * sizeof(struct fw_tree_process *));
}

void fw_tree_release(struct fw_tree *tree)
{
	while (tree->processes.len)
		fw_tree_drop_process(tree, tree->processes.len - 1);
	fw_vec_release(&tree->processes);
	if (tree->files.root >= 0)
		close(tree->files.root);
	tree->files.root = -1;
}
