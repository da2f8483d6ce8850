/* Asks and tells: keeps the record of a search, and leaves the choice to its strategy. */
#include "tune/strategy.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spaces up to this size are searched whole: about what a search of a larger one costs. */
#define EXHAUSTIVE_UP_TO 200

/* Draws of a space that is not listed, until one is new. */
#define DRAWS_MAX 1000

#define FW_STRATEGY(name, about) extern const struct fw_tune_strategy fw_tune_strategy_##name;
#include "tune/strategies.def"
#undef FW_STRATEGY

static const struct fw_tune_strategy *const strategies[] = {
#define FW_STRATEGY(name, about) &fw_tune_strategy_##name,
#include "tune/strategies.def"
#undef FW_STRATEGY
};

#define STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

const char *fw_tune_strategy_name(size_t i)
{
	return i < STRATEGIES ? strategies[i]->name : NULL;
}

static const struct fw_tune_strategy *find_strategy(const struct fw_tune_space *space,
						    const char *name)
{
	if (!strcmp(name, "auto"))
		return space->is_listed && space->n_valid <= EXHAUSTIVE_UP_TO ? strategies[0]
									      : strategies[1];
	for (size_t i = 0; i < STRATEGIES; i++)
		if (!strcmp(name, strategies[i]->name))
			return strategies[i];
	return NULL;
}

static bool add_start(struct fw_tune_search *search, const struct fw_tune_config *config)
{
	uint64_t *key;

	if (!fw_tune_space_is_valid(search->space, config))
		return true;
	key = fw_vec_push(&search->starts);
	if (key)
		*key = fw_tune_space_key(search->space, config);
	return key;
}

static fw_status add_starts(struct fw_tune_search *search,
			    const struct fw_tune_search_options *options, struct fw_error *err)
{
	struct fw_tune_config preset;
	bool ok = true;

	if (fw_tune_space_preset(search->space, &preset))
		ok = add_start(search, &preset);
	for (uint32_t i = 0; ok && i < options->n_starts; i++)
		ok = add_start(search, &options->starts[i]);
	return ok ? FW_OK : fw_fail_nomem(err, sizeof(uint64_t) * options->n_starts);
}

fw_status fw_tune_search_open(const struct fw_tune_space *space,
			      const struct fw_tune_search_options *options,
			      struct fw_tune_search **out, struct fw_error *err)
{
	const struct fw_tune_strategy *strategy = find_strategy(space, options->strategy);
	struct fw_tune_search *search;
	fw_status status;

	if (!strategy)
		return fw_fail(err, FW_ERR_ARGUMENT, "no search strategy '%s'", options->strategy);
	if (strategy->needs_list && !space->is_listed)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the space has too many configurations (%.3g before constraints) "
			       "for the strategy '%s'",
			       space->cartesian, strategy->name);
	search = calloc(1, sizeof(*search));
	if (!search)
		return fw_fail_nomem(err, sizeof(*search));
	*search = (struct fw_tune_search){ .space = space,
					   .strategy = strategy,
					   .budget = options->budget,
					   .starts = FW_VEC(uint64_t),
					   .records = FW_VEC(struct fw_tune_record) };
	fw_tune_rng_seed(&search->rng, options->seed);
	status = add_starts(search, options, err);
	if (!status && strategy->open)
		status = strategy->open(search, err);
	if (status)
		fw_tune_search_close(search);
	else
		*out = search;
	return status;
}

void fw_tune_search_close(struct fw_tune_search *search)
{
	if (!search)
		return;
	if (search->strategy->close)
		search->strategy->close(search);
	fw_vec_release(&search->starts);
	fw_vec_release(&search->records);
	fw_map_release(&search->index);
	free(search);
}

const char *fw_tune_search_strategy(const struct fw_tune_search *search)
{
	return search->strategy->name;
}

struct fw_tune_record *fw_tune_search_record(const struct fw_tune_search *search, uint64_t key)
{
	const uint64_t *at = fw_map_find(&search->index, key, 0);
	struct fw_tune_record *records = search->records.data;

	return at ? &records[*at - 1] : NULL;
}

ptrdiff_t fw_tune_search_best(const struct fw_tune_search *search)
{
	const struct fw_tune_record *records = search->records.data;
	ptrdiff_t best = -1;

	for (size_t i = 0; i < search->records.len; i++)
		if (records[i].state == FW_TUNE_TOLD_TIMED &&
		    (best < 0 || records[i].seconds < records[best].seconds))
			best = (ptrdiff_t)i;
	return best;
}

uint64_t fw_tune_search_left(const struct fw_tune_search *search)
{
	return search->budget - search->records.len;
}

/* From a random place on: as many steps at most as configurations were asked. */
static bool draw_listed(struct fw_tune_search *search, uint64_t *key)
{
	const struct fw_tune_space *space = search->space;
	uint64_t at = fw_tune_rng_below(&search->rng, space->n_valid);

	if (search->records.len >= space->n_valid)
		return false;
	/* Again while it is known, so that the draw stays even where few are. */
	for (int i = 0; i < 16 && fw_tune_search_record(search, space->keys[at]); i++)
		at = fw_tune_rng_below(&search->rng, space->n_valid);
	while (fw_tune_search_record(search, space->keys[at]))
		at = at + 1 < space->n_valid ? at + 1 : 0;
	*key = space->keys[at];
	return true;
}

bool fw_tune_search_is_new(const struct fw_tune_search *search, const struct fw_tune_config *config,
			   uint64_t *key)
{
	*key = fw_tune_space_key(search->space, config);
	return !fw_tune_search_record(search, *key) &&
	       fw_tune_space_is_valid(search->space, config);
}

bool fw_tune_search_draw(struct fw_tune_search *search, uint64_t *key)
{
	const struct fw_tune_space *space = search->space;
	struct fw_tune_config config = { 0 };

	if (space->is_listed)
		return draw_listed(search, key);
	for (int i = 0; i < DRAWS_MAX && fw_tune_space_random(space, &search->rng, &config); i++)
		if (fw_tune_search_is_new(search, &config, key))
			return true;
	return false;
}

static enum fw_tune_step next(struct fw_tune_search *search, uint64_t *key)
{
	const uint64_t *starts = search->starts.data;

	while (search->next_start < search->starts.len) {
		*key = starts[search->next_start++];
		if (!fw_tune_search_record(search, *key))
			return FW_TUNE_ASK;
	}
	return search->strategy->next(search, key);
}

/* False: memory is out. */
static bool add_record(struct fw_tune_search *search, uint64_t key)
{
	struct fw_tune_record *record = fw_vec_push(&search->records);
	uint64_t *at = record ? fw_map_at(&search->index, key, 0, NULL) : NULL;

	if (!at) {
		search->records.len -= record ? 1 : 0;
		search->is_out_of_memory = true;
		return false;
	}
	*record = (struct fw_tune_record){ key, FW_TUNE_ASKED, INFINITY };
	*at = search->records.len;
	search->pending++;
	return true;
}

uint32_t fw_tune_search_ask(struct fw_tune_search *search, struct fw_tune_config *configs,
			    uint32_t max)
{
	uint32_t n = 0;
	uint64_t key;

	while (n < max && !search->has_ended && fw_tune_search_left(search)) {
		enum fw_tune_step step = next(search, &key);

		if (step == FW_TUNE_WAIT)
			break;
		if (step == FW_TUNE_END || !add_record(search, key))
			search->has_ended = true;
		else
			fw_tune_space_config(search->space, key, &configs[n++]);
	}
	return n;
}

fw_status fw_tune_search_tell(struct fw_tune_search *search, const struct fw_tune_config *config,
			      enum fw_tune_verdict verdict, double seconds, struct fw_error *err)
{
	struct fw_tune_record *record =
		fw_tune_search_record(search, fw_tune_space_key(search->space, config));

	if (!record || record->state != FW_TUNE_ASKED)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "told of a configuration that is not waited for");
	if (search->is_out_of_memory)
		return fw_fail_nomem(err, sizeof(*record));
	record->state = verdict == FW_TUNE_TIMED ? FW_TUNE_TOLD_TIMED : FW_TUNE_TOLD_FAILED;
	record->seconds = verdict == FW_TUNE_TIMED ? seconds : INFINITY;
	search->pending--;
	return FW_OK;
}

bool fw_tune_search_is_done(const struct fw_tune_search *search)
{
	return !search->pending && (search->has_ended || !fw_tune_search_left(search));
}
