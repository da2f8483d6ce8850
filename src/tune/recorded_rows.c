#include "tune/recorded_rows.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fw_tune_rows_init(struct fw_tune_rows *rows)
{
	*rows = (struct fw_tune_rows){ .rows = FW_VEC(struct fw_tune_row) };
	for (uint32_t p = 0; p < FW_TUNE_MAX_PARAMS; p++)
		rows->params[p].texts = (struct fw_vec)FW_VEC(const char *);
}

void fw_tune_rows_release(struct fw_tune_rows *rows)
{
	for (uint32_t p = 0; p < FW_TUNE_MAX_PARAMS; p++) {
		fw_vec_release(&rows->params[p].texts);
		fw_map_release(&rows->params[p].ids);
	}
	fw_vec_release(&rows->rows);
	fw_arena_release(&rows->arena);
}

int fw_tune_rows_param(const struct fw_tune_rows *rows, const char *name)
{
	for (uint32_t p = 0; p < rows->n_params; p++)
		if (!strcmp(rows->params[p].name, name))
			return (int)p;
	return -1;
}

fw_status fw_tune_rows_add_param(struct fw_tune_rows *rows, const char *name, struct fw_error *err)
{
	if (rows->n_params == FW_TUNE_MAX_PARAMS)
		return fw_fail(err, FW_ERR_FORMAT, "more than %d parameters", FW_TUNE_MAX_PARAMS);
	if (fw_tune_rows_param(rows, name) >= 0)
		return fw_fail(err, FW_ERR_FORMAT, "the parameter '%.100s' is listed twice", name);
	name = fw_arena_strndup(&rows->arena, name, strlen(name));
	if (!name)
		return fw_fail_nomem(err, 1);
	rows->params[rows->n_params++].name = name;
	return FW_OK;
}

fw_status fw_tune_rows_set(struct fw_tune_rows *rows, struct fw_tune_row *row, uint32_t param,
			   const char *text, struct fw_error *err)
{
	struct fw_vec *texts = &rows->params[param].texts;
	uint64_t *id = fw_map_at(&rows->params[param].ids, fw_hash_bytes(text, strlen(text)),
				 strlen(text), NULL);
	const char **to;

	if (!id)
		return fw_fail_nomem(err, 1);
	if (!*id) {
		if (texts->len == FW_TUNE_MAX_VALUES)
			return fw_fail(err, FW_ERR_FORMAT,
				       "the parameter '%.100s' has more than %d values",
				       rows->params[param].name, FW_TUNE_MAX_VALUES);
		to = fw_vec_push(texts);
		if (!to)
			return fw_fail_nomem(err, 1);
		*to = fw_arena_strndup(&rows->arena, text, strlen(text));
		if (!*to)
			return fw_fail_nomem(err, 1);
		*id = texts->len;
	}
	row->value[param] = (uint16_t)(*id - 1);
	row->seen |= UINT32_C(1) << param;
	return FW_OK;
}

fw_status fw_tune_rows_push(struct fw_tune_rows *rows, const struct fw_tune_row *row,
			    struct fw_error *err)
{
	struct fw_tune_row *to;

	if (!rows->n_params || row->seen != (UINT32_C(1) << rows->n_params) - 1)
		return fw_fail(err, FW_ERR_FORMAT,
			       "a configuration does not have the same parameters as the others");
	if (rows->rows.len == FW_TUNE_MAX_LISTED)
		return fw_fail(err, FW_ERR_FORMAT, "more than %d configurations",
			       FW_TUNE_MAX_LISTED);
	to = fw_vec_push(&rows->rows);
	if (!to)
		return fw_fail_nomem(err, sizeof(*to));
	*to = *row;
	return FW_OK;
}

struct sortable {
	const char *text;
	double number;
	uint16_t id;
};

static int compare_values(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_default(const struct fw_tune_rows *rows, const char *name, const char *text)
{
	for (uint32_t i = 0; i + 1 < rows->n_defaults; i += 2)
		if (!strcmp(rows->defaults[i], name) && !strcmp(rows->defaults[i + 1], text))
			return true;
	return false;
}

/* Numbers by size, so that neighbours are near; words as they came. place: where the value of each id went. */
static fw_status add_param(struct fw_tune_rows *rows, uint32_t p, struct fw_tune_space *space,
			   uint16_t *place, struct fw_error *err)
{
	static const size_t most = FW_TUNE_MAX_VALUES;
	uint32_t n = (uint32_t)rows->params[p].texts.len;
	const char **texts = rows->params[p].texts.data;
	struct fw_tune_value *values = calloc(most, sizeof(*values));
	struct sortable *order = calloc(most, sizeof(*order));
	struct fw_tune_param param = { .name = rows->params[p].name,
				       .n_values = n,
				       .values = values };
	bool is_numeric = true;
	fw_status status;

	for (uint32_t v = 0; order && v < n; v++) {
		char *end;

		order[v] = (struct sortable){ texts[v], strtod(texts[v], &end), (uint16_t)v };
		is_numeric = is_numeric && *texts[v] && !*end && isfinite(order[v].number);
	}
	if (order && is_numeric)
		qsort(order, n, sizeof(*order), compare_values);
	for (uint32_t v = 0; order && values && v < n; v++) {
		place[order[v].id] = (uint16_t)v;
		values[v] = (struct fw_tune_value){ order[v].text, v };
		if (is_default(rows, param.name, order[v].text))
			param.preset = v;
	}
	status = order && values ? fw_tune_space_add(space, &param, err)
				 : fw_fail_nomem(err, most * sizeof(*order));
	free(order);
	free(values);
	return status;
}

/* The place of a key that is in the list. */
static size_t find_key(const struct fw_tune_space *space, uint64_t key)
{
	size_t low = 0, high = space->n_valid;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (space->keys[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Keys of the rows, in their order; values are renumbered by place. */
static void find_keys(const struct fw_tune_rows *rows, const struct fw_tune_space *space,
		      const uint16_t (*place)[FW_TUNE_MAX_VALUES], uint64_t *keys)
{
	const struct fw_tune_row *row = rows->rows.data;

	for (size_t i = 0; i < rows->rows.len; i++) {
		struct fw_tune_config config = { 0 };

		for (uint32_t p = 0; p < rows->n_params; p++)
			config.value[p] = place[p][row[i].value[p]];
		keys[i] = fw_tune_space_key(space, &config);
	}
}

static void set_seconds(const struct fw_tune_rows *rows, const uint64_t *keys,
			struct fw_tune_recorded *recorded)
{
	const struct fw_tune_row *row = rows->rows.data;

	for (size_t i = 0; i < rows->rows.len; i++)
		recorded->seconds[find_key(&recorded->space, keys[i])] = row[i].seconds;
	recorded->best_s = INFINITY;
	for (uint64_t i = 0; i < recorded->space.n_valid; i++) {
		if (recorded->seconds[i] > 0) {
			recorded->timed++;
			recorded->best_s = fmin(recorded->best_s, recorded->seconds[i]);
		} else {
			recorded->failed++;
		}
	}
}

fw_status fw_tune_rows_finish(struct fw_tune_rows *rows, struct fw_tune_recorded *recorded,
			      struct fw_error *err)
{
	uint16_t(*place)[FW_TUNE_MAX_VALUES] = calloc(FW_TUNE_MAX_PARAMS, sizeof(*place));
	uint64_t *keys = calloc(rows->rows.len + 1, sizeof(*keys));
	fw_status status = FW_OK;

	recorded->seconds = calloc(rows->rows.len + 1, sizeof(double));
	if (!place || !keys || !recorded->seconds)
		status = fw_fail_nomem(err, rows->rows.len * sizeof(*keys));
	for (uint32_t p = 0; !status && p < rows->n_params; p++)
		status = add_param(rows, p, &recorded->space, place[p], err);
	if (!status) {
		find_keys(rows, &recorded->space, (const uint16_t(*)[FW_TUNE_MAX_VALUES])place,
			  keys);
		status = fw_tune_space_seal_keys(&recorded->space, keys, rows->rows.len, err);
	}
	if (!status) {
		set_seconds(rows, keys, recorded);
		if (!recorded->timed)
			status = fw_fail(err, FW_ERR_UNSUPPORTED,
					 "none of its %llu configurations has a time",
					 (unsigned long long)recorded->failed);
	}
	free(keys);
	free(place);
	return status;
}
