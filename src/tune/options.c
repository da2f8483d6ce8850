/* A configuration to compiler options and a name expression. */
#include "tune/options.h"

#include "base/str.h"
#include "tune/spec_item.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What options are made for. */
struct request {
	const struct fw_tune_spec *spec;
	const struct fw_tune_config *config;
	const int64_t *sizes;
};

static fw_status add(struct fw_tune_options *options, const char *text, struct fw_error *err)
{
	if (!text)
		return fw_fail_nomem(err, 64);
	if (options->n == FW_TUNE_MAX_OPTIONS)
		return fw_fail(err, FW_ERR_ARGUMENT, "more than %d compiler options",
			       FW_TUNE_MAX_OPTIONS);
	options->items[options->n++] = text;
	return FW_OK;
}

static fw_status add_flags(struct fw_tune_options *options, const char *text, struct fw_error *err)
{
	struct fw_vec list = FW_VEC(const char *);
	fw_status status = fw_tune_split_flags(&options->arena, text, strlen(text), &list, err);
	const char *const *flags = list.data;

	for (size_t i = 0; !status && i < list.len; i++)
		status = add(options, flags[i], err);
	fw_vec_release(&list);
	return status;
}

/* Threads of the block, for launch bounds. */
static fw_status add_bounds(struct fw_tune_options *options, const struct request *r,
			    struct fw_error *err)
{
	const struct fw_tune_spec *spec = r->spec;
	struct fw_tune_launch launch;
	int64_t numbers[FW_TUNE_MAX_PARAMS], blocks = 0;
	fw_status status;

	fw_tune_space_numbers(&spec->space, r->config, numbers);
	for (uint32_t i = 0; i < spec->space.n_params; i++)
		if (spec->space.params[i].kind == FW_TUNE_BOUNDS)
			blocks = numbers[i];
	if (!blocks)
		return add(options, "-DFULLWARP_BOUNDS=", err);
	status = fw_tune_spec_launch(spec, r->config, r->sizes, &launch, err);
	if (status)
		return status;
	return add(options,
		   fw_arena_printf(&options->arena,
				   "-DFULLWARP_BOUNDS=__launch_bounds__(%u, %" PRId64 ")",
				   launch.block[0] * launch.block[1] * launch.block[2], blocks),
		   err);
}

static fw_status add_param(struct fw_tune_options *options, const struct fw_tune_param *param,
			   const struct fw_tune_value *value, struct fw_error *err)
{
	switch (param->kind) {
	case FW_TUNE_MACRO:
		return add(options,
			   fw_arena_printf(&options->arena, "-D%s=%s", param->name, value->text),
			   err);
	case FW_TUNE_MAXRREGCOUNT:
		if (!value->number)
			return FW_OK;
		return add(options,
			   fw_arena_printf(&options->arena, "--maxrregcount=%s", value->text), err);
	case FW_TUNE_FLAGS: return add_flags(options, value->text, err);
	default: return FW_OK; /* of the launch only */
	}
}

static bool is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* Puts the value of the parameter or set of that name; false: there is none. */
static bool put_value(struct fw_str *out, const struct request *r, const char *name, size_t len)
{
	const struct fw_tune_spec *spec = r->spec;

	for (uint32_t i = 0; i < spec->space.n_params; i++) {
		const struct fw_tune_param *param = &spec->space.params[i];

		if (strlen(param->name) == len && !memcmp(param->name, name, len)) {
			fw_str_puts(out, param->values[r->config->value[i]].text);
			return true;
		}
	}
	for (uint32_t i = 0; i < spec->n_sets; i++) {
		if (strlen(spec->sets[i].name) == len && !memcmp(spec->sets[i].name, name, len)) {
			fw_str_printf(out, "%" PRId64,
				      r->sizes ? r->sizes[i] : spec->sets[i].number);
			return true;
		}
	}
	return false;
}

/* Only template arguments are replaced, never the kernel's own name. */
static const char *name_expression(struct fw_arena *arena, const struct request *r,
				   const char *kernel)
{
	const char *p = kernel + strcspn(kernel, "<"), *name;
	struct fw_str out = { 0 };

	fw_str_append(&out, kernel, (size_t)(p - kernel));
	for (size_t len; *p; p += len) {
		for (len = 0; is_word(p[len]);)
			len++;
		if (len && put_value(&out, r, p, len))
			continue;
		len += !len;
		fw_str_append(&out, p, len);
	}
	name = out.failed ? NULL : fw_arena_strndup(arena, fw_str_text(&out), out.len);
	fw_str_release(&out);
	return name;
}

static fw_status make_names(struct fw_tune_options *options, const struct request *r,
			    struct fw_error *err)
{
	const char *reference = r->spec->reference;

	options->kernel = name_expression(&options->arena, r, r->spec->kernel);
	if (reference)
		options->reference = name_expression(&options->arena, r, reference);
	if (!options->kernel || (reference && !options->reference))
		return fw_fail_nomem(err, strlen(r->spec->kernel));
	return FW_OK;
}

fw_status fw_tune_options_make(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			       const int64_t *sizes, struct fw_tune_options *options,
			       struct fw_error *err)
{
	struct request r = { spec, config, sizes };
	fw_status status = FW_OK;

	memset(options, 0, sizeof(*options));
	for (uint32_t i = 0; !status && i < spec->n_flags; i++)
		status = add(options, spec->flags[i], err);
	for (uint32_t i = 0; !status && i < spec->n_sets; i++)
		if (spec->sets[i].is_macro)
			status = add(options,
				     fw_arena_printf(&options->arena, "-D%s=%" PRId64,
						     spec->sets[i].name,
						     sizes ? sizes[i] : spec->sets[i].number),
				     err);
	for (uint32_t i = 0; !status && i < spec->space.n_params; i++) {
		const struct fw_tune_param *param = &spec->space.params[i];

		status = add_param(options, param, &param->values[config->value[i]], err);
	}
	if (!status)
		status = add_bounds(options, &r, err);
	return status ? status : make_names(options, &r, err);
}

void fw_tune_options_release(struct fw_tune_options *options)
{
	fw_arena_release(&options->arena);
	memset(options, 0, sizeof(*options));
}
