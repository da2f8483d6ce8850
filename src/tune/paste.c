#include "tune/paste.h"

#include "base/error.h"
#include "tune/options.h"

#include <inttypes.h>
#include <string.h>

/* More dynamic and static shared memory than this must be asked for. */
#define SMEM_WITHOUT_ASKING (48u << 10)

const char *fw_tune_plain_name(const char *kernel, size_t *len)
{
	const char *end = strchr(kernel, '<');
	const char *start;

	if (!end)
		end = kernel + strlen(kernel);
	for (start = end; start > kernel && start[-1] != ':'; start--)
		;
	while (end > start && end[-1] == ' ')
		end--;
	*len = (size_t)(end - start);
	return start;
}

static const struct fw_tune_value *value_of(const struct fw_tune_spec *spec,
					    const struct fw_tune_result *r, uint32_t p)
{
	return &spec->space.params[p].values[r->config.value[p]];
}

/* The number of a built-in parameter; fallback where the space does not have it. */
static int64_t built_in(const struct fw_tune_spec *spec, const struct fw_tune_result *r,
			enum fw_tune_param_kind kind, int64_t fallback)
{
	for (uint32_t p = 0; p < spec->space.n_params; p++)
		if (spec->space.params[p].kind == kind)
			return value_of(spec, r, p)->number;
	return fallback;
}

static void put_macros(const struct fw_tune_spec *spec, const struct fw_tune_result *r,
		       struct fw_str *out)
{
	for (uint32_t p = 0; p < spec->space.n_params; p++)
		if (spec->space.params[p].kind == FW_TUNE_MACRO)
			fw_str_printf(out, "#define %s %s\n", spec->space.params[p].name,
				      value_of(spec, r, p)->text);
}

static void put_bounds(const struct fw_tune_spec *spec, const struct fw_tune_result *r,
		       const struct fw_tune_launch *launch, struct fw_str *out)
{
	int64_t blocks = built_in(spec, r, FW_TUNE_BOUNDS, 0);
	size_t len;
	const char *name = fw_tune_plain_name(spec->kernel, &len);

	fw_str_printf(out, "__global__ void __launch_bounds__(%" PRIu64,
		      (uint64_t)launch->block[0] * launch->block[1] * launch->block[2]);
	if (blocks > 0)
		fw_str_printf(out, ", %" PRId64, blocks);
	fw_str_printf(out, ") %.*s(...)\n", (int)len, name);
}

static void put_flags(const struct fw_tune_spec *spec, const struct fw_tune_result *r,
		      struct fw_str *out)
{
	int64_t registers = built_in(spec, r, FW_TUNE_MAXRREGCOUNT, 0);
	bool has_any = registers > 0;

	if (has_any)
		fw_str_printf(out, "// nvcc -maxrregcount=%" PRId64, registers);
	for (uint32_t p = 0; p < spec->space.n_params; p++) {
		const char *text = value_of(spec, r, p)->text;

		if (spec->space.params[p].kind != FW_TUNE_FLAGS || !*text)
			continue;
		fw_str_printf(out, "%s %s", has_any ? "" : "// nvcc", text);
		has_any = true;
	}
	if (has_any)
		fw_str_putc(out, '\n');
}

static void put_attributes(const struct fw_tune_launch *launch, const struct fw_tune_result *r,
			   const char *kernel, struct fw_str *out)
{
	if (launch->carveout >= 0)
		fw_str_printf(out,
			      "cudaFuncSetAttribute(%s, "
			      "cudaFuncAttributePreferredSharedMemoryCarveout, %d);\n",
			      kernel, launch->carveout);
	if ((uint64_t)launch->dynamic_smem + r->static_smem > SMEM_WITHOUT_ASKING)
		fw_str_printf(out,
			      "cudaFuncSetAttribute(%s, "
			      "cudaFuncAttributeMaxDynamicSharedMemorySize, %" PRIu32 ");\n",
			      kernel, launch->dynamic_smem);
	if (launch->cluster > 8)
		fw_str_printf(out,
			      "cudaFuncSetAttribute(%s, "
			      "cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n",
			      kernel);
}

static void put_dims(struct fw_str *out, const char *name, const uint32_t dims[3])
{
	fw_str_printf(out, "dim3 %s(%" PRIu32, name, dims[0]);
	if (dims[1] != 1 || dims[2] != 1)
		fw_str_printf(out, ", %" PRIu32, dims[1]);
	if (dims[2] != 1)
		fw_str_printf(out, ", %" PRIu32, dims[2]);
	fw_str_puts(out, ");");
}

/* Numbers for the size that was tuned, and behind them what they come from. */
static void put_launch(const struct fw_tune_spec *spec, const struct fw_tune_launch *launch,
		       const char *kernel, struct fw_str *out)
{
	put_dims(out, "block", launch->block);
	fw_str_putc(out, '\n');
	put_dims(out, "grid", launch->grid);
	if (spec->grid[0].text)
		fw_str_printf(out, " // %s", spec->grid[0].text);
	for (int i = 1; i < 3 && spec->grid[i].text; i++)
		fw_str_printf(out, ", %s", spec->grid[i].text);
	fw_str_putc(out, '\n');
	if (launch->cluster > 1) {
		fw_str_printf(out,
			      "// clusters of %" PRIu32 " blocks: __cluster_dims__(%" PRIu32
			      ", 1, 1) before the kernel's name\n",
			      launch->cluster, launch->cluster);
	}
	fw_str_printf(out, "%s<<<grid, block", kernel);
	if (launch->dynamic_smem)
		fw_str_printf(out, ", %" PRIu32, launch->dynamic_smem);
	fw_str_puts(out, ">>>(...);\n");
}

fw_status fw_tune_paste(const struct fw_tune_spec *spec, const struct fw_tune_result *result,
			struct fw_str *out, struct fw_error *err)
{
	struct fw_tune_options options = { 0 };
	struct fw_tune_launch launch;
	fw_status status = fw_tune_spec_launch(spec, &result->config, NULL, &launch, err);

	if (!status)
		status = fw_tune_options_make(spec, &result->config, NULL, &options, err);
	if (!status) {
		put_macros(spec, result, out);
		put_flags(spec, result, out);
		put_bounds(spec, result, &launch, out);
		put_attributes(&launch, result, options.kernel, out);
		put_launch(spec, &launch, options.kernel, out);
		if (out->failed)
			status = fw_fail_nomem(err, out->len);
	}
	fw_tune_options_release(&options);
	return status;
}
