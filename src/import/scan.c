#include "import/scan.h"

#include <stdint.h>

const char *fw_scan_string_plain(const char *p, bool *high)
{
	bool seen = false;

	for (; *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20; p++)
		seen |= (unsigned char)*p >= 0x80;
	*high |= seen;
	return p;
}

int fw_scan_short_plain(const char *p)
{
	for (int i = 0; i < 16; i++) {
		if (p[i] == '"')
			return i;
		if (p[i] == '\\' || (unsigned char)p[i] < 0x20 || (unsigned char)p[i] > 0x7f)
			return -1;
	}
	return -1;
}

const char *fw_scan_space_plain(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

/* One bit a level, the innermost last: set for an object. */
struct levels {
	uint64_t is_object;
	unsigned depth;
};

/* The last byte before p that is no white space; there is one, since the container was opened. */
static char byte_before(const char *p)
{
	do
		p--;
	while ((unsigned char)*p <= ' ');
	return *p;
}

/* Takes the bracket at p; false if it cannot be there. */
static bool take_bracket(struct levels *levels, const char *p)
{
	bool is_object = *p == '{' || *p == '}';

	if (*p == '{' || *p == '[') {
		if (levels->depth == FW_SCAN_DEPTH ||
		    (levels->is_object & 1 && byte_before(p) != ':'))
			return false;
		levels->is_object = levels->is_object << 1 | (uint64_t)is_object;
		levels->depth++;
		return true;
	}
	if ((levels->is_object & 1) != is_object)
		return false;
	levels->is_object >>= 1;
	levels->depth--;
	return true;
}

static bool is_separator(char c)
{
	return (unsigned char)c <= ' ' || c == ',' || c == ':' || c == '{' || c == '}' ||
	       c == '[' || c == ']';
}

/* From a quote to behind the one that ends its string, or to end; NULL if that is not plain. */
static const char *scan_quoted(const char *p, const char *end)
{
	if (!is_separator(p[-1]))
		return NULL;
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' || (unsigned char)*p < 0x20)
			return NULL;
	if (p == end)
		return end;
	p++;
	return p == end || is_separator(*p) ? p : NULL;
}

const char *fw_scan_closing_plain(const char *p, const char *end, bool is_object)
{
	struct levels levels = { is_object, 1 };

	while (p < end) {
		if (*p == '"') {
			p = scan_quoted(p, end);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '\\')
			return NULL;
		if ((*p == '{' || *p == '}' || *p == '[' || *p == ']') && !take_bracket(&levels, p))
			return NULL;
		p++;
		if (!levels.depth)
			return p;
	}
	return end + 1;
}

#ifdef __SSE2__

/* One bit a byte of 64 bytes, the first the lowest. */
struct block {
	uint64_t quotes, backslashes, brackets, controls, separators;
};

static inline uint64_t bits(__m128i equal, unsigned at)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(equal) << at;
}

static inline void classify(const char *p, struct block *b)
{
	const __m128i control = _mm_set1_epi8(0x1f), blank = _mm_set1_epi8(0x20);
	const __m128i fold = _mm_set1_epi8(0x20);

	*b = (struct block){ 0, 0, 0, 0, 0 };
	for (unsigned at = 0; at < 64; at += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
		/* '[' and '{', ']' and '}' differ in bit 0x20 only. */
		__m128i folded = _mm_or_si128(x, fold);
		__m128i bracket = _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
					       _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
		__m128i mark = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(',')),
					    _mm_cmpeq_epi8(x, _mm_set1_epi8(':')));
		__m128i space = _mm_cmpeq_epi8(_mm_max_epu8(x, blank), blank);

		b->quotes |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), at);
		b->backslashes |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')), at);
		b->controls |= bits(_mm_cmpeq_epi8(_mm_max_epu8(x, control), control), at);
		b->brackets |= bits(bracket, at);
		b->separators |= bits(_mm_or_si128(_mm_or_si128(bracket, mark), space), at);
	}
}

/* Bit i is the parity of bits 0 to i: set from an opening quote up to before the closing one. */
static inline uint64_t parity_up_to(uint64_t x)
{
	x ^= x << 1;
	x ^= x << 2;
	x ^= x << 4;
	x ^= x << 8;
	x ^= x << 16;
	x ^= x << 32;
	return x;
}

/* What one block hands to the next. */
struct carry {
	uint64_t in_string;  /* all bits set inside a string */
	uint64_t was_closed; /* 1: the last byte closed a string */
	uint64_t separated;  /* 1: the last byte was a separator */
};

/* The bytes at which it is no longer plain what the text means; *outside: brackets outside strings. */
static inline uint64_t find_doubts(const struct block *b, struct carry *carry, uint64_t *outside)
{
	uint64_t inside = parity_up_to(b->quotes) ^ carry->in_string;
	uint64_t opening = b->quotes & inside, closing = b->quotes & ~inside;
	uint64_t doubts = b->backslashes | (b->controls & inside);

	doubts |= (closing << 1 | carry->was_closed) & ~b->separators;
	doubts |= opening & ~(b->separators << 1 | carry->separated);
	carry->in_string = (uint64_t)((int64_t)inside >> 63);
	carry->was_closed = closing >> 63;
	carry->separated = b->separators >> 63;
	*outside = b->brackets & ~inside;
	return doubts;
}

const char *fw_scan_closing(const char *p, const char *end, bool is_object)
{
	struct levels levels = { is_object, 1 };
	struct carry carry = { 0, 0, is_separator(p[-1]) };

	for (; p < end; p += 64) {
		struct block b;
		uint64_t text = end - p < 64 ? (UINT64_C(1) << (end - p)) - 1 : UINT64_MAX;
		uint64_t doubts, brackets;

		classify(p, &b);
		doubts = find_doubts(&b, &carry, &brackets) & text;
		for (brackets &= text; brackets; brackets &= brackets - 1) {
			unsigned at = (unsigned)__builtin_ctzll(brackets);

			/* What stands behind a doubt means nothing. */
			if (doubts << (63 - at) || !take_bracket(&levels, p + at))
				return NULL;
			if (!levels.depth)
				return p + at + 1;
		}
		if (doubts)
			return NULL;
	}
	return end + 1;
}

#else

const char *fw_scan_closing(const char *p, const char *end, bool is_object)
{
	return fw_scan_closing_plain(p, end, is_object);
}

#endif
