#include "import/lex.h"

#include <string.h>

/* Bytes that end a number or a word. */
static const bool ends_scalar[256] = {
	['\0'] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true, [' '] = true, [','] = true,
	['"'] = true,  [':'] = true,  ['['] = true,  [']'] = true,  ['{'] = true, ['}'] = true,
};

void fw_lex_fail(struct fw_lex *lex, const char *at)
{
	if (lex->state != FW_LEX_OK)
		return;
	lex->p = at;
	lex->state = at >= lex->end ? FW_LEX_MORE : FW_LEX_BAD;
}

bool fw_lex_expect(struct fw_lex *lex, char c)
{
	char next = fw_lex_peek(lex);

	if (!fw_lex_ok(lex) || next != c) {
		fw_lex_fail(lex, lex->p);
		return false;
	}
	lex->p++;
	return true;
}

/* True if a key and its colon start at p, white space before. */
static bool key_follows(const struct fw_lex *lex, const char *p)
{
	p = fw_lex_skip_space(p);
	if (*p++ != '"')
		return false;
	while (p < lex->end && *p != '"' && *p != '\\' && *p != '{' && *p != '}' && *p != ',')
		p++;
	return p < lex->end && *p == '"' && *fw_lex_skip_space(p + 1) == ':';
}

enum role { KEY, VALUE, ELEMENT };

/* True if an object that ends at the brace p is followed by what may follow one. */
static bool object_ends(const struct fw_lex *lex, const char *p)
{
	p = fw_lex_skip_space(p + 1);
	if (p >= lex->end)
		return lex->is_final;
	return *p == ',' || *p == '}' || *p == ']';
}

/* Lenient reading: a quote inside a damaged string is told from its end by what follows it. */
static bool ends_string(const struct fw_lex *lex, const char *quote, enum role role)
{
	const char *p = fw_lex_skip_space(quote + 1);

	/* Keys are the profiler's own words: no quotes in them. */
	if (role == KEY)
		return true;
	if (role == ELEMENT)
		return *p == ',' || *p == ']';
	return *p == '}' ? object_ends(lex, p) : *p == ',' && key_follows(lex, p + 1);
}

static void read_any_string(struct fw_lex *lex, enum role role, struct fw_lex_text *text)
{
	const char *start = lex->p + 1, *p = start;
	bool high = false;
	uint8_t flags = FW_TEXT_QUOTED;

	for (;; p++) {
		p = fw_scan_string(p, &high);
		if (*p == '"') {
			if (!lex->is_lenient || ends_string(lex, p, role))
				break;
			if (key_follows(lex, p)) {
				/* Not a quote too many but one too few: this is the next key. */
				fw_lex_fail(lex, p);
				return;
			}
			flags |= FW_TEXT_REPAIRED;
		} else if (p >= lex->end) {
			fw_lex_fail(lex, lex->end);
			return;
		} else if (*p == '\\') {
			flags |= FW_TEXT_ESCAPED;
			/* A control character behind the backslash is looked at for itself. */
			p += (unsigned char)p[1] >= 0x20;
		} else {
			flags |= FW_TEXT_CONTROL;
		}
	}
	*text = (struct fw_lex_text){ start, (size_t)(p - start), flags };
	if (high)
		text->flags |= FW_TEXT_HIGH;
	lex->p = p + 1;
}

/* Keys and most words are short and plain. */
static inline void read_string(struct fw_lex *lex, enum role role, struct fw_lex_text *text)
{
	int len = lex->is_lenient ? -1 : fw_scan_short(lex->p + 1);

	if (len < 0) {
		read_any_string(lex, role, text);
		return;
	}
	*text = (struct fw_lex_text){ lex->p + 1, (size_t)len, FW_TEXT_QUOTED };
	lex->p += len + 2;
}

/* Numbers, literals, and what broken writers leave in their place: NaN, inf, N/A. */
static void read_scalar(struct fw_lex *lex, struct fw_lex_text *text)
{
	const char *start = lex->p, *p = start;

	while (!ends_scalar[(unsigned char)*p])
		p++;
	if (p == start || p >= lex->end) {
		fw_lex_fail(lex, p);
		return;
	}
	*text = (struct fw_lex_text){ start, (size_t)(p - start), 0 };
	lex->p = p;
}

/* One bit a level: set inside an object. */
struct levels {
	uint8_t is_object[FW_LEX_DEPTH / 8];
	unsigned depth;
};

static bool push(struct levels *levels, bool is_object)
{
	unsigned i = levels->depth;

	if (i == FW_LEX_DEPTH)
		return false;
	levels->depth++;
	levels->is_object[i / 8] &= (uint8_t) ~(1u << i % 8);
	levels->is_object[i / 8] |= (uint8_t)((unsigned)is_object << i % 8);
	return true;
}

static bool in_object(const struct levels *levels)
{
	unsigned i = levels->depth - 1;

	return levels->is_object[i / 8] >> i % 8 & 1;
}

/* After a value: closes what ends here. True if another key or element follows. */
static bool close_levels(struct fw_lex *lex, struct levels *levels)
{
	while (levels->depth) {
		char c = fw_lex_peek(lex);

		if (!fw_lex_ok(lex))
			return false;
		if (c == ',') {
			lex->p++;
			return true;
		}
		if (c != (in_object(levels) ? '}' : ']')) {
			fw_lex_fail(lex, lex->p);
			return false;
		}
		lex->p++;
		levels->depth--;
	}
	return false;
}

static void skip_key(struct fw_lex *lex)
{
	struct fw_lex_text key;

	if (fw_lex_peek(lex) != '"') {
		fw_lex_fail(lex, lex->p);
		return;
	}
	read_string(lex, KEY, &key);
	fw_lex_expect(lex, ':');
}

/* Opens the container at p; true if it has something in it. */
static bool open_level(struct fw_lex *lex, struct levels *levels)
{
	bool is_object = *lex->p == '{';
	char c;

	if (!push(levels, is_object)) {
		fw_lex_fail(lex, lex->p);
		return false;
	}
	lex->p++;
	c = fw_lex_peek(lex);
	return c != (is_object ? '}' : ']');
}

/*
 * The quick way past a container; false where it is not plain where that ends. Where the text goes on
 * in the next window, that is waited for: what a record gives must not depend on where it lies.
 */
static bool jump(struct fw_lex *lex, const char *from, bool is_object)
{
	const char *behind;

	if (lex->is_lenient || lex->is_careful)
		return false;
	behind = fw_scan_closing(from, lex->end, is_object);
	if (behind && behind <= lex->end) {
		lex->p = behind;
		return true;
	}
	lex->wasted += (size_t)(lex->end - from);
	if (!behind || lex->is_final)
		return false;
	fw_lex_fail(lex, lex->end);
	return true;
}

bool fw_lex_leave_object(struct fw_lex *lex)
{
	return fw_lex_ok(lex) && jump(lex, lex->p, true);
}

static void skip_container(struct fw_lex *lex)
{
	struct levels levels;
	struct fw_lex_text text;
	bool more;

	if (jump(lex, lex->p + 1, *lex->p == '{'))
		return;
	levels.depth = 0;
	do {
		char c = fw_lex_peek(lex);

		if (levels.depth && in_object(&levels)) {
			skip_key(lex);
			c = fw_lex_peek(lex);
		}
		if (!fw_lex_ok(lex))
			return;
		if (c == '{' || c == '[') {
			more = open_level(lex, &levels) || close_levels(lex, &levels);
			continue;
		}
		if (c == '"')
			read_string(lex, in_object(&levels) ? VALUE : ELEMENT, &text);
		else
			read_scalar(lex, &text);
		more = close_levels(lex, &levels);
	} while (more && fw_lex_ok(lex));
}

void fw_lex_value(struct fw_lex *lex, struct fw_lex_text *value)
{
	char c = fw_lex_peek(lex);

	*value = (struct fw_lex_text){ lex->p, 0, 0 };
	if (!fw_lex_ok(lex))
		return;
	if (c == '"')
		read_string(lex, VALUE, value);
	else if (c == '{' || c == '[')
		skip_container(lex);
	else
		read_scalar(lex, value);
}

void fw_lex_skip(struct fw_lex *lex)
{
	struct fw_lex_text ignored;

	fw_lex_value(lex, &ignored);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The printable ASCII character of the escape at p, behind the backslash; *p moves on. 0: another. */
static char plain_escape(const char **p, const char *end)
{
	int high, low;

	if (*p < end && strchr("\"\\/", **p))
		return *(*p)++;
	if (end - *p < 5 || memcmp(*p, "u00", 3) != 0)
		return 0;
	high = hex_digit((*p)[3]);
	low = hex_digit((*p)[4]);
	*p += 5;
	return high >= 2 && high < 8 && low >= 0 ? (char)(high << 4 | low) : 0;
}

void fw_lex_unescape(struct fw_lex *lex, struct fw_lex_text *text)
{
	const char *p = text->p, *end;
	size_t n = 0;

	if (text->flags != (FW_TEXT_QUOTED | FW_TEXT_ESCAPED))
		return;
	end = p + text->len;
	while (p < end) {
		char c = *p++;

		if (c == '\\')
			c = plain_escape(&p, end);
		if (!c || n == sizeof(lex->word))
			return;
		lex->word[n++] = c;
	}
	*text = (struct fw_lex_text){ lex->word, n, FW_TEXT_QUOTED };
}

/* Before a key or element: the comma between two, or the end of the container. */
static bool next_item(struct fw_lex *lex, bool is_first, char close)
{
	char c = fw_lex_peek(lex);

	if (!fw_lex_ok(lex))
		return false;
	if (c == close) {
		lex->p++;
		return false;
	}
	return is_first || fw_lex_expect(lex, ',');
}

bool fw_lex_key(struct fw_lex *lex, bool is_first, struct fw_lex_text *key)
{
	if (!next_item(lex, is_first, '}'))
		return false;
	if (fw_lex_peek(lex) != '"') {
		fw_lex_fail(lex, lex->p);
		return false;
	}
	*key = (struct fw_lex_text){ lex->p, 0, 0 };
	read_string(lex, KEY, key);
	if (key->flags & FW_TEXT_ESCAPED)
		fw_lex_unescape(lex, key);
	if (*lex->p != ':' || !fw_lex_ok(lex))
		return fw_lex_expect(lex, ':');
	lex->p++;
	return true;
}

bool fw_lex_element(struct fw_lex *lex, bool is_first)
{
	return next_item(lex, is_first, ']');
}
