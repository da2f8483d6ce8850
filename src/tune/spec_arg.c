/* arg items of a specification: what the kernel is called with. */
#include "tune/spec_item.h"

#include <string.h>

static const struct type {
	const char *name;
	uint32_t bytes;
	/* Tolerances that rounding in another order stays under, for sums of some thousand terms. */
	double rel, abs;
} types[] = {
	[FW_TUNE_F16] = { "f16", 2, 1e-2, 1e-3 }, [FW_TUNE_BF16] = { "bf16", 2, 5e-2, 1e-2 },
	[FW_TUNE_F32] = { "f32", 4, 1e-4, 1e-6 }, [FW_TUNE_F64] = { "f64", 8, 1e-10, 1e-12 },
	[FW_TUNE_I8] = { "i8", 1, 0, 0 },         [FW_TUNE_U8] = { "u8", 1, 0, 0 },
	[FW_TUNE_I16] = { "i16", 2, 0, 0 },       [FW_TUNE_U16] = { "u16", 2, 0, 0 },
	[FW_TUNE_I32] = { "i32", 4, 0, 0 },       [FW_TUNE_U32] = { "u32", 4, 0, 0 },
	[FW_TUNE_I64] = { "i64", 8, 0, 0 },       [FW_TUNE_U64] = { "u64", 8, 0, 0 },
};

#define N_TYPES (sizeof(types) / sizeof(*types))

uint32_t fw_tune_type_bytes(enum fw_tune_type type)
{
	return types[type].bytes;
}

const char *fw_tune_type_name(enum fw_tune_type type)
{
	return types[type].name;
}

void fw_tune_arg_defaults(struct fw_tune_arg *arg, enum fw_tune_type type)
{
	bool is_real = type <= FW_TUNE_F64;

	arg->type = type;
	arg->rel = types[type].rel;
	arg->abs = types[type].abs;
	arg->low = 0;
	arg->high = is_real ? 1 : 100;
	arg->fill = FW_TUNE_RANDOM;
}

static fw_status read_type(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	for (uint32_t i = 0; i < N_TYPES; i++) {
		if (fw_tune_cursor_accept_word(c, types[i].name)) {
			fw_tune_arg_defaults(arg, (enum fw_tune_type)i);
			return FW_OK;
		}
	}
	return fw_tune_cursor_fail(c, "a type is missing: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 "
				      "i64 u64");
}

static fw_status read_dims(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	while (fw_tune_cursor_accept(c, "[")) {
		const char *text = c->item->text + c->at;
		const char *end = memchr(text, ']', fw_tune_cursor_left(c));
		fw_status status;

		if (!end)
			return fw_tune_cursor_fail(c, "']' is missing");
		if (arg->n_dims == FW_TUNE_MAX_DIMS)
			return fw_tune_cursor_fail(c, "more than %d extents", FW_TUNE_MAX_DIMS);
		status = fw_tune_cursor_expr(c, (size_t)(end - text), &arg->dims[arg->n_dims]);
		if (!status)
			status = fw_tune_cursor_only_sets(c, &arg->dims[arg->n_dims]);
		if (status)
			return status;
		arg->n_dims++;
		c->at++; /* the bracket */
	}
	return FW_OK;
}

static fw_status read_scalar(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	arg->is_scalar = true;
	if (arg->type <= FW_TUNE_F64)
		return fw_tune_cursor_real(c, &arg->real);
	return fw_tune_cursor_expr(c, fw_tune_cursor_left(c), &arg->scalar);
}

/* random, or random(LOW, HIGH). */
static fw_status read_random(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	fw_status status;

	arg->fill = FW_TUNE_RANDOM;
	if (!fw_tune_cursor_accept(c, "("))
		return FW_OK;
	status = fw_tune_cursor_real(c, &arg->low);
	if (!status)
		status = fw_tune_cursor_expect(c, ",");
	if (!status)
		status = fw_tune_cursor_real(c, &arg->high);
	if (!status)
		status = fw_tune_cursor_expect(c, ")");
	if (!status && !(arg->low <= arg->high))
		status = fw_tune_cursor_fail(c, "the range of random values ends before it begins");
	return status;
}

/* Of a file: beside the source, unless the path says otherwise. */
static fw_status read_file(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	struct fw_tune_spec *spec = c->reader->spec;
	const char *slash = strrchr(spec->source_path, '/'), *path;
	fw_status status = fw_tune_cursor_quoted(c, &path);

	if (status)
		return status;
	if (!*path)
		return fw_tune_cursor_fail(c, "the path is empty");
	arg->fill = FW_TUNE_FILE;
	arg->path = path;
	if (*path != '/' && slash)
		arg->path =
			fw_arena_printf(&spec->arena, "%.*s/%s", (int)(slash - spec->source_path),
					spec->source_path, path);
	return arg->path ? FW_OK : fw_fail_nomem(c->reader->err, strlen(path));
}

static fw_status read_tolerance(struct fw_tune_cursor *c, double *tolerance)
{
	fw_status status = fw_tune_cursor_real(c, tolerance);

	if (!status && *tolerance < 0)
		status = fw_tune_cursor_fail(c, "a tolerance is not negative");
	return status;
}

/* One word of how a buffer is filled and checked; *fills counts the ways of filling. */
static fw_status read_property(struct fw_tune_cursor *c, struct fw_tune_arg *arg, int *fills)
{
	static const struct {
		const char *word;
		enum fw_tune_fill fill;
	} plain[] = { { "zero", FW_TUNE_ZERO },
		      { "ones", FW_TUNE_ONES },
		      { "sequence", FW_TUNE_SEQUENCE } };

	if (fw_tune_cursor_accept_word(c, "output"))
		return arg->is_output = true, FW_OK;
	if (fw_tune_cursor_accept_word(c, "inout"))
		return arg->is_output = arg->is_inout = true, FW_OK;
	if (fw_tune_cursor_accept_word(c, "rel"))
		return read_tolerance(c, &arg->rel);
	if (fw_tune_cursor_accept_word(c, "abs"))
		return read_tolerance(c, &arg->abs);
	++*fills;
	if (fw_tune_cursor_accept_word(c, "random"))
		return read_random(c, arg);
	if (fw_tune_cursor_accept_word(c, "file"))
		return read_file(c, arg);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		if (fw_tune_cursor_accept_word(c, plain[i].word))
			return arg->fill = plain[i].fill, FW_OK;
	}
	return fw_tune_cursor_fail(c, "not one of random zero ones sequence file output inout rel "
				      "abs");
}

static fw_status read_buffer(struct fw_tune_cursor *c, struct fw_tune_arg *arg)
{
	int fills = 0;
	fw_status status = read_dims(c, arg);

	if (!status && !arg->n_dims)
		return fw_tune_cursor_fail(c, "a buffer needs its extent, a scalar its value: "
					      "f32[N] or f32 = 1");
	while (!status && fw_tune_cursor_peek(c))
		status = read_property(c, arg, &fills);
	if (!status && fills > 1)
		return fw_tune_cursor_fail(c, "the buffer is filled in two ways");
	/* An output is poisoned before each check: what it held does not matter. */
	if (!status && !fills && arg->is_output && !arg->is_inout)
		arg->fill = FW_TUNE_ZERO;
	return status;
}

fw_status fw_tune_read_arg(struct fw_tune_cursor *c)
{
	struct fw_tune_spec *spec = c->reader->spec;
	struct fw_tune_arg *arg = &spec->args[spec->n_args];
	size_t start;
	fw_status status;

	if (spec->n_args == FW_TUNE_MAX_ARGS)
		return fw_tune_cursor_fail(c, "more than %d arguments", FW_TUNE_MAX_ARGS);
	*arg = (struct fw_tune_arg){ .n_dims = 0 };
	fw_tune_cursor_peek(c);
	start = c->at;
	status = fw_tune_cursor_identifier(c, &arg->name);
	for (uint32_t i = 0; !status && i < spec->n_args; i++) {
		if (!strcmp(spec->args[i].name, arg->name)) {
			c->at = start;
			return fw_tune_cursor_fail(c, "argument %s is there already", arg->name);
		}
	}
	if (!status)
		status = read_type(c, arg);
	if (!status)
		status = fw_tune_cursor_accept(c, "=") ? read_scalar(c, arg) : read_buffer(c, arg);
	if (!status)
		status = fw_tune_cursor_expect_end(c);
	if (!status)
		spec->n_args++;
	return status;
}
