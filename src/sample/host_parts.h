#ifndef FW_SAMPLE_HOST_PARTS_H
#define FW_SAMPLE_HOST_PARTS_H
/* What the parts of the host sampler share. */
#include "sample/host_machine.h"
#include "sample/host_tree.h"

/*
 * Between readings of what costs more or moves less, and of what seldom moves: at least so long, and so
 * many periods of the readings with which they are taken, but at most ten times so long.
 */
#define FW_SAMPLER_MODERATE_NS      INT64_C(100000000)
#define FW_SAMPLER_MODERATE_PERIODS 10
#define FW_SAMPLER_SLOW_NS          INT64_C(1000000000)
#define FW_SAMPLER_SLOW_PERIODS     100
#define FW_SAMPLER_WAIT_MOST        10

/* What was said already. */
enum fw_sampler_said {
	FW_SAMPLER_SAID_TREE = 1,
	FW_SAMPLER_SAID_IO = 2,
	FW_SAMPLER_SAID_SCHED = 4,
	FW_SAMPLER_SAID_SWITCHES = 8,
	FW_SAMPLER_SAID_SHORT = 16,
	FW_SAMPLER_SAID_MOST = 32,
	FW_SAMPLER_SAID_OFTEN = 64
};

/* Readings that are taken as often as their cost allows. */
struct fw_pace {
	int64_t shortest_ns;
	double share;      /* of the CPU time that all may take */
	int64_t period_ns; /* 0: not begun */
	int64_t due_ns;
	double cost_ns;  /* CPU time of one, smoothed */
	int64_t read_ns; /* the last one; 0: none */
	double debt_ns;  /* CPU time spent above the share */
};

/* How long something less frequent waits, which is taken along with such readings. */
static inline int64_t fw_pace_wait(const struct fw_pace *pace, int64_t least_ns, int periods)
{
	int64_t wait_ns = pace->period_ns * periods, most_ns = least_ns * FW_SAMPLER_WAIT_MOST;

	if (wait_ns > most_ns)
		wait_ns = most_ns;
	return wait_ns > least_ns ? wait_ns : least_ns;
}

struct fw_host_sampler {
	struct fw_host_options options;
	struct fw_host_sink sink;
	struct fw_tree tree;
	struct fw_host_machine machine;
	struct fw_pace looks, threads, processes;
	int64_t moderate_ns, slow_ns; /* when that was done last */
	int64_t share_due_ns;
	double tick_ns, page_bytes;
	unsigned switch_count; /* threads whose switches are recorded */
	unsigned said;         /* enum fw_sampler_said */
	bool is_here;          /* the root is this machine's */
	bool has_schedstat, has_read;
	bool has_seen;   /* the watched process, at some time */
	int64_t end_ns;  /* CPU time of the thread after the last reading */
	uint64_t cpu_ns; /* CPU time of all readings, and of the waiting */
};

/* Once each. */
void fw_sampler_say(struct fw_host_sampler *s, enum fw_sampler_said what, const char *text);

/* An errno that means that the process or thread has ended. */
bool fw_sampler_is_gone(int error);

/* The time on a CPU and the state of the process's threads; those that ended are marked. */
void fw_sampler_read_threads(struct fw_host_sampler *s, struct fw_tree_process *process,
			     int64_t now_ns);

/* The process's memory, input and output; one that ended is marked. */
void fw_sampler_read_process(struct fw_host_sampler *s, struct fw_tree_process *process,
			     int64_t now_ns);

/* A process's part of the memory that is shared since a fork; false: none is worth a look. */
bool fw_sampler_read_share(struct fw_host_sampler *s, int64_t now_ns);

/* How long to wait after one that took so much CPU time. */
int64_t fw_sampler_share_wait(const struct fw_host_sampler *s, int64_t used_ns);

/* Tells the last of a process; has_ended: it has, the watching goes on. */
void fw_sampler_end_thread(struct fw_host_sampler *s, struct fw_tree_process *process,
			   struct fw_tree_thread *thread, int64_t now_ns, bool has_ended);
void fw_sampler_end_process(struct fw_host_sampler *s, struct fw_tree_process *process,
			    int64_t now_ns, bool has_ended);

#endif
