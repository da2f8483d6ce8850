/* PTX text -> words (PTX ISA, chapter 4, syntax). */
#include "binary/ptx_lex.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Words are made of the last two. */
enum class {
	CLASS_OTHER,
	CLASS_BLANK,
	CLASS_PREFIX, /* of registers and directives */
	CLASS_END,    /* of a statement, or of the text */
	CLASS_QUOTE,
	CLASS_SLASH,
	CLASS_WORD,
	CLASS_DIGIT
};

static const unsigned char class_of[256] = {
	[' '] = CLASS_BLANK,  ['\t'] = CLASS_BLANK, ['\n'] = CLASS_BLANK, ['\r'] = CLASS_BLANK,
	['\v'] = CLASS_BLANK, ['\f'] = CLASS_BLANK, ['0'] = CLASS_DIGIT,  ['1'] = CLASS_DIGIT,
	['2'] = CLASS_DIGIT,  ['3'] = CLASS_DIGIT,  ['4'] = CLASS_DIGIT,  ['5'] = CLASS_DIGIT,
	['6'] = CLASS_DIGIT,  ['7'] = CLASS_DIGIT,  ['8'] = CLASS_DIGIT,  ['9'] = CLASS_DIGIT,
	['a'] = CLASS_WORD,   ['b'] = CLASS_WORD,   ['c'] = CLASS_WORD,   ['d'] = CLASS_WORD,
	['e'] = CLASS_WORD,   ['f'] = CLASS_WORD,   ['g'] = CLASS_WORD,   ['h'] = CLASS_WORD,
	['i'] = CLASS_WORD,   ['j'] = CLASS_WORD,   ['k'] = CLASS_WORD,   ['l'] = CLASS_WORD,
	['m'] = CLASS_WORD,   ['n'] = CLASS_WORD,   ['o'] = CLASS_WORD,   ['p'] = CLASS_WORD,
	['q'] = CLASS_WORD,   ['r'] = CLASS_WORD,   ['s'] = CLASS_WORD,   ['t'] = CLASS_WORD,
	['u'] = CLASS_WORD,   ['v'] = CLASS_WORD,   ['w'] = CLASS_WORD,   ['x'] = CLASS_WORD,
	['y'] = CLASS_WORD,   ['z'] = CLASS_WORD,   ['A'] = CLASS_WORD,   ['B'] = CLASS_WORD,
	['C'] = CLASS_WORD,   ['D'] = CLASS_WORD,   ['E'] = CLASS_WORD,   ['F'] = CLASS_WORD,
	['G'] = CLASS_WORD,   ['H'] = CLASS_WORD,   ['I'] = CLASS_WORD,   ['J'] = CLASS_WORD,
	['K'] = CLASS_WORD,   ['L'] = CLASS_WORD,   ['M'] = CLASS_WORD,   ['N'] = CLASS_WORD,
	['O'] = CLASS_WORD,   ['P'] = CLASS_WORD,   ['Q'] = CLASS_WORD,   ['R'] = CLASS_WORD,
	['S'] = CLASS_WORD,   ['T'] = CLASS_WORD,   ['U'] = CLASS_WORD,   ['V'] = CLASS_WORD,
	['W'] = CLASS_WORD,   ['X'] = CLASS_WORD,   ['Y'] = CLASS_WORD,   ['Z'] = CLASS_WORD,
	['\0'] = CLASS_END,   [';'] = CLASS_END,    ['{'] = CLASS_END,    ['}'] = CLASS_END,
	['%'] = CLASS_PREFIX, ['.'] = CLASS_PREFIX, ['"'] = CLASS_QUOTE,  ['/'] = CLASS_SLASH,
	['_'] = CLASS_WORD,   ['$'] = CLASS_WORD,
};

static const char *find(const struct fw_ptx_lexer *lexer, const char *from, const char *what)
{
	const char *p = from < lexer->end
				? memmem(from, (size_t)(lexer->end - from), what, strlen(what))
				: NULL;

	return p ? p + strlen(what) : lexer->end;
}

static void skip_blanks(struct fw_ptx_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		if (class_of[(unsigned char)*lexer->at] == CLASS_BLANK)
			lexer->at++;
		else if (*lexer->at != '/' || lexer->end - lexer->at < 2)
			return;
		else if (lexer->at[1] == '/')
			lexer->at = find(lexer, lexer->at, "\n");
		else if (lexer->at[1] == '*')
			lexer->at = find(lexer, lexer->at + 2, "*/");
		else
			return;
	}
}

static const char *word_end(const struct fw_ptx_lexer *lexer, const char *p)
{
	while (p < lexer->end && class_of[(unsigned char)*p] >= CLASS_WORD)
		p++;
	return p;
}

static const char *string_end(const struct fw_ptx_lexer *lexer, const char *p)
{
	while (p < lexer->end && *p != '"') {
		if (*p == '\\' && p + 1 < lexer->end)
			p++;
		p++;
	}
	return p < lexer->end ? p + 1 : p;
}

struct fw_ptx_token fw_ptx_next(struct fw_ptx_lexer *lexer)
{
	struct fw_ptx_token token = { FW_PTX_END, lexer->end, 0 };
	const char *p;
	unsigned char class;

	skip_blanks(lexer);
	if (lexer->at >= lexer->end || !*lexer->at)
		return token;
	token.text = p = lexer->at;
	class = class_of[(unsigned char)*p];
	if (class >= CLASS_WORD) {
		token.kind = class == CLASS_WORD ? FW_PTX_NAME : FW_PTX_NUMBER;
		p = word_end(lexer, p);
	} else if (*p == '%' || *p == '.') {
		p = word_end(lexer, p + 1);
		token.kind = *token.text == '%' ? FW_PTX_REGISTER : FW_PTX_DIRECTIVE;
		if (p == token.text + 1)
			token.kind = FW_PTX_MARK;
	} else if (*p == '"') {
		token.kind = FW_PTX_STRING;
		p = string_end(lexer, p + 1);
	} else {
		token.kind = FW_PTX_MARK;
		p++;
	}
	lexer->at = p;
	token.len = (size_t)(p - token.text);
	return token;
}

const char *fw_ptx_skip_scalar(const char *p, const char *end)
{
	while (p < end) {
		enum class class = class_of[(unsigned char)*p];

		if (class == CLASS_WORD || class == CLASS_END || class == CLASS_QUOTE ||
		    class == CLASS_SLASH)
			return p;
		p++;
		if (class == CLASS_PREFIX || class == CLASS_DIGIT) {
			while (p < end && class_of[(unsigned char)*p] >= CLASS_WORD)
				p++;
		}
	}
	return p;
}

#ifdef __SSE2__

static inline __m128i is_byte(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static inline __m128i is_between(__m128i v, char low, char high)
{
	v = _mm_sub_epi8(v, _mm_set1_epi8(low));
	return is_byte(_mm_subs_epu8(v, _mm_set1_epi8((char)(high - low))), 0);
}

/* Bit i of each mask: what byte i of the 16 is. The same classes as in class_of. */
static inline void classify(const char *p, unsigned *words, unsigned *digits, unsigned *prefixes,
			    unsigned *stops)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i number = is_between(v, '0', '9');
	__m128i word = _mm_or_si128(is_between(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 'z'),
				    _mm_or_si128(is_byte(v, '_'), is_byte(v, '$')));
	__m128i stop = _mm_or_si128(_mm_or_si128(is_byte(v, ';'), is_byte(v, '{')),
				    _mm_or_si128(is_byte(v, '}'), is_byte(v, '"')));

	stop = _mm_or_si128(stop, _mm_or_si128(is_byte(v, '/'), is_byte(v, 0)));
	*digits = (unsigned)_mm_movemask_epi8(number);
	*words = (unsigned)_mm_movemask_epi8(word) | *digits;
	*prefixes = (unsigned)_mm_movemask_epi8(_mm_or_si128(is_byte(v, '%'), is_byte(v, '.')));
	*stops = (unsigned)_mm_movemask_epi8(stop);
}

const char *fw_ptx_skip(const char *p, const char *end)
{
	unsigned carry = 0; /* the byte before was part of a word or a prefix */

	while (end - p >= 16) {
		unsigned words, digits, prefixes, stops, found;

		classify(p, &words, &digits, &prefixes, &stops);
		found = (words & ~digits & ~((words | prefixes) << 1 | carry)) | stops;
		if (found)
			return p + __builtin_ctz(found);
		carry = (words | prefixes) >> 15 & 1;
		p += 16;
	}
	/* The rest of a word or number that the last block began is no name. */
	while (carry && p < end && class_of[(unsigned char)*p] >= CLASS_WORD)
		p++;
	return fw_ptx_skip_scalar(p, end);
}

#else

const char *fw_ptx_skip(const char *p, const char *end)
{
	return fw_ptx_skip_scalar(p, end);
}

#endif

/* Steps over a string, comment or lone slash. */
static const char *skip_special(struct fw_ptx_lexer *lexer, const char *p)
{
	if (*p == '"')
		return string_end(lexer, p + 1);
	lexer->at = p;
	skip_blanks(lexer);
	return lexer->at > p ? lexer->at : p + 1;
}

struct fw_ptx_token fw_ptx_next_name(struct fw_ptx_lexer *lexer)
{
	struct fw_ptx_token token = { FW_PTX_END, lexer->end, 0 };
	const char *p = fw_ptx_skip(lexer->at, lexer->end);

	while (p < lexer->end && (*p == '"' || *p == '/'))
		p = fw_ptx_skip(skip_special(lexer, p), lexer->end);
	lexer->at = p;
	/* The text ends at NUL, and stays there. */
	if (p >= lexer->end || !*p)
		return token;
	token.text = p;
	token.kind = FW_PTX_MARK;
	p++;
	if (class_of[(unsigned char)*token.text] == CLASS_WORD) {
		token.kind = FW_PTX_NAME;
		p = word_end(lexer, p);
	}
	token.len = (size_t)(p - token.text);
	lexer->at = p;
	return token;
}

bool fw_ptx_skip_colon(struct fw_ptx_lexer *lexer)
{
	const char *p = lexer->at;

	while (p < lexer->end && class_of[(unsigned char)*p] == CLASS_BLANK)
		p++;
	if (p >= lexer->end || *p != ':')
		return false;
	lexer->at = p + 1;
	return true;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

bool fw_ptx_number(const struct fw_ptx_token *token, uint64_t *value)
{
	const char *p = token->text, *end = p + token->len;
	unsigned base = 10;

	if (token->kind != FW_PTX_NUMBER)
		return false;
	if (end[-1] == 'U')
		end--;
	if (end - p > 1 && *p == '0') {
		base = p[1] == 'x' || p[1] == 'X' ? 16 : p[1] == 'b' || p[1] == 'B' ? 2 : 8;
		p += base == 8 ? 1 : 2;
	}
	*value = 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned digit = digit_of(*p);

		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return true;
}
