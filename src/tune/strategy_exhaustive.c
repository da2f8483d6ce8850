/*
 * Every configuration of a listed space, in strides of about the golden ratio: a slow drift of the GPU does not follow
 * a parameter then, and a search that is stopped early has seen all parts of the space.
 */
#include "tune/strategy.h"

#include "base/error.h"

#include <stdlib.h>

extern const struct fw_tune_strategy fw_tune_strategy_exhaustive;

struct walk {
	uint64_t at, stride, visited;
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static fw_status open_walk(struct fw_tune_search *search, struct fw_error *err)
{
	uint64_t n = search->space->n_valid;
	struct walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return fw_fail_nomem(err, sizeof(*walk));
	walk->at = fw_tune_rng_below(&search->rng, n);
	walk->stride = (uint64_t)((double)n * 0.6180339887498949) + 1;
	while (common_divisor(walk->stride, n) != 1)
		walk->stride++;
	search->state = walk;
	return FW_OK;
}

static enum fw_tune_step next(struct fw_tune_search *search, uint64_t *key)
{
	struct walk *walk = search->state;

	while (walk->visited < search->space->n_valid) {
		*key = search->space->keys[walk->at];
		walk->at = (walk->at + walk->stride) % search->space->n_valid;
		walk->visited++;
		if (!fw_tune_search_record(search, *key))
			return FW_TUNE_ASK;
	}
	return FW_TUNE_END;
}

static void close_walk(struct fw_tune_search *search)
{
	free(search->state);
}

const struct fw_tune_strategy fw_tune_strategy_exhaustive = { .name = "exhaustive",
							      .needs_list = true,
							      .open = open_walk,
							      .next = next,
							      .close = close_walk };
