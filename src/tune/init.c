/* A specification made up from a signature to comment lines for the source, with what else could be tried. */
#include "tune/simple.h"

#include "fullwarp/occupancy.h"
#include "tune/source_code.h"

#include <inttypes.h>
#include <string.h>

static void put_extents(struct fw_str *out, const char *word, const struct fw_tune_expr exprs[3])
{
	fw_str_printf(out, " ; %s = %s", word, exprs[0].text);
	for (int i = 1; i < 3 && exprs[i].text; i++)
		fw_str_printf(out, ", %s", exprs[i].text);
}

static void put_sizes(struct fw_str *out, const struct fw_tune_spec *spec)
{
	for (uint32_t i = 0; i < spec->n_sets; i++)
		fw_str_printf(out, "// fullwarp: set %s = %s\n", spec->sets[i].name,
			      spec->sets[i].expr.text);
	for (uint32_t row = 0; row < spec->n_check_sizes; row++) {
		for (uint32_t i = 0; i < spec->n_sets; i++)
			fw_str_printf(out, "%s%s = %" PRId64, i ? ", " : "// fullwarp: check ",
				      spec->sets[i].name,
				      spec->check_sizes[row * spec->n_sets + i]);
		fw_str_puts(out, "\n");
	}
}

static void put_params(struct fw_str *out, const struct fw_tune_space *space)
{
	for (uint32_t i = 0; i < space->n_params; i++) {
		const struct fw_tune_param *param = &space->params[i];

		fw_str_printf(out, "// fullwarp: param %s =", param->name);
		for (uint32_t v = 0; v < param->n_values; v++)
			fw_str_printf(out, " %s", param->values[v].text);
		fw_str_printf(out, " default %s\n", param->values[param->preset].text);
	}
}

static void put_args(struct fw_str *out, const struct fw_tune_spec *spec)
{
	for (uint32_t i = 0; i < spec->n_args; i++) {
		const struct fw_tune_arg *arg = &spec->args[i];

		fw_str_printf(out, "// fullwarp: arg %s %s", arg->name,
			      fw_tune_type_name(arg->type));
		for (uint32_t d = 0; d < arg->n_dims; d++)
			fw_str_printf(out, "[%s]", arg->dims[d].text);
		if (arg->is_scalar && arg->type <= FW_TUNE_F64)
			fw_str_printf(out, " = %g", arg->real);
		else if (arg->is_scalar)
			fw_str_printf(out, " = %s", arg->scalar.text);
		else
			fw_str_printf(out, " random(%g, %g)%s\n", arg->low, arg->high,
				      arg->is_inout ? " inout" : "");
		if (arg->is_scalar)
			fw_str_puts(out, "\n");
	}
}

static void put_compiled(struct fw_str *out, const struct fw_tune_result *compiled)
{
	const char *before = ", limited by ";

	if (!compiled || !compiled->has_attributes) {
		fw_str_puts(out, "// Not compiled: registers and shared memory are unknown.\n");
		return;
	}
	fw_str_printf(out,
		      "// Compiled as it is: %" PRIu32 " registers, %" PRIu32
		      " bytes of static shared memory, %" PRIu32
		      " bytes spilled, blocks of up to %" PRIu32 " threads",
		      compiled->registers, compiled->static_smem, compiled->spill_bytes,
		      compiled->max_threads);
	if (compiled->occupancy >= 0) {
		fw_str_printf(out, "; theoretical occupancy %.0f %%", compiled->occupancy * 100);
		for (uint32_t bit = 1; bit && bit <= compiled->limiters; bit <<= 1) {
			const char *name = compiled->limiters & bit ? fw_limiter_name(bit) : NULL;

			fw_str_printf(out, "%s%s", name ? before : "", name ? name : "");
			before = name ? ", " : before;
		}
	}
	fw_str_puts(out, "\n");
}

/* What a file's reader may add; none of it is read as it stands. */
static void put_ideas(struct fw_str *out, const struct fw_tune_spec *spec)
{
	uint32_t integers = 0;

	for (uint32_t i = 0; i < spec->n_args; i++)
		integers += spec->args[i].is_scalar && spec->args[i].type > FW_TUNE_F64;
	if (integers > 1)
		fw_str_printf(
			out,
			"// %s stands for %" PRIu32
			" integers here: give each its own set, and the buffers their extents, "
			"[H][W].\n",
			spec->sets[0].name, integers);
	fw_str_puts(out,
		    "// A buffer that is written only is an output: 'output' in place of 'inout'. "
		    "Tolerances: rel 1e-4 abs 1e-6.\n"
		    "// Other parameters are macros of the source: tile sizes, unrolling. As they "
		    "are, these could be tried as well:\n"
		    "//   param maxrregcount = 0 32 64 128\n"
		    "//   param carveout = -1 0 50 100\n");
	fw_str_puts(out, fw_tune_source_mentions(spec->source, "FULLWARP_BOUNDS")
				 ? "//   param launch_bounds = 0 1 2 4\n"
				 : "//   param launch_bounds = 0 1 2 4, with __global__ void "
				   "FULLWARP_BOUNDS in the source\n");
}

fw_status fw_tune_init_write(const struct fw_tune_spec *spec, const struct fw_tune_result *compiled,
			     struct fw_str *out, struct fw_error *err)
{
	fw_str_printf(out, "// fullwarp: kernel %s", spec->kernel);
	put_extents(out, "block", spec->block);
	put_extents(out, "grid", spec->grid);
	fw_str_puts(out, "\n");
	put_sizes(out, spec);
	put_params(out, &spec->space);
	put_args(out, spec);
	put_compiled(out, compiled);
	put_ideas(out, spec);
	return out->failed ? fw_fail_nomem(err, out->len) : FW_OK;
}
