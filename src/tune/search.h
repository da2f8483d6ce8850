#ifndef FW_TUNE_SEARCH_H
#define FW_TUNE_SEARCH_H
/*
 * Search strategies behind one interface: the driver asks for configurations, has them compiled and measured, and tells
 * their times. Deterministic given space, seed, budget and the times told in order. One thread.
 */
#include "tune/space.h"

enum fw_tune_verdict { FW_TUNE_TIMED, FW_TUNE_FAILED };

struct fw_tune_search; /* one search under way */

struct fw_tune_search_options {
	const char *
		strategy; /* "auto": exhaustive up to 200 configurations, else genetic; or a name of strategies.def */
	uint64_t seed;
	uint64_t budget; /* most configurations evaluated; failed ones count */
	/* Asked first, after the default configuration: what is known to be good elsewhere. Invalid ones are left out. */
	const struct fw_tune_config *starts;
	uint32_t n_starts;
};

/* Name of a strategy, or NULL past the last. */
const char *fw_tune_strategy_name(size_t i);

/* FW_ERR_ARGUMENT: no such strategy. FW_ERR_UNSUPPORTED: the space is too large to list, and the strategy needs that. */
fw_status fw_tune_search_open(const struct fw_tune_space *space,
			      const struct fw_tune_search_options *options,
			      struct fw_tune_search **search, struct fw_error *err);

/*
 * Fills up to max configurations not asked for before; returns how many. 0: the search waits for what was asked (tell
 * first) or has ended (fw_tune_search_is_done).
 */
uint32_t fw_tune_search_ask(struct fw_tune_search *search, struct fw_tune_config *configs,
			    uint32_t max);

/* seconds is read for TIMED only. FW_ERR_ARGUMENT: was not asked, or told already. */
fw_status fw_tune_search_tell(struct fw_tune_search *search, const struct fw_tune_config *config,
			      enum fw_tune_verdict verdict, double seconds, struct fw_error *err);

/* The strategy that "auto" stands for, or the one given. */
const char *fw_tune_search_strategy(const struct fw_tune_search *search);
bool fw_tune_search_is_done(const struct fw_tune_search *search);
void fw_tune_search_close(struct fw_tune_search *search);

#endif
