#ifndef FW_TUNE_STRATEGY_H
#define FW_TUNE_STRATEGY_H
/* What the strategies share: the record of what was asked and told, and draws from the space. Internal to the search. */
#include "base/map.h"
#include "base/vec.h"
#include "tune/rng.h"
#include "tune/search.h"

enum fw_tune_record_state { FW_TUNE_ASKED, FW_TUNE_TOLD_TIMED, FW_TUNE_TOLD_FAILED };

struct fw_tune_record {
	uint64_t key;
	enum fw_tune_record_state state;
	double seconds; /* infinite unless TOLD_TIMED */
};

enum fw_tune_step {
	FW_TUNE_ASK,  /* the key is a valid configuration that was not asked before */
	FW_TUNE_WAIT, /* for what is asked and not told */
	FW_TUNE_END   /* there is nothing left to ask */
};

struct fw_tune_strategy {
	const char *name;
	bool needs_list; /* of all configurations */
	fw_status (*open)(struct fw_tune_search *search, struct fw_error *err);
	/* Called with budget left. WAIT only while something is pending. */
	enum fw_tune_step (*next)(struct fw_tune_search *search, uint64_t *key);
	void (*close)(struct fw_tune_search *search);
};

struct fw_tune_search {
	const struct fw_tune_space *space;
	const struct fw_tune_strategy *strategy;
	void *state; /* the strategy's own */
	struct fw_tune_rng rng;
	uint64_t budget;
	struct fw_vec starts;  /* uint64_t: keys to ask first */
	size_t next_start;     /* of them */
	struct fw_vec records; /* struct fw_tune_record, in the order of asking */
	struct fw_map index;   /* key -> 1 + its record */
	size_t pending;        /* asked, not told */
	bool has_ended, is_out_of_memory;
};

/* NULL: not asked yet. Dies on the next ask. */
struct fw_tune_record *fw_tune_search_record(const struct fw_tune_search *search, uint64_t key);
/* The index of the fastest record, or -1: none is timed. */
ptrdiff_t fw_tune_search_best(const struct fw_tune_search *search);
uint64_t fw_tune_search_left(const struct fw_tune_search *search);
/* A valid configuration not asked before, each as likely; false: none is left, or none was found in bounded time. */
bool fw_tune_search_draw(struct fw_tune_search *search, uint64_t *key);
bool fw_tune_search_is_new(const struct fw_tune_search *search, const struct fw_tune_config *config,
			   uint64_t *key);

#endif
