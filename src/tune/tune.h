#ifndef FW_TUNE_TUNE_H
#define FW_TUNE_TUNE_H
/*
 * The whole of a tuning run: search, race of the best, checks of the winner. The caller's thread does it; the compiler
 * and the GPU live in processes of their own.
 */
#include "base/vec.h"
#include "tune/runner.h"
#include "tune/search.h"

enum fw_tune_phase { FW_TUNE_PHASE_SEARCH, FW_TUNE_PHASE_RACE, FW_TUNE_PHASE_CONFIRM };

struct fw_tune_progress {
	enum fw_tune_phase phase;
	uint64_t done, of; /* configurations, or samples of the longest racer; of 0: by time */
	double best_s, preset_s; /* -1: none yet */
	uint64_t failed;
};

struct fw_tune_run_options {
	unsigned device;
	bool flushes_l2;
	unsigned workers;       /* compilers; 0: the cores less one */
	const char *object_dir; /* cache of compiled objects; NULL: none */
	const char *nvrtc_path; /* NULL: looked for */
	const char *cache_path; /* of results; NULL: none */
	bool forgets;           /* what the cache holds is not used */
	struct fw_tune_search_options search;
	double limit_s; /* of the search; 0: none */
	/* All may be NULL. */
	bool (*is_stopped)(void *user);
	void (*progress)(void *user, const struct fw_tune_progress *progress);
	void (*note)(
		void *user,
		const char *text); /* what the user should know at once; kept in the report too */
	void *user;
};

struct fw_tune_entry { /* a configuration that was evaluated */
	struct fw_tune_result result;
	double guide_s; /* its time at the clock of the search's start: what the search was told; negative: failed */
	ptrdiff_t
		same_as; /* the entry with the same code and launch, whose time it has; -1: none */
	bool is_cached;  /* its samples are of an earlier run */
	bool is_raced;   /* its samples are of the race, interleaved with those of the others */
};

struct fw_tune_report {
	struct fw_tune_gpu gpu;
	struct fw_tune_compile_stats compile;
	const char *strategy;
	struct fw_vec entries; /* struct fw_tune_entry, in the order of asking */
	struct fw_vec
		ranked; /* uint32_t: those that run, the fastest first; raced ones before others */
	uint32_t n_equal;    /* of the ranked: they cannot be told from the fastest */
	ptrdiff_t preset;    /* entry of the default configuration; -1: it is not valid */
	ptrdiff_t winner;    /* -1: nothing runs */
	bool is_stopped;     /* by the user: the search or the race is not complete */
	bool is_complete;    /* every configuration of the space was evaluated */
	uint32_t n_rescaled; /* times that the GPU's speed had changed */
	/* Of the winner and the default in a fresh process; n_samples 0: not done. */
	struct fw_tune_result confirmed, confirmed_preset;
	uint32_t n_sizes_checked;
	double search_s, race_s;
	struct fw_arena arena;
	struct fw_vec notes;         /* const char * */
	struct fw_error cache_error; /* the cache could not be written: code is not FW_OK */
};

/*
 * FW_OK also where nothing runs (winner is -1) or the user stopped it. The report is to be released in any case.
 */
fw_status fw_tune_run(const struct fw_tune_spec *spec, const struct fw_tune_run_options *options,
		      struct fw_tune_report *report, struct fw_error *err);
void fw_tune_report_release(struct fw_tune_report *report);

static inline struct fw_tune_entry *fw_tune_entry(const struct fw_tune_report *report, size_t i)
{
	return (struct fw_tune_entry *)report->entries.data + i;
}

#endif
