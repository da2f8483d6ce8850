/*
 * A small population whose best are kept and whose others are bred anew each generation, then steps from the winner
 * to better neighbours; what budget is left starts again beside the winner.
 */
#include "tune/neighbours.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Chosen on recorded spaces: docs/tune.md. */
#define POPULATION 10
#define ELITE      2
#define TOURNAMENT 3
#define MUTATION   0.3
/* The winner is polished after so many generations without a better one, or when this share of the budget is left. */
#define STALE_GENERATIONS 3
#define POLISH_SHARE      4

/* Tries to breed a child that is valid and new; then a random configuration takes its place. */
#define BREED_TRIES 50

extern const struct fw_tune_strategy fw_tune_strategy_genetic;

struct member {
	uint64_t key;
	double seconds;
};

struct genetic {
	struct member members[POPULATION];
	uint32_t n_members;
	uint64_t children[POPULATION]; /* of the generation under way */
	uint32_t n_children, n_asked;
	double best; /* of this population */
	unsigned stale;
	uint64_t polished; /* the last winner whose neighbours were all asked */
	bool has_adopted;
	struct fw_tune_climb climb;
};

static fw_status open_genetic(struct fw_tune_search *search, struct fw_error *err)
{
	struct genetic *genetic = calloc(1, sizeof(*genetic));

	if (!genetic)
		return fw_fail_nomem(err, sizeof(*genetic));
	genetic->best = INFINITY;
	genetic->polished = UINT64_MAX;
	search->state = genetic;
	return FW_OK;
}

static void close_genetic(struct fw_tune_search *search)
{
	struct genetic *genetic = search->state;

	if (genetic)
		fw_vec_release(&genetic->climb.keys);
	free(genetic);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Of a few drawn, the fastest. */
static const struct member *draw_parent(const struct genetic *genetic, struct fw_tune_rng *rng)
{
	const struct member *best = NULL;

	for (int i = 0; i < TOURNAMENT; i++) {
		const struct member *m =
			&genetic->members[fw_tune_rng_below(rng, genetic->n_members)];

		if (!best || m->seconds < best->seconds)
			best = m;
	}
	return best;
}

static void mutate(const struct fw_tune_space *space, struct fw_tune_config *config,
		   struct fw_tune_rng *rng)
{
	uint32_t p = (uint32_t)fw_tune_rng_below(rng, space->n_params);

	config->value[p] = (uint16_t)fw_tune_rng_below(rng, space->params[p].n_values);
}

/* Each value from one of two parents, and now and then one of its own. */
static void cross(struct fw_tune_search *search, const struct genetic *genetic,
		  struct fw_tune_config *child)
{
	const struct fw_tune_space *space = search->space;
	struct fw_tune_config other;

	fw_tune_space_config(space, draw_parent(genetic, &search->rng)->key, child);
	fw_tune_space_config(space, draw_parent(genetic, &search->rng)->key, &other);
	for (uint32_t p = 0; p < space->n_params; p++)
		if (fw_tune_rng_next(&search->rng) >> 63)
			child->value[p] = other.value[p];
	if (fw_tune_rng_unit(&search->rng) < MUTATION)
		mutate(space, child, &search->rng);
}

static bool is_child(const struct genetic *genetic, uint64_t key)
{
	for (uint32_t i = 0; i < genetic->n_children; i++)
		if (genetic->children[i] == key)
			return true;
	return false;
}

/* A child that is valid and new. Parents that are alike give no new one: what is refused mutates until it is new. */
static bool breed(struct fw_tune_search *search, const struct genetic *genetic, uint64_t *key)
{
	struct fw_tune_config child;

	for (int i = 0; i < BREED_TRIES; i++) {
		if (i % 5 == 0)
			cross(search, genetic, &child);
		else
			mutate(search->space, &child, &search->rng);
		if (fw_tune_search_is_new(search, &child, key) && !is_child(genetic, *key))
			return true;
	}
	return false;
}

/* The next generation's children; a first population is drawn at random. */
static void breed_all(struct fw_tune_search *search, struct genetic *genetic)
{
	uint32_t n = genetic->n_members < POPULATION ? POPULATION - genetic->n_members
						     : POPULATION - ELITE;
	bool is_first = genetic->n_members < POPULATION;
	uint64_t key;

	genetic->n_children = 0;
	genetic->n_asked = 0;
	while (genetic->n_children < n) {
		if ((is_first || !breed(search, genetic, &key)) &&
		    (!fw_tune_search_draw(search, &key) || is_child(genetic, key)))
			return;
		genetic->children[genetic->n_children++] = key;
	}
}

/* The generation is told: the best are kept, its children take the place of the others. */
static void take_over(struct fw_tune_search *search, struct genetic *genetic)
{
	uint32_t kept = genetic->n_members < POPULATION ? genetic->n_members : ELITE;

	for (uint32_t i = 0; i < genetic->n_children && kept < POPULATION; i++) {
		const struct fw_tune_record *record =
			fw_tune_search_record(search, genetic->children[i]);

		if (record)
			genetic->members[kept++] = (struct member){ record->key, record->seconds };
	}
	genetic->n_members = kept;
	genetic->n_children = 0;
	qsort(genetic->members, kept, sizeof(genetic->members[0]), compare_members);
	if (kept && genetic->members[0].seconds < genetic->best) {
		genetic->best = genetic->members[0].seconds;
		genetic->stale = 0;
	} else {
		genetic->stale++;
	}
}

/* The first population: what was asked before the strategy was, which is known to be good, and random ones. */
static void adopt(struct fw_tune_search *search, struct genetic *genetic)
{
	const struct fw_tune_record *records = search->records.data;
	uint64_t key;

	for (size_t i = 0; i < search->records.len && i < POPULATION; i++)
		genetic->children[genetic->n_children++] = records[i].key;
	while (genetic->n_children < POPULATION && fw_tune_search_draw(search, &key) &&
	       !is_child(genetic, key))
		genetic->children[genetic->n_children++] = key;
	genetic->has_adopted = true;
}

static bool should_climb(const struct fw_tune_search *search, const struct genetic *genetic)
{
	if (!genetic->n_members || isinf(genetic->members[0].seconds) ||
	    genetic->members[0].key == genetic->polished)
		return false;
	return genetic->stale >= STALE_GENERATIONS ||
	       fw_tune_search_left(search) <= search->budget / POLISH_SHARE;
}

/* Polishes the winner if it is time, else breeds. False: nothing is left to ask. */
static bool go_on(struct fw_tune_search *search, struct genetic *genetic)
{
	take_over(search, genetic);
	if (should_climb(search, genetic)) {
		const struct fw_tune_record *winner =
			fw_tune_search_record(search, genetic->members[0].key);

		return fw_tune_climb_start(&genetic->climb, search, winner);
	}
	breed_all(search, genetic);
	return genetic->n_children > 0;
}

/* A new population beside the winner. */
static void restart(struct genetic *genetic)
{
	genetic->members[0] = (struct member){ genetic->climb.place, genetic->climb.seconds };
	genetic->n_members = 1;
	genetic->n_children = 0;
	genetic->n_asked = 0;
	genetic->best = INFINITY;
	genetic->stale = 0;
	genetic->polished = genetic->climb.place;
}

static enum fw_tune_step next(struct fw_tune_search *search, uint64_t *key)
{
	struct genetic *genetic = search->state;

	if (!genetic->has_adopted)
		adopt(search, genetic);
	for (;;) {
		if (genetic->climb.is_active) {
			enum fw_tune_step step = fw_tune_climb_next(&genetic->climb, search, key);

			if (step != FW_TUNE_END)
				return step;
			restart(genetic);
		}
		while (genetic->n_asked < genetic->n_children) {
			*key = genetic->children[genetic->n_asked++];
			if (!fw_tune_search_record(search, *key))
				return FW_TUNE_ASK;
		}
		if (search->pending)
			return FW_TUNE_WAIT;
		if (!go_on(search, genetic))
			return FW_TUNE_END;
	}
}

const struct fw_tune_strategy fw_tune_strategy_genetic = {
	.name = "genetic", .open = open_genetic, .next = next, .close = close_genetic
};
