/* A kernel's signature to a specification that tries every legal block size. */
#include "tune/simple.h"

#include "base/file.h"
#include "tune/signature.h"
#include "tune/source_code.h"
#include "tune/spec_item.h"

#include <inttypes.h>
#include <string.h>

#define MAX_THREADS 1024
#define WARP        32
#define USUAL       256 /* threads, of the default configuration */

/* A name that the source does not use, so that it can be put into the source later. */
static const char *pick_name(const char *code, const char *const candidates[3])
{
	for (int i = 0; i < 2; i++)
		if (!fw_tune_source_mentions(code, candidates[i]))
			return candidates[i];
	return candidates[2];
}

static void put_blocks(struct fw_str *out, const char *name, uint32_t bound)
{
	uint32_t most = bound && bound < MAX_THREADS ? bound : MAX_THREADS;

	if (most < WARP) {
		fw_str_printf(out, "// fullwarp: param %s = %" PRIu32 "\n", name, most);
		return;
	}
	most -= most % WARP;
	fw_str_printf(out, "// fullwarp: param %s = %d..%" PRIu32 " step %d default %" PRIu32 "\n",
		      name, WARP, most, WARP, most < USUAL ? most : USUAL);
}

static void put_argument(struct fw_str *out, const char *count,
			 const struct fw_tune_parameter *param)
{
	fw_str_printf(out, "// fullwarp: arg %s %s", param->name, fw_tune_type_name(param->type));
	if (!param->is_pointer) {
		bool is_real = param->type <= FW_TUNE_F64;

		fw_str_printf(out, " = %s\n", is_real ? "1.5" : param->is_bool ? "1" : count);
		return;
	}
	fw_str_printf(out, "[%s", count);
	if (param->lanes > 1)
		fw_str_printf(out, " * %" PRIu32, param->lanes);
	fw_str_printf(out, "] random%s%s\n", param->is_bool ? "(0, 1)" : "",
		      param->is_const ? "" : " inout");
}

/* The comment lines that say the same. */
static void put_lines(struct fw_str *out, const struct fw_tune_simple *source, const char *code,
		      const struct fw_tune_signature *signature)
{
	static const char *const blocks[] = { "BLOCK", "BLOCK_THREADS", "FULLWARP_BLOCK" };
	static const char *const counts[] = { "N", "COUNT", "FULLWARP_N" };
	const char *block = pick_name(code, blocks), *count = pick_name(code, counts);

	fw_str_printf(out,
		      "// fullwarp: kernel %s ; block = %s ; grid = ceil(%s / %s)\n"
		      "// fullwarp: set %s = %" PRId64 "\n",
		      source->kernel ? source->kernel : signature->name, block, count, block, count,
		      source->n);
	/* Sizes that blocks do not divide. */
	if (source->n > 1000)
		fw_str_printf(out, "// fullwarp: check %s = %" PRId64 " ; check %s = 1%s\n", count,
			      source->n / 2 + 7, count, source->n > 1003 ? "003" : "");
	put_blocks(out, block, signature->max_threads);
	for (uint32_t i = 0; i < signature->n_params; i++)
		put_argument(out, count, &signature->params[i]);
}

/* What the sizes make of the arguments is known to be possible. */
static fw_status check_arguments(const struct fw_tune_spec *spec, struct fw_error *err)
{
	struct fw_tune_config config;
	struct fw_tune_launch launch;
	uint64_t elements;
	int64_t value;
	fw_status status;

	fw_tune_space_preset(&spec->space, &config);
	status = fw_tune_spec_launch(spec, &config, NULL, &launch, err);
	for (uint32_t i = 0; !status && i < spec->n_args; i++) {
		if (!spec->args[i].is_scalar)
			status = fw_tune_spec_elements(spec, i, NULL, &elements, err);
		else if (spec->args[i].type > FW_TUNE_F64)
			status = fw_tune_spec_scalar(spec, i, NULL, NULL, &value, err);
	}
	return status;
}

static fw_status read_signature(struct fw_arena *arena, const struct fw_tune_simple *source,
				const char **code, struct fw_tune_signature *signature,
				struct fw_error *err)
{
	fw_status status;

	*code = fw_tune_source_code(arena, source->text, source->bytes, true);
	if (!*code)
		return fw_fail_nomem(err, source->bytes);
	status = fw_tune_signature_find(arena, *code, source->kernel, signature, err);
	if (!status && signature->is_template && !(source->kernel && strchr(source->kernel, '<')))
		status = fw_fail(err, FW_ERR_UNSUPPORTED,
				 "line %" PRIu32 ": %s is a template: name an instantiation, as in "
				 "'%s<float>'",
				 signature->line, signature->name, signature->name);
	if (status)
		fw_error_prefix(err, "%s", source->path);
	/* Directives may use a name, too. */
	if (!status)
		*code = fw_tune_source_code(arena, source->text, source->bytes, false);
	return status || *code ? status : fw_fail_nomem(err, source->bytes);
}

/* The spec of the lines gets the source in their place. */
static fw_status parse_lines(const struct fw_tune_simple *source, const struct fw_str *lines,
			     struct fw_tune_spec *spec, struct fw_error *err)
{
	fw_status status =
		fw_tune_spec_parse(source->path, fw_str_text(lines), lines->len, spec, err);

	if (!status)
		status = fw_tune_spec_take_source(source->path, source->text, source->bytes, spec,
						  err);
	if (!status)
		status = check_arguments(spec, err);
	return status;
}

fw_status fw_tune_spec_simple_parse(const struct fw_tune_simple *source, struct fw_tune_spec *spec,
				    struct fw_error *err)
{
	struct fw_tune_signature signature;
	struct fw_arena arena = { 0 };
	struct fw_str lines = { 0 };
	const char *code;
	fw_status status;

	*spec = (struct fw_tune_spec){ 0 };
	if (source->n < 1)
		return fw_fail(err, FW_ERR_ARGUMENT, "a count of %" PRId64 " is not possible",
			       source->n);
	if (source->kernel && strpbrk(source->kernel, ";\"\r\n"))
		return fw_fail(err, FW_ERR_ARGUMENT, "'%.100s' is no name of a kernel",
			       source->kernel);
	/* Refuses what is no source before anything else reads it. */
	status = fw_tune_spec_take_source(source->path, source->text, source->bytes, spec, err);
	fw_tune_spec_free(spec);
	if (!status)
		status = read_signature(&arena, source, &code, &signature, err);
	if (!status) {
		put_lines(&lines, source, code, &signature);
		status = lines.failed ? fw_fail_nomem(err, lines.len)
				      : parse_lines(source, &lines, spec, err);
	}
	if (status)
		fw_tune_spec_free(spec);
	fw_str_release(&lines);
	fw_arena_release(&arena);
	return status;
}

fw_status fw_tune_spec_simple(const char *path, const char *kernel, int64_t n,
			      struct fw_tune_spec *spec, struct fw_error *err)
{
	struct fw_tune_simple source = { .path = path, .kernel = kernel, .n = n };
	struct fw_file file;
	fw_status status = fw_file_open(&file, path, err);

	*spec = (struct fw_tune_spec){ 0 };
	if (status)
		return status;
	source.text = file.data ? (const char *)file.data : "";
	source.bytes = file.size;
	status = fw_tune_spec_simple_parse(&source, spec, err);
	fw_file_close(&file);
	return status;
}
