#ifndef FW_TUNE_TUNE_RUN_H
#define FW_TUNE_TUNE_RUN_H
/* What the phases of a run share. Internal to it. */
#include "base/map.h"
#include "tune/cache.h"
#include "tune/race.h"
#include "tune/tune.h"

/* A configuration whose code is in the runner, as slot `entry`. */
struct fw_tune_loaded {
	uint32_t entry;
	struct fw_tune_object object;
};

struct fw_tune_run {
	const struct fw_tune_spec *spec;
	const struct fw_tune_run_options *options;
	struct fw_tune_report *report;
	struct fw_tune_runner *runner;
	struct fw_tune_compiler *compiler;
	struct fw_tune_cache *cache;
	struct fw_tune_conditions conditions;
	struct fw_tune_object
		preset; /* compiled; cubin NULL: it is not valid or does not compile */
	bool has_reference;
	struct fw_vec loaded; /* struct fw_tune_loaded */
	struct fw_map index;  /* key -> 1 + entry */
	struct fw_map codes;  /* code and launch -> 1 + entry */
	double drift;         /* times now / times at the search's start */
	uint64_t failed;
	ptrdiff_t best; /* of the entries below looked_at; -1: none */
	size_t looked_at;
};

bool fw_tune_run_is_stopped(struct fw_tune_run *run);
void fw_tune_run_note(struct fw_tune_run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fw_tune_run_progress(struct fw_tune_run *run, enum fw_tune_phase phase, uint64_t done,
			  uint64_t of);
/* The fastest entry by guide_s, or -1. */
ptrdiff_t fw_tune_run_best(struct fw_tune_run *run);

fw_status fw_tune_run_open_runner(struct fw_tune_run *run, struct fw_error *err);
/* Compiles one configuration alone; sizes NULL: the spec's own. */
fw_status fw_tune_run_compile(struct fw_tune_run *run, const struct fw_tune_config *config,
			      const int64_t *sizes, struct fw_tune_object *object,
			      struct fw_error *err);
/* Loads and checks an object as the entry's slot, which stays loaded; takes the object over. */
fw_status fw_tune_run_load(struct fw_tune_run *run, uint32_t entry, struct fw_tune_object *object,
			   struct fw_error *err);
struct fw_tune_loaded *fw_tune_run_loaded(const struct fw_tune_run *run, uint32_t entry);
void fw_tune_run_unload(struct fw_tune_run *run, struct fw_tune_loaded *loaded);
void fw_tune_run_keep(struct fw_tune_run *run, const struct fw_tune_result *result);

/* The phases. */
fw_status fw_tune_run_search(struct fw_tune_run *run, struct fw_error *err);
fw_status fw_tune_run_race(struct fw_tune_run *run, struct fw_error *err);
/* The winner on the other sizes and in a fresh process. */
fw_status fw_tune_run_confirm(struct fw_tune_run *run, struct fw_error *err);

/* Sorts the entries that run, finds the equal ones and chooses among them. */
fw_status fw_tune_run_rank(struct fw_tune_run *run, struct fw_error *err);

/* Configurations worth asking first: 128 and 256 threads a block, else as by default. */
#define FW_TUNE_MAX_STARTS 4
uint32_t fw_tune_starts(const struct fw_tune_spec *spec,
			struct fw_tune_config starts[FW_TUNE_MAX_STARTS]);

#endif
