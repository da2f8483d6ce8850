/* Reading one item of a specification from left to right. */
#include "tune/spec_item.h"

#include "tune/nearest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fw_status fw_tune_cursor_fail(const struct fw_tune_cursor *c, const char *fmt, ...)
{
	char text[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return fw_fail(c->reader->err, FW_ERR_FORMAT, "%s:%u: column %zu: %s", c->reader->path,
		       c->item->line, c->item->column + c->at, text);
}

fw_status fw_tune_cursor_place(const struct fw_tune_cursor *c, fw_status status)
{
	if (status)
		fw_error_prefix(c->reader->err, "%s:%u", c->reader->path, c->item->line);
	return status;
}

static bool is_letter(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t fw_tune_cursor_left(const struct fw_tune_cursor *c)
{
	return c->item->len - c->at;
}

char fw_tune_cursor_peek(struct fw_tune_cursor *c)
{
	while (c->at < c->item->len &&
	       (c->item->text[c->at] == ' ' || c->item->text[c->at] == '\t'))
		c->at++;
	return c->at < c->item->len ? c->item->text[c->at] : '\0';
}

bool fw_tune_cursor_accept(struct fw_tune_cursor *c, const char *token)
{
	size_t n = strlen(token);

	fw_tune_cursor_peek(c);
	if (fw_tune_cursor_left(c) < n || memcmp(c->item->text + c->at, token, n) != 0)
		return false;
	c->at += n;
	return true;
}

const char *fw_tune_cursor_word(struct fw_tune_cursor *c, size_t *len)
{
	const char *text = c->item->text;
	size_t start;

	fw_tune_cursor_peek(c);
	start = c->at;
	if (c->at < c->item->len && is_letter(text[c->at]))
		while (c->at < c->item->len && (is_letter(text[c->at]) || is_digit(text[c->at])))
			c->at++;
	*len = c->at - start;
	return text + start;
}

bool fw_tune_cursor_accept_word(struct fw_tune_cursor *c, const char *word)
{
	size_t start = c->at, len;
	const char *text = fw_tune_cursor_word(c, &len);

	if (len == strlen(word) && !memcmp(text, word, len))
		return true;
	c->at = start;
	return false;
}

fw_status fw_tune_cursor_expect(struct fw_tune_cursor *c, const char *token)
{
	return fw_tune_cursor_accept(c, token) ? FW_OK
					       : fw_tune_cursor_fail(c, "'%s' is missing", token);
}

fw_status fw_tune_cursor_expect_end(struct fw_tune_cursor *c)
{
	char next = fw_tune_cursor_peek(c);

	if (!next)
		return FW_OK;
	return fw_tune_cursor_fail(c, "'%.*s' is not expected here",
				   (int)(fw_tune_cursor_left(c) < 40 ? fw_tune_cursor_left(c) : 40),
				   c->item->text + c->at);
}

/* Words that mean something themselves. */
static bool is_reserved(const char *name)
{
	static const char *const words[] = {
		"kernel",  "grid", "block", "smem",         "param",    "where",   "set",
		"check",   "arg",  "flags", "reference",    "min",      "max",     "ceil",
		"default", "step", "times", "maxrregcount", "carveout", "cluster", "launch_bounds"
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i]))
			return true;
	return false;
}

fw_status fw_tune_cursor_identifier(struct fw_tune_cursor *c, const char **name)
{
	size_t len;
	const char *text = fw_tune_cursor_word(c, &len);

	if (!len)
		return fw_tune_cursor_fail(c, "a name is missing");
	if (len > FW_TUNE_MAX_NAME)
		return fw_tune_cursor_fail(c, "the name is longer than %d characters",
					   FW_TUNE_MAX_NAME);
	*name = fw_arena_strndup(&c->reader->spec->arena, text, len);
	return *name ? FW_OK : fw_fail_nomem(c->reader->err, len + 1);
}

fw_status fw_tune_cursor_name(struct fw_tune_cursor *c, const char **name)
{
	fw_status status = fw_tune_cursor_identifier(c, name);

	if (!status && is_reserved(*name))
		return fw_tune_cursor_fail(c, "'%s' has a meaning of its own: choose another name",
					   *name);
	return status;
}

fw_status fw_tune_cursor_integer(struct fw_tune_cursor *c, int64_t *value)
{
	bool is_negative = fw_tune_cursor_accept(c, "-");
	const char *text = c->item->text;
	size_t start = c->at;

	*value = 0;
	for (; c->at < c->item->len && is_digit(text[c->at]); c->at++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_sub_overflow(*value, text[c->at] - '0', value))
			return fw_tune_cursor_fail(c, "the number does not fit into 64 bits");
	if (c->at == start || (c->at < c->item->len && is_letter(text[c->at])))
		return fw_tune_cursor_fail(c, "a whole number is missing");
	if (!is_negative && __builtin_sub_overflow(0, *value, value))
		return fw_tune_cursor_fail(c, "the number does not fit into 64 bits");
	return FW_OK;
}

fw_status fw_tune_cursor_real(struct fw_tune_cursor *c, double *value)
{
	char text[64], *end;
	size_t len = 0;

	fw_tune_cursor_peek(c);
	while (len < fw_tune_cursor_left(c) && len < sizeof(text) - 1 &&
	       strchr("0123456789+-.eE", c->item->text[c->at + len]))
		len++;
	memcpy(text, c->item->text + c->at, len);
	text[len] = '\0';
	*value = strtod(text, &end);
	if (!len || *end || !isfinite(*value))
		return fw_tune_cursor_fail(c, "a number is missing");
	c->at += len;
	return FW_OK;
}

fw_status fw_tune_cursor_quoted(struct fw_tune_cursor *c, const char **text)
{
	const char *start, *end;

	if (!fw_tune_cursor_accept(c, "\""))
		return fw_tune_cursor_fail(c, "a text in quotation marks is missing");
	start = c->item->text + c->at;
	end = memchr(start, '"', fw_tune_cursor_left(c));
	if (!end)
		return fw_tune_cursor_fail(c, "a quotation mark is not closed");
	*text = fw_arena_strndup(&c->reader->spec->arena, start, (size_t)(end - start));
	if (!*text)
		return fw_fail_nomem(c->reader->err, (size_t)(end - start) + 1);
	c->at += (size_t)(end - start) + 1;
	return FW_OK;
}

/* Who asks for names of expressions: the specification, and what was asked for last and is not known. */
struct names {
	const struct fw_tune_spec *spec;
	uint32_t n_sets;
	bool only_sets;
	struct fw_tune_nearest *nearest;
};

static bool is_name(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && !memcmp(known, name, len);
}

static bool look_up(const void *user, const char *name, size_t len, uint32_t *index)
{
	const struct names *names = user;
	const struct fw_tune_space *space = &names->spec->space;
	uint32_t n_params = names->only_sets ? 0 : space->n_params;

	*names->nearest = (struct fw_tune_nearest){ .name = name, .len = len };
	for (uint32_t i = 0; i < n_params; i++) {
		*index = i;
		if (is_name(space->params[i].name, name, len))
			return true;
		fw_tune_nearest_try(names->nearest, space->params[i].name);
	}
	for (uint32_t i = 0; i < names->n_sets; i++) {
		*index = n_params + i;
		if (is_name(names->spec->sets[i].name, name, len))
			return true;
		fw_tune_nearest_try(names->nearest, names->spec->sets[i].name);
	}
	return false;
}

static fw_status parse(struct fw_tune_cursor *c, size_t len, struct names *names,
		       struct fw_tune_expr *expr)
{
	struct fw_tune_nearest nearest = { 0 };
	struct fw_tune_expr_source source = { c->item->text + c->at, len, c->item->column + c->at,
					      look_up, names };
	struct fw_error *err = c->reader->err;
	fw_status status;

	while (source.len && strchr(" \t", source.text[source.len - 1]))
		source.len--;
	while (source.len && strchr(" \t", *source.text)) {
		source.text++;
		source.column++;
		source.len--;
	}
	names->spec = c->reader->spec;
	names->nearest = &nearest;
	status = fw_tune_expr_parse(&c->reader->spec->arena, &source, expr, err);
	c->at += len;
	if (status && err && nearest.best && strstr(err->message, "unknown name")) {
		size_t used = strlen(err->message);

		snprintf(err->message + used, sizeof(err->message) - used, "; did you mean '%s'?",
			 nearest.best);
	}
	return fw_tune_cursor_place(c, status);
}

fw_status fw_tune_cursor_expr(struct fw_tune_cursor *c, size_t len, struct fw_tune_expr *expr)
{
	struct names names = { .n_sets = c->reader->spec->n_sets };

	return parse(c, len, &names, expr);
}

fw_status fw_tune_cursor_set_expr(struct fw_tune_cursor *c, size_t len, uint32_t n_sets,
				  struct fw_tune_expr *expr)
{
	struct names names = { .n_sets = n_sets, .only_sets = true };

	return parse(c, len, &names, expr);
}

/* Bytes up to the next comma outside brackets, at most left. */
static size_t length_of_part(const char *text, size_t left)
{
	int depth = 0;
	size_t i;

	for (i = 0; i < left; i++) {
		if (text[i] == '(')
			depth++;
		else if (text[i] == ')')
			depth--;
		else if (text[i] == ',' && depth <= 0)
			break;
	}
	return i;
}

fw_status fw_tune_cursor_exprs(struct fw_tune_cursor *c, size_t len, struct fw_tune_expr exprs[3])
{
	size_t end = c->at + len;
	fw_status status = FW_OK;

	for (int i = 0; !status; i++) {
		size_t part = length_of_part(c->item->text + c->at, end - c->at);

		if (i == 3)
			return fw_tune_cursor_fail(c, "more than three extents");
		status = fw_tune_cursor_expr(c, part, &exprs[i]);
		if (!status && c->at == end)
			break;
		c->at += !status; /* the comma */
	}
	return status;
}

fw_status fw_tune_cursor_only_sets(const struct fw_tune_cursor *c, const struct fw_tune_expr *expr)
{
	const struct fw_tune_space *space = &c->reader->spec->space;
	uint32_t bound = fw_tune_expr_bound(expr, space->n_params);

	if (!bound)
		return FW_OK;
	return fw_tune_cursor_fail(c,
				   "the size of an argument must be the same for every "
				   "configuration: it cannot depend on the parameter %s",
				   space->params[bound - 1].name);
}
