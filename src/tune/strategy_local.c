/*
 * Iterated local search: random points first, then from the best of them steps to better neighbours; from where they
 * end, a jump nearby and again.
 */
#include "tune/neighbours.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Chosen on recorded spaces: docs/tune.md. */
#define RANDOM_SHARE 0.4
#define RANDOM_MAX   80 /* of any budget, also of one by time */
#define JUMP_PARAMS  3

extern const struct fw_tune_strategy fw_tune_strategy_local;

struct local {
	struct fw_tune_climb climb;
	uint64_t jump; /* key asked to start from; read while has_jumped */
	bool has_jumped;
};

static fw_status open_local(struct fw_tune_search *search, struct fw_error *err)
{
	search->state = calloc(1, sizeof(struct local));
	return search->state ? FW_OK : fw_fail_nomem(err, sizeof(struct local));
}

static void close_local(struct fw_tune_search *search)
{
	struct local *local = search->state;

	if (local)
		fw_vec_release(&local->climb.keys);
	free(local);
}

/* Some values of the best are changed; else anywhere. */
static bool jump(struct fw_tune_search *search, uint64_t *key)
{
	const struct fw_tune_space *space = search->space;
	const struct fw_tune_record *records = search->records.data;
	ptrdiff_t best = fw_tune_search_best(search);

	for (int tries = 0; best >= 0 && tries < 50; tries++) {
		struct fw_tune_config config;

		fw_tune_space_config(space, records[best].key, &config);
		for (int i = 0; i < JUMP_PARAMS; i++) {
			uint32_t p = (uint32_t)fw_tune_rng_below(&search->rng, space->n_params);

			config.value[p] = (uint16_t)fw_tune_rng_below(&search->rng,
								      space->params[p].n_values);
		}
		if (fw_tune_search_is_new(search, &config, key))
			return true;
	}
	return fw_tune_search_draw(search, key);
}

static bool is_random_phase(const struct fw_tune_search *search)
{
	double share = RANDOM_SHARE * (double)search->budget;

	return (double)search->records.len < fmin(share, RANDOM_MAX);
}

/* The place to climb from: where the jump went if that can run, at first the best of the random points. */
static bool start_climb(struct fw_tune_search *search, struct local *local)
{
	const struct fw_tune_record *records = search->records.data, *from = NULL;
	ptrdiff_t best = fw_tune_search_best(search);

	if (local->has_jumped)
		from = fw_tune_search_record(search, local->jump);
	else if (best >= 0)
		from = &records[best];
	local->has_jumped = false;
	if (!from || isinf(from->seconds))
		return false;
	return fw_tune_climb_start(&local->climb, search, from);
}

static enum fw_tune_step next(struct fw_tune_search *search, uint64_t *key)
{
	struct local *local = search->state;

	if (local->climb.is_active) {
		enum fw_tune_step step = fw_tune_climb_next(&local->climb, search, key);

		if (step != FW_TUNE_END)
			return step;
	} else if (is_random_phase(search)) {
		return fw_tune_search_draw(search, key) ? FW_TUNE_ASK : FW_TUNE_END;
	} else if (search->pending) {
		return FW_TUNE_WAIT;
	} else if (start_climb(search, local)) {
		return next(search, key);
	}
	if (!jump(search, key))
		return FW_TUNE_END;
	local->jump = *key;
	local->has_jumped = true;
	return FW_TUNE_ASK;
}

const struct fw_tune_strategy fw_tune_strategy_local = {
	.name = "local", .open = open_local, .next = next, .close = close_local
};
