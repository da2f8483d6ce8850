/* Constraints of a specification: each is asked as soon as the parameters that it reads are known. */
#include "tune/spec_item.h"

#include <string.h>

/* Limits of a block on every GPU so far (CUDA's programming guide, technical specifications). */
#define MAX_THREADS 1024
#define MAX_DEPTH   64 /* of a block along z */

struct constraints {
	uint32_t n, n_params;
	/* In order of how many parameters must be known; those for b stand from start[b] to before start[b + 1]. */
	struct fw_tune_expr *exprs;
	uint32_t start[FW_TUNE_MAX_PARAMS + 2];
	struct fw_tune_expr block[3];
	uint32_t block_bound;
	uint32_t n_sets;
	int64_t sizes[FW_TUNE_MAX_SETS];
};

static bool is_block_possible(const struct constraints *c, const int64_t *variables)
{
	int64_t threads = 1;

	for (int i = 0; i < 3; i++) {
		int64_t extent = 1;

		if (c->block[i].text && !fw_tune_expr_eval(&c->block[i], variables, &extent))
			return false;
		if (extent < 1 || extent > (i == 2 ? MAX_DEPTH : MAX_THREADS))
			return false;
		threads *= extent;
	}
	return threads <= MAX_THREADS;
}

static bool allows(const void *user, const int64_t *numbers, uint32_t n_bound)
{
	const struct constraints *c = user;
	int64_t variables[FW_TUNE_MAX_PARAMS + FW_TUNE_MAX_SETS], value;

	if (c->start[n_bound] == c->start[n_bound + 1] && c->block_bound != n_bound)
		return true;
	memcpy(variables, numbers, n_bound * sizeof(*numbers));
	memcpy(variables + c->n_params, c->sizes, c->n_sets * sizeof(*c->sizes));
	for (uint32_t i = c->start[n_bound]; i < c->start[n_bound + 1]; i++)
		if (!fw_tune_expr_eval(&c->exprs[i], variables, &value) || !value)
			return false;
	return c->block_bound != n_bound || is_block_possible(c, variables);
}

/* A counting sort by the number of parameters that must be known. */
static void sort(struct constraints *c, const struct fw_tune_expr *exprs)
{
	uint32_t n = 0;

	for (uint32_t bound = 0; bound <= c->n_params; bound++) {
		c->start[bound] = n;
		for (uint32_t i = 0; i < c->n; i++)
			if (fw_tune_expr_bound(&exprs[i], c->n_params) == bound)
				c->exprs[n++] = exprs[i];
	}
	c->start[c->n_params + 1] = n;
}

fw_status fw_tune_constrain(struct fw_tune_spec *spec, const struct fw_vec *wheres,
			    struct fw_error *err)
{
	struct constraints *c = fw_arena_alloc(&spec->arena, sizeof(*c));

	if (c)
		c->exprs = fw_arena_array(&spec->arena, wheres->len, sizeof(*c->exprs));
	if (!c || !c->exprs)
		return fw_fail_nomem(err, sizeof(*c) + wheres->len * sizeof(*c->exprs));
	c->n = (uint32_t)wheres->len;
	c->n_params = spec->space.n_params;
	sort(c, wheres->data);
	for (int i = 0; i < 3; i++) {
		uint32_t bound = fw_tune_expr_bound(&spec->block[i], c->n_params);

		c->block[i] = spec->block[i];
		c->block_bound = bound > c->block_bound ? bound : c->block_bound;
	}
	c->n_sets = spec->n_sets;
	for (uint32_t i = 0; i < spec->n_sets; i++)
		c->sizes[i] = spec->sets[i].number;
	spec->space.allows = allows;
	spec->space.constraints = c;
	return FW_OK;
}
