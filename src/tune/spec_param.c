/* Items of a specification that name numbers: param, set, check; and flags. */
#include "tune/spec_item.h"

#include <inttypes.h>
#include <string.h>

#define MAX_CHECKS 16

struct values {
	struct fw_tune_value items[FW_TUNE_MAX_VALUES];
	uint32_t n;
	uint32_t n_numbers; /* the others are words or texts */
};

static fw_status add_value(struct fw_tune_cursor *c, struct values *values, const char *text,
			   const int64_t *number)
{
	struct fw_tune_value *value = &values->items[values->n];

	if (values->n == FW_TUNE_MAX_VALUES)
		return fw_tune_cursor_fail(c, "more than %d values", FW_TUNE_MAX_VALUES);
	value->number = number ? *number : values->n;
	value->text = number ? fw_arena_printf(&c->reader->spec->arena, "%" PRId64, *number) : text;
	if (!value->text)
		return fw_fail_nomem(c->reader->err, 24);
	values->n++;
	values->n_numbers += number != NULL;
	return FW_OK;
}

/* A..B, A..B step S, A..B times F; the cursor stands behind the dots. */
static fw_status read_range(struct fw_tune_cursor *c, struct values *values, int64_t first)
{
	int64_t last, by = 1, number = first;
	bool grows;
	fw_status status = fw_tune_cursor_integer(c, &last);

	if (status)
		return status;
	grows = fw_tune_cursor_accept_word(c, "times");
	if (grows || fw_tune_cursor_accept_word(c, "step"))
		status = fw_tune_cursor_integer(c, &by);
	if (!status && (by < 1 + grows || (grows && first < 1)))
		return fw_tune_cursor_fail(c, "the range would not end");
	if (!status && last < first)
		return fw_tune_cursor_fail(c, "the range ends before it begins");
	while (!status && number <= last) {
		status = add_value(c, values, NULL, &number);
		if (grows ? __builtin_mul_overflow(number, by, &number)
			  : __builtin_add_overflow(number, by, &number))
			break;
	}
	return status;
}

static fw_status read_word_value(struct fw_tune_cursor *c, struct values *values)
{
	size_t len;
	const char *word = fw_tune_cursor_word(c, &len);
	const char *text = fw_arena_strndup(&c->reader->spec->arena, word, len);

	return text ? add_value(c, values, text, NULL) : fw_fail_nomem(c->reader->err, len + 1);
}

/* One value or range of them; ' ' or ',' stands between two. */
static fw_status read_value(struct fw_tune_cursor *c, struct values *values, bool may_be_range)
{
	char next = fw_tune_cursor_peek(c);
	const char *text;
	int64_t number;
	fw_status status;

	if (next == '"') {
		status = fw_tune_cursor_quoted(c, &text);
		return status ? status : add_value(c, values, text, NULL);
	}
	if (next != '-' && (next < '0' || next > '9')) {
		if (next == '_' || (next | 32) >= 'a')
			return read_word_value(c, values);
		return fw_tune_cursor_fail(c, "a value is missing");
	}
	status = fw_tune_cursor_integer(c, &number);
	if (status)
		return status;
	if (may_be_range && fw_tune_cursor_accept(c, ".."))
		return read_range(c, values, number);
	return add_value(c, values, NULL, &number);
}

/* The value behind "default", looked up among the others. */
static fw_status read_preset(struct fw_tune_cursor *c, struct values *values, uint32_t *preset)
{
	struct values one = { .n = 0 };
	fw_status status = read_value(c, &one, false);

	if (status)
		return status;
	for (*preset = 0; *preset < values->n; ++*preset)
		if (!strcmp(values->items[*preset].text, one.items[0].text))
			return FW_OK;
	return fw_tune_cursor_fail(c, "the default '%.60s' is not one of the values",
				   one.items[0].text);
}

/* Built-in parameters and the numbers they take; flags take texts. */
static const struct builtin {
	const char *name;
	enum fw_tune_param_kind kind;
	int64_t low, high, also;
} builtins[] = {
	{ "maxrregcount", FW_TUNE_MAXRREGCOUNT, 16, 255, 0 },
	{ "carveout", FW_TUNE_CARVEOUT, 0, 100, -1 },
	{ "cluster", FW_TUNE_CLUSTER, 1, 16, 1 },
	{ "launch_bounds", FW_TUNE_BOUNDS, 0, 32, 0 },
	{ "flags", FW_TUNE_FLAGS, 0, -1, 0 },
};

static fw_status check_builtin(struct fw_tune_cursor *c, const struct builtin *builtin,
			       const struct values *values)
{
	if (builtin->kind == FW_TUNE_FLAGS)
		return values->n_numbers ? fw_tune_cursor_fail(c, "flags are texts: \"-O1\"")
					 : FW_OK;
	for (uint32_t i = 0; i < values->n; i++) {
		int64_t number = values->items[i].number;

		if (values->n_numbers < values->n ||
		    ((number < builtin->low || number > builtin->high) && number != builtin->also))
			return fw_tune_cursor_fail(c, "%s takes %d or %d to %d, not %s",
						   builtin->name, (int)builtin->also,
						   (int)builtin->low, (int)builtin->high,
						   values->items[i].text);
	}
	return FW_OK;
}

/* A name of a parameter: one of the user's, or a built-in one. */
static fw_status read_param_name(struct fw_tune_cursor *c, const char **name,
				 const struct builtin **builtin)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		*builtin = &builtins[i];
		*name = builtins[i].name;
		if (fw_tune_cursor_accept_word(c, *name))
			return FW_OK;
	}
	*builtin = NULL;
	return fw_tune_cursor_name(c, name);
}

static bool is_set(const struct fw_tune_spec *spec, const char *name)
{
	for (uint32_t i = 0; i < spec->n_sets; i++)
		if (!strcmp(spec->sets[i].name, name))
			return true;
	return false;
}

static fw_status add_param(struct fw_tune_cursor *c, const struct fw_tune_param *param)
{
	struct fw_tune_spec *spec = c->reader->spec;
	fw_status status;

	if (is_set(spec, param->name))
		return fw_tune_cursor_fail(c, "%s is a set already", param->name);
	status = fw_tune_space_add(&spec->space, param, c->reader->err);
	/* What does not fit into the space does not fit into the format. */
	return fw_tune_cursor_place(c, status == FW_ERR_ARGUMENT ? FW_ERR_FORMAT : status);
}

fw_status fw_tune_read_param(struct fw_tune_cursor *c)
{
	struct values values = { .n = 0 };
	struct fw_tune_param param = { .values = values.items };
	const struct builtin *builtin;
	fw_status status = read_param_name(c, &param.name, &builtin);

	if (!status)
		status = fw_tune_cursor_expect(c, "=");
	while (!status && fw_tune_cursor_peek(c)) {
		if (fw_tune_cursor_accept_word(c, "default")) {
			status = read_preset(c, &values, &param.preset);
			break;
		}
		status = read_value(c, &values, true);
		fw_tune_cursor_accept(c, ",");
	}
	if (!status)
		status = fw_tune_cursor_expect_end(c);
	if (!status && values.n_numbers && values.n_numbers < values.n)
		return fw_tune_cursor_fail(c, "values are numbers or words, not both");
	if (!status && builtin)
		status = check_builtin(c, builtin, &values);
	if (status)
		return status;
	param.kind = builtin ? builtin->kind : FW_TUNE_MACRO;
	if (param.kind == FW_TUNE_BOUNDS &&
	    !fw_tune_source_mentions(c->reader->code, "FULLWARP_BOUNDS"))
		return fw_tune_cursor_fail(c, "launch_bounds needs FULLWARP_BOUNDS in the source: "
					      "__global__ void FULLWARP_BOUNDS name(...)");
	param.n_values = values.n;
	return add_param(c, &param);
}

fw_status fw_tune_read_set(struct fw_tune_cursor *c)
{
	struct fw_tune_spec *spec = c->reader->spec;
	struct fw_tune_set *set = &spec->sets[spec->n_sets];
	int64_t sizes[FW_TUNE_MAX_SETS];
	fw_status status;

	if (spec->n_sets == FW_TUNE_MAX_SETS)
		return fw_tune_cursor_fail(c, "more than %d sets", FW_TUNE_MAX_SETS);
	status = fw_tune_cursor_name(c, &set->name);
	if (status)
		return status;
	if (is_set(spec, set->name))
		return fw_tune_cursor_fail(c, "%s is set already", set->name);
	for (uint32_t i = 0; i < spec->space.n_params; i++)
		if (!strcmp(spec->space.params[i].name, set->name))
			return fw_tune_cursor_fail(c, "%s is a parameter already", set->name);
	status = fw_tune_cursor_expect(c, "=");
	if (!status)
		status = fw_tune_cursor_set_expr(c, fw_tune_cursor_left(c), spec->n_sets,
						 &set->expr);
	if (status)
		return status;
	for (uint32_t i = 0; i < spec->n_sets; i++)
		sizes[i] = spec->sets[i].number;
	if (!fw_tune_expr_eval(&set->expr, sizes, &set->number))
		return fw_tune_cursor_fail(c, "overflow or division by zero");
	spec->n_sets++;
	return FW_OK;
}

/* NAME = EXPR[, ...]; given says which sets got a number. */
static fw_status read_sizes(struct fw_tune_cursor *c, int64_t *sizes, bool *given)
{
	const struct fw_tune_spec *spec = c->reader->spec;

	do {
		struct fw_tune_expr expr;
		const char *name;
		uint32_t i = 0;
		size_t len;
		fw_status status = fw_tune_cursor_name(c, &name);

		if (status)
			return status;
		while (i < spec->n_sets && strcmp(spec->sets[i].name, name) != 0)
			i++;
		if (i == spec->n_sets)
			return fw_tune_cursor_fail(c, "%s is not a set", name);
		if (given[i])
			return fw_tune_cursor_fail(c, "%s is given twice", name);
		status = fw_tune_cursor_expect(c, "=");
		if (status)
			return status;
		for (len = 0; len < fw_tune_cursor_left(c) && c->item->text[c->at + len] != ',';)
			len++;
		status = fw_tune_cursor_set_expr(c, len, 0, &expr);
		if (status)
			return status;
		given[i] = true;
		if (!fw_tune_expr_eval(&expr, sizes, &sizes[i]))
			return fw_tune_cursor_fail(c, "overflow or division by zero");
	} while (fw_tune_cursor_accept(c, ","));
	return FW_OK;
}

fw_status fw_tune_read_check(struct fw_tune_cursor *c)
{
	struct fw_tune_spec *spec = c->reader->spec;
	int64_t *rows, *sizes;
	bool given[FW_TUNE_MAX_SETS] = { false };
	size_t bytes = spec->n_sets * sizeof(*rows);
	fw_status status;

	if (spec->n_check_sizes == MAX_CHECKS)
		return fw_tune_cursor_fail(c, "more than %d other sizes", MAX_CHECKS);
	rows = fw_arena_array(&spec->arena, spec->n_check_sizes + 1, bytes);
	if (!rows)
		return fw_fail_nomem(c->reader->err, bytes * (spec->n_check_sizes + 1));
	if (spec->n_check_sizes)
		memcpy(rows, spec->check_sizes, bytes * spec->n_check_sizes);
	sizes = rows + (size_t)spec->n_sets * spec->n_check_sizes;
	status = read_sizes(c, sizes, given);
	if (status)
		return status;
	/* The others follow from these and from sets before them, as written. */
	for (uint32_t i = 0; i < spec->n_sets; i++)
		if (!given[i] && !fw_tune_expr_eval(&spec->sets[i].expr, sizes, &sizes[i]))
			return fw_tune_cursor_fail(c, "overflow or division by zero in %s",
						   spec->sets[i].name);
	spec->check_sizes = rows;
	spec->n_check_sizes++;
	return FW_OK;
}

fw_status fw_tune_split_flags(struct fw_arena *arena, const char *text, size_t len,
			      struct fw_vec *list, struct fw_error *err)
{
	for (size_t i = 0; i < len;) {
		char *flag, **slot;
		size_t n = 0;
		bool is_quoted = false;

		if (text[i] == ' ' || text[i] == '\t') {
			i++;
			continue;
		}
		flag = fw_arena_alloc(arena, len - i + 1);
		slot = fw_vec_push(list);
		if (!flag || !slot)
			return fw_fail_nomem(err, len - i + 1);
		for (; i < len && (is_quoted || (text[i] != ' ' && text[i] != '\t')); i++) {
			if (text[i] == '"')
				is_quoted = !is_quoted;
			else
				flag[n++] = text[i];
		}
		*slot = flag;
	}
	return FW_OK;
}

fw_status fw_tune_read_flags(struct fw_tune_cursor *c)
{
	struct fw_tune_spec *spec = c->reader->spec;
	struct fw_vec list = FW_VEC(const char *);
	const char **flags;
	fw_status status;

	if (spec->n_flags)
		return fw_tune_cursor_fail(c, "there are flags already");
	status = fw_tune_split_flags(&spec->arena, c->item->text + c->at, fw_tune_cursor_left(c),
				     &list, c->reader->err);
	flags = status ? NULL : fw_arena_array(&spec->arena, list.len, sizeof(*flags));
	if (!status && !flags)
		status = fw_fail_nomem(c->reader->err, list.len * sizeof(*flags));
	if (!status && list.len > 128)
		status = fw_tune_cursor_fail(c, "more than 128 flags");
	if (!status && list.len) {
		memcpy(flags, list.data, list.len * sizeof(*flags));
		spec->n_flags = (uint32_t)list.len;
		spec->flags = flags;
	}
	fw_vec_release(&list);
	return status;
}
