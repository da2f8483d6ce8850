/* A small reader of C++ declarations: __global__ functions and the types that a buffer or scalar can be made of. */
#include "tune/signature.h"

#include "base/str.h"

#include <string.h>

struct token {
	const char *text;
	size_t len; /* 0: the end */
};

static bool is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* The next word or single character; *p moves behind it, at most to end. */
static struct token next_token(const char **p, const char *end)
{
	struct token token = { *p, 0 };

	while (*p < end && (**p == ' ' || (**p >= '\t' && **p <= '\r')))
		++*p;
	token.text = *p;
	if (*p == end)
		return token;
	do {
		++*p;
	} while (*p < end && is_word(*token.text) && is_word(**p));
	token.len = (size_t)(*p - token.text);
	return token;
}

static bool is(struct token token, const char *text)
{
	return token.len == strlen(text) && !memcmp(token.text, text, token.len);
}

/* Behind the bracket that closes the one just read; end where none does. */
static const char *skip_brackets(const char *p, const char *end)
{
	int depth = 1;

	for (; p < end && depth; p++)
		depth += (*p == '(') - (*p == ')');
	return p;
}

/* A __global__ function as found; its parameters stand between two places in the source. */
struct found {
	struct token name;
	const char *params, *params_end;
	uint32_t max_threads;
	bool is_template;
};

static uint32_t read_bound(const char *p, const char *end)
{
	struct token number = next_token(&p, end), after = next_token(&p, end);
	uint32_t value = 0;

	if (!is(after, ",") && !is(after, ")"))
		return 0;
	for (size_t i = 0; i < number.len; i++) {
		if (number.text[i] < '0' || number.text[i] > '9' || value > 100000)
			return 0;
		value = value * 10 + (uint32_t)(number.text[i] - '0');
	}
	return value;
}

/* From behind __global__: the name is the word before the brackets that '{' or ';' follows. */
static bool read_head(const char **p, const char *end, struct found *found)
{
	struct token word = next_token(p, end);

	while (word.len && !is(word, ";") && !is(word, "{") && !is(word, "}")) {
		const char *ahead = *p;
		struct token after = next_token(&ahead, end);

		if (is_word(*word.text) && is(after, "(")) {
			const char *close = skip_brackets(ahead, end), *behind = close;

			if (is(word, "__launch_bounds__"))
				found->max_threads = read_bound(ahead, end);
			after = next_token(&behind, end);
			*p = close;
			if (is(after, "{") || is(after, ";")) {
				found->name = word;
				found->params = ahead;
				found->params_end = close > ahead ? close - 1 : close;
				return true;
			}
		}
		word = next_token(p, end);
	}
	return false;
}

/* The next __global__ function from *p on. */
static bool next_kernel(const char **p, const char *end, struct found *found)
{
	bool is_template = false;

	for (;;) {
		struct token token = next_token(p, end);

		if (!token.len)
			return false;
		if (is(token, "template"))
			is_template = true;
		else if (is(token, ";") || is(token, "{") || is(token, "}"))
			is_template = false;
		if (!is(token, "__global__"))
			continue;
		*found = (struct found){ .is_template = is_template };
		if (read_head(p, end, found))
			return true;
	}
}

/* The last part of a name, without template arguments: "k" of "ns::k<4>". */
static struct token plain_name(const char *kernel)
{
	size_t len = strcspn(kernel, "<"), start = len;

	while (start && is_word(kernel[start - 1]))
		start--;
	return (struct token){ kernel + start, len - start };
}

static bool same(struct token a, struct token b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

/* "there are a, b, c" of all names, each once; *n counts them. */
static void list_kernels(const char *code, const char *end, struct fw_str *out, uint32_t *n)
{
	struct token names[32] = { { NULL, 0 } };
	struct found found;

	for (*n = 0; *n < 32 && next_kernel(&code, end, &found);) {
		uint32_t i = 0;

		while (i < *n && !same(names[i], found.name))
			i++;
		if (i < *n)
			continue;
		names[(*n)++] = found.name;
		fw_str_puts(out, *n > 1 ? ", " : "");
		fw_str_append(out, found.name.text, found.name.len);
	}
}

/* The kernel of that name: its definition, else its last declaration. */
static fw_status choose(const char *code, const char *end, const char *kernel, struct found *chosen,
			struct fw_error *err)
{
	struct token name = { "", 0 };
	struct fw_str names = { 0 };
	struct found found;
	fw_status status = FW_OK;
	const char *p = code;
	uint32_t n;

	list_kernels(code, end, &names, &n);
	if (kernel)
		name = plain_name(kernel);
	chosen->name = (struct token){ NULL, 0 };
	while (next_kernel(&p, end, &found))
		if (!kernel || same(found.name, name))
			*chosen = found;
	if (!n)
		status = fw_fail(err, FW_ERR_ARGUMENT, "there is no __global__ function");
	else if (!kernel && n > 1)
		status = fw_fail(err, FW_ERR_ARGUMENT,
				 "there is more than one kernel: name one of %.300s",
				 fw_str_text(&names));
	else if (!chosen->name.len)
		status = fw_fail(err, FW_ERR_ARGUMENT,
				 "there is no kernel '%.100s'; there is %.300s", kernel,
				 fw_str_text(&names));
	fw_str_release(&names);
	return status;
}

static const struct known_type {
	const char *name;
	enum fw_tune_type type;
	uint32_t lanes;
} known_types[] = {
	{ "float", FW_TUNE_F32, 1 },         { "float2", FW_TUNE_F32, 2 },
	{ "float3", FW_TUNE_F32, 3 },        { "float4", FW_TUNE_F32, 4 },
	{ "double", FW_TUNE_F64, 1 },        { "double2", FW_TUNE_F64, 2 },
	{ "half", FW_TUNE_F16, 1 },          { "__half", FW_TUNE_F16, 1 },
	{ "half2", FW_TUNE_F16, 2 },         { "__half2", FW_TUNE_F16, 2 },
	{ "nv_bfloat16", FW_TUNE_BF16, 1 },  { "__nv_bfloat16", FW_TUNE_BF16, 1 },
	{ "nv_bfloat162", FW_TUNE_BF16, 2 }, { "__nv_bfloat162", FW_TUNE_BF16, 2 },
	{ "int2", FW_TUNE_I32, 2 },          { "int4", FW_TUNE_I32, 4 },
	{ "uint2", FW_TUNE_U32, 2 },         { "uint4", FW_TUNE_U32, 4 },
	{ "uchar4", FW_TUNE_U8, 4 },         { "int8_t", FW_TUNE_I8, 1 },
	{ "uint8_t", FW_TUNE_U8, 1 },        { "int16_t", FW_TUNE_I16, 1 },
	{ "uint16_t", FW_TUNE_U16, 1 },      { "int32_t", FW_TUNE_I32, 1 },
	{ "uint32_t", FW_TUNE_U32, 1 },      { "int64_t", FW_TUNE_I64, 1 },
	{ "uint64_t", FW_TUNE_U64, 1 },      { "size_t", FW_TUNE_U64, 1 },
	{ "ptrdiff_t", FW_TUNE_I64, 1 },     { "bool", FW_TUNE_U8, 1 },
};

/* What stands before a parameter's name. */
struct type_words {
	bool is_unsigned, is_signed, is_int, is_char, is_short, is_const;
	int longs, stars;
	struct token other; /* a type of one word */
	const char *start, *end;
};

/* Takes a word of a type; false: it is none, so the name. */
static bool take_type_word(struct type_words *words, struct token token)
{
	bool has_builtin = words->is_unsigned || words->is_signed || words->is_int ||
			   words->is_char || words->is_short || words->longs;

	if (is(token, "unsigned"))
		words->is_unsigned = true;
	else if (is(token, "signed"))
		words->is_signed = true;
	else if (is(token, "int"))
		words->is_int = true;
	else if (is(token, "char"))
		words->is_char = true;
	else if (is(token, "short"))
		words->is_short = true;
	else if (is(token, "long"))
		words->longs++;
	else if (!has_builtin && !words->other.len && !words->stars)
		words->other = token;
	else
		return false;
	return true;
}

/* Words that say nothing about what a buffer holds; const does where no star stands before it. */
static bool is_qualifier(struct type_words *words, struct token token)
{
	static const char *const qualifiers[] = { "volatile",   "restrict", "__restrict__",
						  "__restrict", "struct",   "__grid_constant__",
						  "const",      "typename", "std" };

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		if (is(token, qualifiers[i])) {
			if (is(token, "const") && !words->stars)
				words->is_const = true;
			return true;
		}
	}
	return false;
}

static bool resolve_type(const struct type_words *words, struct fw_tune_parameter *param)
{
	static const enum fw_tune_type types[2][4] = {
		{ FW_TUNE_I8, FW_TUNE_I16, FW_TUNE_I32, FW_TUNE_I64 },
		{ FW_TUNE_U8, FW_TUNE_U16, FW_TUNE_U32, FW_TUNE_U64 },
	};
	int size = words->is_char ? 0 : words->is_short ? 1 : words->longs ? 3 : 2;

	param->lanes = 1;
	param->is_bool = is(words->other, "bool");
	if (!words->other.len) {
		param->type = types[words->is_unsigned][size];
		return true;
	}
	for (size_t i = 0; i < sizeof(known_types) / sizeof(*known_types); i++) {
		if (is(words->other, known_types[i].name)) {
			param->type = known_types[i].type;
			param->lanes = known_types[i].lanes;
			return true;
		}
	}
	return false;
}

/* Reads "const float *__restrict__ a" up to end. */
static bool read_words(const char *p, const char *end, struct type_words *words, struct token *name)
{
	struct token token;

	*words = (struct type_words){ .start = p, .end = end };
	*name = (struct token){ NULL, 0 };
	while ((token = next_token(&p, end)).len) {
		if (is(token, "=")) /* a default argument */
			return true;
		if (is(token, "*"))
			words->stars++;
		else if (is(token, "["))
			return words->stars++ == 0;
		else if (is(token, ":") || is_qualifier(words, token))
			continue;
		else if (!is_word(*token.text) || name->len)
			return false;
		else if (!take_type_word(words, token)) {
			*name = token;
			words->end = token.text;
		}
	}
	return true;
}

static fw_status read_parameter(struct fw_arena *arena, const char *p, const char *end,
				struct fw_tune_signature *signature, struct fw_error *err)
{
	struct fw_tune_parameter *param = &signature->params[signature->n_params];
	struct type_words words;
	struct token name;
	bool is_read, is_known;

	while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	is_read = read_words(p, end, &words, &name);
	is_known = is_read && words.stars <= 1 && resolve_type(&words, param) &&
		   (words.stars || param->lanes == 1);
	param->name = name.len ? fw_arena_strndup(arena, name.text, name.len)
			       : fw_arena_printf(arena, "p%u", signature->n_params + 1);
	if (!param->name)
		return fw_fail_nomem(err, name.len + 1);
	while (words.end > words.start && strchr(" \t\r\n", words.end[-1]))
		words.end--;
	if (!is_known)
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"line %u: parameter %.60s of %.60s has the type '%.*s', for which no "
			"argument can be made up",
			signature->line, param->name, signature->name,
			(int)(words.end - words.start < 80 ? words.end - words.start : 80),
			words.start);
	param->is_pointer = words.stars > 0;
	param->is_const = words.is_const;
	signature->n_params++;
	return FW_OK;
}

/* Up to the next comma outside brackets of any kind. */
static const char *end_of_parameter(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		depth += (*p == '(' || *p == '<' || *p == '[' || *p == '{');
		depth -= (*p == ')' || *p == '>' || *p == ']' || *p == '}');
		if (*p == ',' && depth <= 0)
			break;
	}
	return p;
}

static fw_status read_parameters(struct fw_arena *arena, const struct found *found,
				 struct fw_tune_signature *signature, struct fw_error *err)
{
	const char *p = found->params, *end = found->params_end;
	struct token first = next_token(&p, end), second = next_token(&p, end);
	fw_status status = FW_OK;

	if (!first.len || (is(first, "void") && !second.len))
		return FW_OK;
	for (p = found->params; !status && p <= end; p++) {
		const char *part_end = end_of_parameter(p, end);

		if (signature->n_params == FW_TUNE_MAX_ARGS)
			return fw_fail(err, FW_ERR_UNSUPPORTED, "%s has more than %d parameters",
				       signature->name, FW_TUNE_MAX_ARGS);
		status = read_parameter(arena, p, part_end, signature, err);
		p = part_end;
	}
	return status;
}

fw_status fw_tune_signature_find(struct fw_arena *arena, const char *code, const char *kernel,
				 struct fw_tune_signature *signature, struct fw_error *err)
{
	const char *end = code + strlen(code);
	struct found found;
	fw_status status = choose(code, end, kernel, &found, err);

	if (status)
		return status;
	*signature = (struct fw_tune_signature){ .line = 1,
						 .is_template = found.is_template,
						 .max_threads = found.max_threads };
	for (const char *p = code; p < found.name.text; p++)
		signature->line += *p == '\n';
	signature->name = fw_arena_strndup(arena, found.name.text, found.name.len);
	if (!signature->name)
		return fw_fail_nomem(err, found.name.len + 1);
	return read_parameters(arena, &found, signature, err);
}
