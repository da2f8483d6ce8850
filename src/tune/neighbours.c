#include "tune/neighbours.h"

#include <stdlib.h>

/* Asked at once, before the place is left for a better one: what keeps compilers busy, and little is wasted. */
#define BATCH 8

static bool push(struct fw_vec *keys, const struct fw_tune_search *search,
		 const struct fw_tune_config *config)
{
	uint64_t key, *at;

	if (!fw_tune_search_is_new(search, config, &key))
		return true;
	at = fw_vec_push(keys);
	if (at)
		*at = key;
	return at;
}

/* Random order of the keys from first on. */
static void shuffle(struct fw_vec *keys, size_t first, struct fw_tune_rng *rng)
{
	uint64_t *key = keys->data;

	for (size_t n = keys->len; n > first + 1; n--) {
		size_t other = first + fw_tune_rng_below(rng, n - first);
		uint64_t kept = key[n - 1];

		key[n - 1] = key[other];
		key[other] = kept;
	}
}

/* Those that differ in one parameter, by one step of its values or by more. */
static bool push_single(struct fw_vec *keys, const struct fw_tune_search *search,
			const struct fw_tune_config *from, bool is_step)
{
	const struct fw_tune_space *space = search->space;

	for (uint32_t p = 0; p < space->n_params; p++) {
		for (uint32_t v = 0; v < space->params[p].n_values; v++) {
			struct fw_tune_config config = *from;

			if (v == from->value[p] ||
			    (abs((int)v - (int)from->value[p]) == 1) != is_step)
				continue;
			config.value[p] = (uint16_t)v;
			if (!push(keys, search, &config))
				return false;
		}
	}
	return true;
}

/* Those that are a step away in two parameters: where a constraint couples them, nothing else may be valid. */
static bool push_pairs(struct fw_vec *keys, const struct fw_tune_search *search,
		       const struct fw_tune_config *from)
{
	const struct fw_tune_space *space = search->space;

	for (uint32_t p = 0; p < space->n_params; p++)
		for (uint32_t q = p + 1; q < space->n_params; q++)
			for (unsigned way = 0; way < 4; way++) {
				struct fw_tune_config config = *from;
				int vp = from->value[p] + (way & 1 ? 1 : -1);
				int vq = from->value[q] + (way & 2 ? 1 : -1);

				if (vp < 0 || vp >= (int)space->params[p].n_values || vq < 0 ||
				    vq >= (int)space->params[q].n_values)
					continue;
				config.value[p] = (uint16_t)vp;
				config.value[q] = (uint16_t)vq;
				if (!push(keys, search, &config))
					return false;
			}
	return true;
}

/* The list is read from its end: single steps first, then pairs of steps, then far values. */
static bool list(struct fw_tune_climb *climb, struct fw_tune_search *search)
{
	struct fw_tune_config from;
	size_t first = 0;

	fw_tune_space_config(search->space, climb->place, &from);
	climb->keys.len = 0;
	if (!push_pairs(&climb->keys, search, &from))
		return false;
	shuffle(&climb->keys, 0, &search->rng);
	first = climb->keys.len;
	if (!push_single(&climb->keys, search, &from, false))
		return false;
	shuffle(&climb->keys, first, &search->rng);
	first = climb->keys.len;
	if (!push_single(&climb->keys, search, &from, true))
		return false;
	shuffle(&climb->keys, first, &search->rng);
	return true;
}

bool fw_tune_climb_start(struct fw_tune_climb *climb, struct fw_tune_search *search,
			 const struct fw_tune_record *from)
{
	climb->keys.size = sizeof(uint64_t);
	climb->place = from->key;
	climb->seconds = from->seconds;
	climb->batch_first = search->records.len;
	climb->is_active = list(climb, search);
	return climb->is_active;
}

/* Moves to the fastest of the batch, if it is faster than the place. False: memory is out. */
static bool move(struct fw_tune_climb *climb, struct fw_tune_search *search)
{
	const struct fw_tune_record *records = search->records.data;
	bool has_moved = false;

	for (size_t i = climb->batch_first; i < search->records.len; i++) {
		if (records[i].seconds >= climb->seconds)
			continue;
		climb->place = records[i].key;
		climb->seconds = records[i].seconds;
		has_moved = true;
	}
	climb->batch_first = search->records.len;
	climb->batch = 0;
	return !has_moved || list(climb, search);
}

enum fw_tune_step fw_tune_climb_next(struct fw_tune_climb *climb, struct fw_tune_search *search,
				     uint64_t *key)
{
	const uint64_t *keys;

	if (climb->batch == BATCH || !climb->keys.len) {
		if (search->pending)
			return FW_TUNE_WAIT;
		if (!move(climb, search) || !climb->keys.len) {
			climb->is_active = false;
			return FW_TUNE_END;
		}
	}
	keys = climb->keys.data;
	*key = keys[--climb->keys.len];
	climb->batch++;
	return FW_TUNE_ASK;
}
