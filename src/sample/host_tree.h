#ifndef FW_SAMPLE_HOST_TREE_H
#define FW_SAMPLE_HOST_TREE_H
/*
 * The watched process, all below it, and their threads. Looking for new ones costs one small read
 * while no process or thread begins anywhere: the kernel tells the number that it gave last.
 */
#include "base/error.h"
#include "base/vec.h"
#include "sample/held_file.h"
#include "sample/host_tell.h"
#include "sample/switches.h"

/* More are left out, and counted. */
#define FW_TREE_PROCESSES 512u
#define FW_TREE_THREADS   4096u

struct fw_tree_thread {
	unsigned tid;
	bool has_ended;
	bool is_stale;                       /* it ran since stat was read */
	bool has_run;                        /* by its switches, since schedstat was read */
	unsigned idle, skip;                 /* readings without a change; rounds to pass over */
	int64_t read_ns, stat_ns, status_ns; /* when its files were read */
	uint64_t run_ns, delay_ns;
	struct fw_held_file schedstat, stat;
	struct fw_switches switches;
	char name[32];
	struct fw_told told[FW_HOST_VALUE_COUNT];
};

struct fw_tree_process {
	unsigned pid, parent;
	uint64_t start; /* tells two users of the number apart */
	bool has_ended;
	bool has_run;            /* since its files were read */
	bool has_stale;          /* some thread is stale */
	unsigned still;          /* rounds in which no thread of it ran */
	int64_t cpu_ns, same_ns; /* of all threads; when it was last seen to be the same */
	int64_t threads_ns, read_ns, status_ns; /* when threads and files were read */
	uint64_t minor_faults;
	uint64_t share_faults; /* when its share of memory was read */
	int64_t share_ns;      /* when that was; 0: never */
	bool has_no_share;     /* it cannot be read */
	struct fw_held_file stat, statm, io;
	struct fw_vec threads; /* struct fw_tree_thread */
	struct fw_told told[FW_HOST_VALUE_COUNT];
};

/* One thread. */
struct fw_tree {
	struct fw_held_files files;
	unsigned root_pid, adopter;
	struct fw_vec processes; /* struct fw_tree_process *, in the order they were found */
	unsigned thread_count, left_out;
	unsigned
		last_ids[2]; /* the newest number at the last look and the one before; 0: unknown */
	int64_t full_ns;     /* when all of /proc was looked through */
	bool is_blind;       /* /proc cannot be listed */
};

/* root: an open folder, the tree's from now on. */
void fw_tree_init(struct fw_tree *tree, int root, const struct fw_host_options *options);

/* Finds what began since. */
fw_status fw_tree_look(struct fw_tree *tree, int64_t now_ns, struct fw_error *err);

/* Closes and frees a thread, or a process with its threads; those after it move up. */
void fw_tree_drop_thread(struct fw_tree *tree, struct fw_tree_process *process, size_t index);
void fw_tree_drop_process(struct fw_tree *tree, size_t index);

void fw_tree_release(struct fw_tree *tree);

#endif
