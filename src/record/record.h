#ifndef FW_RECORD_RECORD_H
#define FW_RECORD_RECORD_H
/* Runs a program and records what it does on the GPU, into a folder. */
#include "base/error.h"
#include "record/schedule.h"
#include "sample/counter_source.h"

struct fw_record_options {
	char *const *command; /* NULL-terminated */
	const char *folder;   /* a pattern; NULL: a name is made up */
	struct fw_record_schedule schedule;
	int signal;                            /* starts and stops; 0: none */
	const char *kernels;                   /* only kernels that match are named; NULL: all */
	uint64_t max_bytes;                    /* of each file; 0: no limit */
	int64_t counter_interval_ns;           /* 0: as the source allows */
	enum fw_counter_source counter_source; /* at best */
	bool graph_nodes, syncs, cuda_profiler, python_calls;
	bool no_python, no_counters, no_host;
	/* Called for what the user should read: what is not recorded, and why. */
	void (*note)(void *user, const char *message);
	void *user;
};

struct fw_record_result {
	int status;         /* the program's, as a shell gives it */
	bool is_started;    /* the program ran */
	bool is_recorded;   /* and there is a recording of it */
	bool was_wanted;    /* false: it ended before delay or signal let the recording begin */
	char *folder;       /* for free() */
	unsigned processes; /* with a file of their own: they called CUDA */
	uint64_t bytes;     /* of the recording */
	char *counters_why; /* why GPU counters are of a lesser source; NULL: the best; for free() */
	uint64_t samples_lost; /* of the recorder's own files */
	uint64_t
		records_lost; /* of the programs', told to the last recorder; UINT64_MAX: unknown how many */
};

/*
 * To be called in the main thread, with no other one. Afterwards standard input and output are /dev/null:
 * they are the program's. The program always runs, unless this fails before it starts: FW_ERR_ARGUMENT: an option, the folder or
 * the environment is at fault; FW_ERR_UNSUPPORTED: this build cannot record. A program that cannot be
 * executed is no failure: its status is 126 or 127, as a shell gives it, and is_started is false.
 */
fw_status fw_record(const struct fw_record_options *options, struct fw_record_result *result,
		    struct fw_error *err);

void fw_record_result_release(struct fw_record_result *result);

#endif
