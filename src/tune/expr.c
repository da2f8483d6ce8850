/* Expressions: text to a program of a stack machine whose jumps go forward only, so that it always ends. */
#include "tune/expr.h"

#include <string.h>

#define MAX_DEPTH 64    /* of brackets and operators within each other */
#define MAX_STACK 64    /* values under way */
#define MAX_CODE  4096  /* steps of one expression */
#define MAX_TEXT  65536 /* bytes of one expression */

enum op {
	OP_NUMBER,
	OP_VARIABLE,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_CEIL_DIV,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_MIN,
	OP_MAX,
	OP_NEGATE,
	OP_NOT,
	OP_BOOL,
	OP_AND_SKIP, /* 0 on top: stays as the result and jumps; else dropped */
	OP_OR_SKIP,  /* not 0 on top: becomes 1 and jumps; else dropped */
	OP_ELSE,     /* drops the top; 0: jumps */
	OP_JUMP
};

struct fw_tune_code {
	enum op op;
	int64_t operand; /* number, index of the variable, place to jump to */
};

struct parser {
	const struct fw_tune_expr_source *source;
	size_t at;
	struct fw_error *err;
	uint32_t depth, stack, n_code, max_code;
	bool is_division, is_chain; /* the value just parsed is a / b; is (a / b) / c */
	struct fw_tune_code *code;
};

static fw_status fail_at(struct parser *p, size_t at, const char *what)
{
	return fw_fail(p->err, FW_ERR_FORMAT, "column %zu: %s", p->source->column + at, what);
}

static char peek(struct parser *p)
{
	const struct fw_tune_expr_source *s = p->source;

	while (p->at < s->len && (s->text[p->at] == ' ' || s->text[p->at] == '\t'))
		p->at++;
	return p->at < s->len ? s->text[p->at] : '\0';
}

static bool accept(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	peek(p);
	if (p->source->len - p->at < n || memcmp(p->source->text + p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* change: what the step adds to the number of values on the stack. */
static fw_status emit(struct parser *p, enum op op, int64_t operand, int change)
{
	if (p->n_code == p->max_code)
		return fail_at(p, p->at, "the expression is too long");
	p->code[p->n_code++] = (struct fw_tune_code){ op, operand };
	p->stack += (uint32_t)change;
	if (p->stack > MAX_STACK)
		return fail_at(p, p->at, "the expression is nested too deeply");
	return FW_OK;
}

static fw_status parse_choice(struct parser *p);

static fw_status expect(struct parser *p, const char *token, const char *what)
{
	return accept(p, token) ? FW_OK : fail_at(p, p->at, what);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static bool is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static fw_status parse_number(struct parser *p)
{
	const struct fw_tune_expr_source *s = p->source;
	size_t start = p->at;
	int base = accept(p, "0x") || accept(p, "0X") ? 16 : 10;
	size_t digits = p->at;
	int64_t value = 0;

	for (; p->at < s->len && digit_of(s->text[p->at]) < base; p->at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_of(s->text[p->at]), &value))
			return fail_at(p, start, "the number does not fit into 64 bits");
	if (p->at == digits ||
	    (p->at < s->len && (is_word(s->text[p->at]) || s->text[p->at] == '.')))
		return fail_at(p, start, "not a whole number");
	p->is_division = p->is_chain = false;
	return emit(p, OP_NUMBER, value, 1);
}

/* ceil(a / b): the division that was just parsed rounds up. */
static fw_status parse_ceil(struct parser *p, size_t start)
{
	fw_status status = parse_choice(p);

	if (status)
		return status;
	if (!p->is_division || p->is_chain)
		return fail_at(p, start, "ceil takes one division: ceil(a / b), ceil(a / (b * c))");
	p->code[p->n_code - 1].op = OP_CEIL_DIV;
	return expect(p, ")", "')' is missing");
}

static fw_status parse_pair(struct parser *p, enum op op)
{
	fw_status status = parse_choice(p);

	if (!status)
		status = expect(p, ",", "min and max take two values");
	if (!status)
		status = parse_choice(p);
	if (!status)
		status = expect(p, ")", "')' is missing");
	return status ? status : emit(p, op, 0, -1);
}

static fw_status parse_name(struct parser *p)
{
	const struct fw_tune_expr_source *s = p->source;
	const char *name = s->text + p->at;
	size_t start = p->at, len;
	fw_status status;
	uint32_t index;

	while (p->at < s->len && is_word(s->text[p->at]))
		p->at++;
	len = p->at - start;
	if (peek(p) == '(') {
		p->at++;
		if (len == 4 && !memcmp(name, "ceil", 4))
			status = parse_ceil(p, start);
		else if (len == 3 && !memcmp(name, "min", 3))
			status = parse_pair(p, OP_MIN);
		else if (len == 3 && !memcmp(name, "max", 3))
			status = parse_pair(p, OP_MAX);
		else
			status = fail_at(p, start, "not a function: there are ceil, min and max");
	} else if (s->lookup && s->lookup(s->names, name, len, &index)) {
		status = emit(p, OP_VARIABLE, index, 1);
	} else {
		return fw_fail(p->err, FW_ERR_FORMAT, "column %zu: unknown name '%.*s'",
			       s->column + start, (int)(len < 64 ? len : 64), name);
	}
	p->is_division = p->is_chain = false;
	return status;
}

static fw_status parse_operand(struct parser *p)
{
	char c = peek(p);
	fw_status status;

	if (c >= '0' && c <= '9')
		return parse_number(p);
	if (is_word(c))
		return parse_name(p);
	if (c != '(')
		return fail_at(p, p->at, "a number, a name or '(' is missing");
	p->at++;
	status = parse_choice(p);
	return status ? status : expect(p, ")", "')' is missing");
}

static fw_status parse_sign(struct parser *p)
{
	fw_status status = FW_OK;
	enum op op;

	switch (peek(p)) {
	case '-': op = OP_NEGATE; break;
	case '!': op = OP_NOT; break;
	case '+': op = OP_NUMBER; break;
	default: return parse_operand(p);
	}
	p->at++;
	if (++p->depth > MAX_DEPTH)
		return fail_at(p, p->at, "the expression is nested too deeply");
	status = parse_sign(p);
	p->depth--;
	p->is_division = p->is_chain = false;
	return status || op == OP_NUMBER ? status : emit(p, op, 0, 0);
}

struct infix {
	const char *token;
	enum op op;
	int level; /* higher binds tighter */
};

/* A token that another one starts with stands behind it. */
static const struct infix infixes[] = {
	{ "||", OP_OR_SKIP, 1 }, { "&&", OP_AND_SKIP, 2 }, { "==", OP_EQ, 3 }, { "!=", OP_NE, 3 },
	{ "<=", OP_LE, 4 },      { ">=", OP_GE, 4 },       { "<", OP_LT, 4 },  { ">", OP_GT, 4 },
	{ "+", OP_ADD, 5 },      { "-", OP_SUB, 5 },       { "*", OP_MUL, 6 }, { "/", OP_DIV, 6 },
	{ "%", OP_MOD, 6 },
};

static const struct infix *accept_infix(struct parser *p, int level)
{
	for (size_t i = 0; i < sizeof(infixes) / sizeof(*infixes); i++)
		if (infixes[i].level == level && accept(p, infixes[i].token))
			return &infixes[i];
	return NULL;
}

static fw_status parse_level(struct parser *p, int level);

/* The right side of && and ||, which is skipped where the left one decides. */
static fw_status parse_lazy(struct parser *p, const struct infix *infix)
{
	uint32_t skip = p->n_code;
	fw_status status = emit(p, infix->op, 0, -1);

	if (!status)
		status = parse_level(p, infix->level + 1);
	if (!status)
		status = emit(p, OP_BOOL, 0, 0);
	if (!status)
		p->code[skip].operand = p->n_code;
	p->is_division = p->is_chain = false;
	return status;
}

static fw_status parse_level(struct parser *p, int level)
{
	const struct infix *infix;
	fw_status status;

	if (level > 6)
		return parse_sign(p);
	status = parse_level(p, level + 1);
	while (!status && (infix = accept_infix(p, level))) {
		bool left_is_division = p->is_division;

		if (infix->op == OP_AND_SKIP || infix->op == OP_OR_SKIP) {
			status = parse_lazy(p, infix);
			continue;
		}
		status = parse_level(p, level + 1);
		if (!status)
			status = emit(p, infix->op, 0, -1);
		p->is_division = infix->op == OP_DIV;
		p->is_chain = p->is_division && left_is_division;
	}
	return status;
}

static fw_status parse_branches(struct parser *p)
{
	uint32_t otherwise = p->n_code, end;
	fw_status status = emit(p, OP_ELSE, 0, -1);

	if (!status)
		status = parse_choice(p);
	if (!status)
		status = expect(p, ":", "':' is missing");
	end = p->n_code;
	if (!status)
		status = emit(p, OP_JUMP, 0, -1); /* only one of both leaves its value */
	if (status)
		return status;
	p->code[otherwise].operand = p->n_code;
	status = parse_choice(p);
	if (!status)
		p->code[end].operand = p->n_code;
	p->is_division = p->is_chain = false;
	return status;
}

static fw_status parse_choice(struct parser *p)
{
	fw_status status;

	if (++p->depth > MAX_DEPTH)
		return fail_at(p, p->at, "the expression is nested too deeply");
	status = parse_level(p, 1);
	if (!status && accept(p, "?"))
		status = parse_branches(p);
	p->depth--;
	return status;
}

fw_status fw_tune_expr_parse(struct fw_arena *arena, const struct fw_tune_expr_source *source,
			     struct fw_tune_expr *expr, struct fw_error *err)
{
	struct parser p = { .source = source, .err = err };
	fw_status status;

	if (source->len > MAX_TEXT)
		return fail_at(&p, 0, "the expression is too long");
	/* A step takes a character at least. */
	p.max_code = source->len < MAX_CODE ? (uint32_t)source->len + 1 : MAX_CODE;
	p.code = fw_arena_array(arena, p.max_code, sizeof(*p.code));
	expr->text = fw_arena_strndup(arena, source->text, source->len);
	if (!p.code || !expr->text)
		return fw_fail_nomem(err, p.max_code * sizeof(*p.code));
	status = parse_choice(&p);
	if (status)
		return status;
	if (peek(&p) || p.at < source->len)
		return fail_at(&p, p.at, "an operator is missing, or the expression ends here");
	expr->code = p.code;
	expr->n_code = p.n_code;
	return FW_OK;
}

static bool divide(enum op op, int64_t a, int64_t b, int64_t *out)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = op == OP_MOD ? a % b : a / b;
	if (op == OP_CEIL_DIV && a % b != 0 && (a < 0) == (b < 0))
		*out += 1;
	return true;
}

static bool combine(enum op op, int64_t a, int64_t b, int64_t *out)
{
	switch (op) {
	case OP_ADD: return !__builtin_add_overflow(a, b, out);
	case OP_SUB: return !__builtin_sub_overflow(a, b, out);
	case OP_MUL: return !__builtin_mul_overflow(a, b, out);
	case OP_DIV:
	case OP_MOD:
	case OP_CEIL_DIV: return divide(op, a, b, out);
	case OP_LT: *out = a < b; return true;
	case OP_LE: *out = a <= b; return true;
	case OP_GT: *out = a > b; return true;
	case OP_GE: *out = a >= b; return true;
	case OP_EQ: *out = a == b; return true;
	case OP_NE: *out = a != b; return true;
	case OP_MIN: *out = a < b ? a : b; return true;
	case OP_MAX: *out = a > b ? a : b; return true;
	default: return false;
	}
}

bool fw_tune_expr_eval(const struct fw_tune_expr *expr, const int64_t *variables, int64_t *value)
{
	int64_t stack[MAX_STACK + 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i < expr->n_code; i++) {
		const struct fw_tune_code *c = &expr->code[i];

		switch (c->op) {
		case OP_NUMBER: stack[n++] = c->operand; break;
		case OP_VARIABLE: stack[n++] = variables[c->operand]; break;
		case OP_NEGATE:
			if (__builtin_sub_overflow(0, stack[n - 1], &stack[n - 1]))
				return false;
			break;
		case OP_NOT: stack[n - 1] = !stack[n - 1]; break;
		case OP_BOOL: stack[n - 1] = stack[n - 1] != 0; break;
		case OP_AND_SKIP:
		case OP_OR_SKIP:
			if ((stack[n - 1] != 0) == (c->op == OP_OR_SKIP)) {
				stack[n - 1] = c->op == OP_OR_SKIP;
				i = (uint32_t)c->operand - 1;
			} else {
				n--;
			}
			break;
		case OP_ELSE:
			if (!stack[--n])
				i = (uint32_t)c->operand - 1;
			break;
		case OP_JUMP: i = (uint32_t)c->operand - 1; break;
		default:
			n--;
			if (!combine(c->op, stack[n - 1], stack[n], &stack[n - 1]))
				return false;
		}
	}
	*value = stack[0];
	return n == 1;
}

uint32_t fw_tune_expr_bound(const struct fw_tune_expr *expr, uint32_t limit)
{
	uint32_t bound = 0;

	for (uint32_t i = 0; i < expr->n_code; i++) {
		int64_t index = expr->code[i].operand;

		if (expr->code[i].op == OP_VARIABLE && index < limit && index >= bound)
			bound = (uint32_t)index + 1;
	}
	return bound;
}
