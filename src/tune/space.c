/* The space of configurations: parameters and constraints to the list of what is valid. */
#include "tune/space.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_TESTS UINT64_C(50000000)
#define RANDOM_TRIES  1000    /* uniform ones, before values are chosen one by one */
#define RANDOM_TESTS  1000000 /* of choosing one by one */

static fw_status check_values(const struct fw_tune_param *param, struct fw_error *err)
{
	if (param->n_values < 1 || param->n_values > FW_TUNE_MAX_VALUES)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "parameter %s has %u values: 1 to %d are possible", param->name,
			       param->n_values, FW_TUNE_MAX_VALUES);
	if (param->preset >= param->n_values)
		return fw_fail(err, FW_ERR_ARGUMENT, "parameter %s has no value %u", param->name,
			       param->preset);
	for (uint32_t i = 0; i < param->n_values; i++)
		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(param->values[i].text, param->values[j].text) ||
			    param->values[i].number == param->values[j].number)
				return fw_fail(err, FW_ERR_ARGUMENT,
					       "parameter %s has the value %.60s twice",
					       param->name, param->values[i].text);
	return FW_OK;
}

static fw_status copy_param(struct fw_tune_space *space, const struct fw_tune_param *param,
			    struct fw_error *err)
{
	struct fw_tune_value *values =
		fw_arena_array(&space->arena, param->n_values, sizeof(*values));
	const char *name = fw_arena_strndup(&space->arena, param->name, strlen(param->name));

	if (!values || !name)
		return fw_fail_nomem(err, param->n_values * sizeof(*values));
	for (uint32_t i = 0; i < param->n_values; i++) {
		const char *text = param->values[i].text;

		values[i].number = param->values[i].number;
		values[i].text = fw_arena_strndup(&space->arena, text, strlen(text));
		if (!values[i].text)
			return fw_fail_nomem(err, strlen(text) + 1);
	}
	space->params[space->n_params] = *param;
	space->params[space->n_params].name = name;
	space->params[space->n_params].values = values;
	return FW_OK;
}

/* Number of keys, 0 if above 2^63. */
static uint64_t count_keys(const struct fw_tune_space *space)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < space->n_params; i++)
		if (__builtin_mul_overflow(count, space->params[i].n_values, &count) ||
		    count > UINT64_C(1) << 63)
			return 0;
	return count;
}

fw_status fw_tune_space_add(struct fw_tune_space *space, const struct fw_tune_param *param,
			    struct fw_error *err)
{
	fw_status status;

	if (space->is_sealed || space->n_params == FW_TUNE_MAX_PARAMS)
		return fw_fail(err, FW_ERR_ARGUMENT, "parameter %s is one too many: at most %d",
			       param->name, FW_TUNE_MAX_PARAMS);
	for (uint32_t i = 0; i < space->n_params; i++)
		if (!strcmp(space->params[i].name, param->name))
			return fw_fail(err, FW_ERR_ARGUMENT, "parameter %s is there already",
				       param->name);
	status = check_values(param, err);
	if (!status)
		status = copy_param(space, param, err);
	if (status)
		return status;
	space->n_params++;
	if (!count_keys(space)) {
		space->n_params--;
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "with parameter %s there are more than 2^63 combinations",
			       param->name);
	}
	return FW_OK;
}

static bool allows(const struct fw_tune_space *space, const int64_t *numbers, uint32_t n_bound)
{
	return !space->allows || space->allows(space->constraints, numbers, n_bound);
}

/* A walk over all combinations, depth first, which leaves a branch as soon as a constraint forbids it. */
struct walk {
	const struct fw_tune_space *space;
	struct fw_tune_config config;
	int64_t numbers[FW_TUNE_MAX_PARAMS];
	uint32_t next[FW_TUNE_MAX_PARAMS];  /* value to try next, counted from first */
	uint32_t first[FW_TUNE_MAX_PARAMS]; /* value to begin with; the values are a ring */
	uint32_t depth;
	uint64_t tests, max_tests;
};

enum step { FOUND, EXHAUSTED, OUT_OF_TESTS };

/* The next valid configuration. */
static enum step walk_on(struct walk *w)
{
	const struct fw_tune_space *space = w->space;

	for (;;) {
		const struct fw_tune_param *param = &space->params[w->depth];
		uint32_t i;

		if (w->next[w->depth] == param->n_values) {
			w->next[w->depth] = 0;
			if (w->depth-- == 0)
				return EXHAUSTED;
			continue;
		}
		if (w->tests++ == w->max_tests)
			return OUT_OF_TESTS;
		i = (w->first[w->depth] + w->next[w->depth]++) % param->n_values;
		w->config.value[w->depth] = (uint16_t)i;
		w->numbers[w->depth] = param->values[i].number;
		if (!allows(space, w->numbers, w->depth + 1))
			continue;
		if (w->depth + 1 == space->n_params)
			return FOUND;
		w->depth++;
	}
}

static fw_status no_valid(const struct fw_tune_space *space, struct fw_error *err)
{
	return fw_fail(err, FW_ERR_ARGUMENT,
		       "none of the %.0f combinations of the parameters satisfies the constraints",
		       space->cartesian);
}

/* Too many to list: at least one must be found. */
static fw_status seal_unlisted(struct fw_tune_space *space, struct fw_error *err)
{
	struct fw_tune_config config;
	struct fw_tune_rng rng;

	fw_tune_rng_seed(&rng, 0);
	if (!fw_tune_space_preset(space, &config) && !fw_tune_space_random(space, &rng, &config))
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "no combination that satisfies the constraints was found among "
			       "%.3g in a bounded time",
			       space->cartesian);
	return FW_OK;
}

static fw_status begin_seal(struct fw_tune_space *space, struct fw_error *err)
{
	if (space->is_sealed || !space->n_params)
		return fw_fail(err, FW_ERR_ARGUMENT, "the space has no parameters");
	space->is_sealed = true;
	space->cartesian = (double)count_keys(space);
	return FW_OK;
}

fw_status fw_tune_space_seal(struct fw_tune_space *space, struct fw_error *err)
{
	struct fw_vec keys = FW_VEC(uint64_t);
	struct walk w = { .space = space };
	enum step step = FOUND;
	fw_status status = begin_seal(space, err);

	if (status)
		return status;
	if (!allows(space, w.numbers, 0))
		return no_valid(space, err);
	w.max_tests = space->max_tests ? space->max_tests : DEFAULT_TESTS;
	while (keys.len <= FW_TUNE_MAX_LISTED && (step = walk_on(&w)) == FOUND) {
		uint64_t *key = fw_vec_push(&keys);

		if (!key) {
			fw_vec_release(&keys);
			return fw_fail_nomem(err, (keys.len + 1) * sizeof(*key));
		}
		*key = fw_tune_space_key(space, &w.config);
	}
	if (step != EXHAUSTED) {
		fw_vec_release(&keys);
		return seal_unlisted(space, err);
	}
	if (!keys.len)
		return no_valid(space, err);
	space->is_listed = true;
	space->n_valid = keys.len;
	space->keys = keys.data;
	return FW_OK;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

fw_status fw_tune_space_seal_keys(struct fw_tune_space *space, const uint64_t *keys, size_t n_keys,
				  struct fw_error *err)
{
	fw_status status = begin_seal(space, err);
	uint64_t *copy, count = count_keys(space), n = 0;

	if (status)
		return status;
	if (!n_keys)
		return no_valid(space, err);
	copy = n_keys <= SIZE_MAX / sizeof(*copy) ? malloc(n_keys * sizeof(*copy)) : NULL;
	if (!copy)
		return fw_fail_nomem(err, n_keys * sizeof(*copy));
	memcpy(copy, keys, n_keys * sizeof(*copy));
	qsort(copy, n_keys, sizeof(*copy), compare_keys);
	for (size_t i = 0; i < n_keys; i++)
		if (!n || copy[n - 1] != copy[i])
			copy[n++] = copy[i];
	space->is_listed = true;
	space->n_valid = n;
	space->keys = copy;
	if (copy[n - 1] >= count)
		return fw_fail(err, FW_ERR_ARGUMENT, "the space has no configuration %llu",
			       (unsigned long long)copy[n - 1]);
	return FW_OK;
}

void fw_tune_space_free(struct fw_tune_space *space)
{
	free((void *)space->keys);
	fw_arena_release(&space->arena);
	*space = (struct fw_tune_space){ 0 };
}

bool fw_tune_space_is_valid(const struct fw_tune_space *space, const struct fw_tune_config *config)
{
	int64_t numbers[FW_TUNE_MAX_PARAMS];
	uint64_t key;

	for (uint32_t i = 0; i < space->n_params; i++)
		if (config->value[i] >= space->params[i].n_values)
			return false;
	if (space->is_listed) {
		key = fw_tune_space_key(space, config);
		return bsearch(&key, space->keys, space->n_valid, sizeof(key), compare_keys);
	}
	fw_tune_space_numbers(space, config, numbers);
	for (uint32_t n = 0; n <= space->n_params; n++)
		if (!allows(space, numbers, n))
			return false;
	return true;
}

uint64_t fw_tune_space_key(const struct fw_tune_space *space, const struct fw_tune_config *config)
{
	uint64_t key = 0;

	for (uint32_t i = 0; i < space->n_params; i++)
		key = key * space->params[i].n_values + config->value[i];
	return key;
}

void fw_tune_space_config(const struct fw_tune_space *space, uint64_t key,
			  struct fw_tune_config *config)
{
	*config = (struct fw_tune_config){ 0 };
	for (uint32_t i = space->n_params; i-- > 0;) {
		config->value[i] = (uint16_t)(key % space->params[i].n_values);
		key /= space->params[i].n_values;
	}
}

bool fw_tune_space_preset(const struct fw_tune_space *space, struct fw_tune_config *config)
{
	*config = (struct fw_tune_config){ 0 };
	for (uint32_t i = 0; i < space->n_params; i++)
		config->value[i] = (uint16_t)space->params[i].preset;
	return fw_tune_space_is_valid(space, config);
}

static bool random_walk(const struct fw_tune_space *space, struct fw_tune_rng *rng,
			struct fw_tune_config *config)
{
	struct walk w = { .space = space, .max_tests = RANDOM_TESTS };

	if (!allows(space, w.numbers, 0))
		return false;
	for (uint32_t i = 0; i < space->n_params; i++)
		w.first[i] = (uint32_t)fw_tune_rng_below(rng, space->params[i].n_values);
	if (walk_on(&w) != FOUND)
		return false;
	*config = w.config;
	return true;
}

bool fw_tune_space_random(const struct fw_tune_space *space, struct fw_tune_rng *rng,
			  struct fw_tune_config *config)
{
	if (space->is_listed) {
		fw_tune_space_config(space, space->keys[fw_tune_rng_below(rng, space->n_valid)],
				     config);
		return true;
	}
	for (int i = 0; i < RANDOM_TRIES; i++) {
		*config = (struct fw_tune_config){ 0 };
		for (uint32_t p = 0; p < space->n_params; p++)
			config->value[p] =
				(uint16_t)fw_tune_rng_below(rng, space->params[p].n_values);
		if (fw_tune_space_is_valid(space, config))
			return true;
	}
	return random_walk(space, rng, config);
}

void fw_tune_space_numbers(const struct fw_tune_space *space, const struct fw_tune_config *config,
			   int64_t numbers[FW_TUNE_MAX_PARAMS])
{
	for (uint32_t i = 0; i < space->n_params; i++)
		numbers[i] = space->params[i].values[config->value[i]].number;
}
