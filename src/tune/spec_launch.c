/* What a configuration and problem sizes make of a specification's expressions. */
#include "tune/spec.h"

#include <inttypes.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)1 << 40)

/* Limits of a launch on every GPU so far (CUDA's programming guide, technical specifications). */
static const int64_t max_grid[3] = { INT32_MAX, 65535, 65535 };
static const int64_t max_block[3] = { 1024, 1024, 64 };
#define MAX_THREADS 1024

#define MAX_VARIABLES (FW_TUNE_MAX_PARAMS + FW_TUNE_MAX_SETS)

/* config NULL: for expressions that read sets only. */
static void set_variables(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			  const int64_t *sizes, int64_t variables[MAX_VARIABLES])
{
	memset(variables, 0, MAX_VARIABLES * sizeof(*variables));
	if (config)
		fw_tune_space_numbers(&spec->space, config, variables);
	for (uint32_t i = 0; i < spec->n_sets; i++)
		variables[spec->space.n_params + i] = sizes ? sizes[i] : spec->sets[i].number;
}

static fw_status evaluate(const struct fw_tune_expr *expr, const int64_t *variables, int64_t *value,
			  struct fw_error *err)
{
	if (fw_tune_expr_eval(expr, variables, value))
		return FW_OK;
	return fw_fail(err, FW_ERR_ARGUMENT, "%.200s: overflow or division by zero", expr->text);
}

static fw_status extents(const struct fw_tune_expr exprs[3], const int64_t *variables,
			 const int64_t most[3], uint32_t out[3], struct fw_error *err)
{
	for (int i = 0; i < 3; i++) {
		int64_t value = 1;
		fw_status status =
			exprs[i].text ? evaluate(&exprs[i], variables, &value, err) : FW_OK;

		if (status)
			return status;
		if (value < 1 || value > most[i])
			return fw_fail(err, FW_ERR_ARGUMENT,
				       "%.200s is %" PRId64 ": 1 to %" PRId64 " are possible",
				       exprs[i].text, value, most[i]);
		out[i] = (uint32_t)value;
	}
	return FW_OK;
}

static fw_status grid_and_block(const struct fw_tune_expr grid[3],
				const struct fw_tune_expr block[3], const int64_t *variables,
				struct fw_tune_launch *launch, struct fw_error *err)
{
	fw_status status = extents(grid, variables, max_grid, launch->grid, err);
	uint64_t threads;

	if (!status)
		status = extents(block, variables, max_block, launch->block, err);
	if (status)
		return status;
	threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	if (threads > MAX_THREADS)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "a block of %" PRIu64 " threads: at most %d are possible", threads,
			       MAX_THREADS);
	return FW_OK;
}

/* What the built-in parameters say of the launch. */
static void read_builtins(const struct fw_tune_space *space, const int64_t *numbers,
			  struct fw_tune_launch *launch)
{
	for (uint32_t i = 0; i < space->n_params; i++) {
		if (space->params[i].kind == FW_TUNE_CARVEOUT)
			launch->carveout = (int)numbers[i];
		if (space->params[i].kind == FW_TUNE_CLUSTER)
			launch->cluster = (uint32_t)numbers[i];
	}
}

fw_status fw_tune_spec_launch(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			      const int64_t *sizes, struct fw_tune_launch *launch,
			      struct fw_error *err)
{
	struct fw_tune_launch made = { .cluster = 1, .carveout = -1 };
	int64_t variables[MAX_VARIABLES], smem = 0;
	fw_status status;

	set_variables(spec, config, sizes, variables);
	status = grid_and_block(spec->grid, spec->block, variables, &made, err);
	if (!status && spec->dynamic_smem.text)
		status = evaluate(&spec->dynamic_smem, variables, &smem, err);
	if (status)
		return status;
	if (smem < 0 || smem > INT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%" PRId64 " bytes of dynamic shared memory are not possible", smem);
	made.dynamic_smem = (uint32_t)smem;
	read_builtins(&spec->space, variables, &made);
	if (made.grid[0] % made.cluster)
		return fw_fail(err, FW_ERR_ARGUMENT, "a grid of %u blocks is no multiple of %u",
			       made.grid[0], made.cluster);
	*launch = made;
	return FW_OK;
}

fw_status fw_tune_spec_reference_launch(const struct fw_tune_spec *spec,
					const struct fw_tune_config *config, const int64_t *sizes,
					struct fw_tune_launch *launch, struct fw_error *err)
{
	struct fw_tune_launch made = { .cluster = 1, .carveout = -1 };
	int64_t variables[MAX_VARIABLES];
	fw_status status;

	if (!spec->reference)
		return fw_fail(err, FW_ERR_ARGUMENT, "the specification has no reference kernel");
	set_variables(spec, config, sizes, variables);
	status = grid_and_block(spec->reference_grid, spec->reference_block, variables, &made, err);
	if (!status)
		*launch = made;
	return status;
}

fw_status fw_tune_spec_scalar(const struct fw_tune_spec *spec, uint32_t arg,
			      const struct fw_tune_config *config, const int64_t *sizes,
			      int64_t *value, struct fw_error *err)
{
	const struct fw_tune_arg *a = &spec->args[arg];
	unsigned bits = 8 * fw_tune_type_bytes(a->type);
	bool is_unsigned = a->type == FW_TUNE_U8 || a->type == FW_TUNE_U16 ||
			   a->type == FW_TUNE_U32 || a->type == FW_TUNE_U64;
	int64_t variables[MAX_VARIABLES], low, high, made;
	fw_status status;

	if (!a->is_scalar || a->type <= FW_TUNE_F64)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s is not an integer scalar", a->name);
	set_variables(spec, config, sizes, variables);
	status = evaluate(&a->scalar, variables, &made, err);
	if (status)
		return status;
	/* Expressions have 63 bits, so that the upper half of u64 cannot be written. */
	high = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - !is_unsigned)) - 1;
	low = is_unsigned ? 0 : -high - 1;
	if (made < low || made > high)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s is %" PRId64 ", which %s cannot hold",
			       a->name, made, fw_tune_type_name(a->type));
	*value = made;
	return FW_OK;
}

fw_status fw_tune_spec_elements(const struct fw_tune_spec *spec, uint32_t arg, const int64_t *sizes,
				uint64_t *elements, struct fw_error *err)
{
	const struct fw_tune_arg *a = &spec->args[arg];
	uint64_t most = MAX_BYTES / fw_tune_type_bytes(a->type), made = 1;
	int64_t variables[MAX_VARIABLES];

	if (a->is_scalar)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s is not a buffer", a->name);
	set_variables(spec, NULL, sizes, variables);
	for (uint32_t i = 0; i < a->n_dims; i++) {
		int64_t extent;
		fw_status status = evaluate(&a->dims[i], variables, &extent, err);

		if (status)
			return status;
		if (extent < 1)
			return fw_fail(err, FW_ERR_ARGUMENT, "%s: the extent %.200s is %" PRId64,
				       a->name, a->dims[i].text, extent);
		if ((uint64_t)extent > most / made)
			return fw_fail(err, FW_ERR_ARGUMENT, "%s is larger than 2^40 bytes",
				       a->name);
		made *= (uint64_t)extent;
	}
	*elements = made;
	return FW_OK;
}
