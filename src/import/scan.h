#ifndef FW_IMPORT_SCAN_H
#define FW_IMPORT_SCAN_H
/*
 * The inner loops of the reader, each with a plain twin that says what it means and that is used
 * where there is no SSE2. They read up to 16 bytes past what they find, never past the padding.
 */
#include <stdbool.h>
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first byte at or after p that is a quote, a backslash or below 0x20; *high: one over 0x7f before it. */
const char *fw_scan_string_plain(const char *p, bool *high);

/* The first byte at or after p that is not a blank, tab, newline or carriage return. */
const char *fw_scan_space_plain(const char *p);

/* Bytes before the quote that ends a string without anything special in it; -1: over 15, or special. */
int fw_scan_short_plain(const char *p);

#ifdef __SSE2__

static inline int fw_scan_short(const char *p)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned quotes = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
	/* As signed bytes, those over 0x7f are below 0x20 too. */
	__m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')),
				       _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
	unsigned specials = (unsigned)_mm_movemask_epi8(special);

	/* The bits below the first quote; none, if there is no quote. */
	if (!quotes || specials & (quotes - 1) & ~quotes)
		return -1;
	return __builtin_ctz(quotes);
}

static inline const char *fw_scan_string(const char *p, bool *high)
{
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	const __m128i least = _mm_set1_epi8(0x1f);

	for (;; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
					   _mm_cmpeq_epi8(bytes, backslash));
		unsigned stops, highs = (unsigned)_mm_movemask_epi8(bytes);

		/* Unsigned bytes <= 0x1f are those that the maximum with 0x1f leaves at 0x1f. */
		hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_max_epu8(bytes, least), least));
		stops = (unsigned)_mm_movemask_epi8(hit);
		if (stops) {
			/* The bits below the first stop. */
			*high |= (highs & (stops - 1) & ~stops) != 0;
			return p + __builtin_ctz(stops);
		}
		*high |= highs != 0;
	}
}

static inline const char *fw_scan_space(const char *p)
{
	const __m128i blank = _mm_set1_epi8(' '), line = _mm_set1_epi8('\n');
	const __m128i tab = _mm_set1_epi8('\t'), cr = _mm_set1_epi8('\r');

	for (;; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i space = _mm_or_si128(
			_mm_or_si128(_mm_cmpeq_epi8(bytes, blank), _mm_cmpeq_epi8(bytes, line)),
			_mm_or_si128(_mm_cmpeq_epi8(bytes, tab), _mm_cmpeq_epi8(bytes, cr)));
		unsigned stops = ~(unsigned)_mm_movemask_epi8(space) & 0xffff;

		if (stops)
			return p + __builtin_ctz(stops);
	}
}

#else

static inline int fw_scan_short(const char *p)
{
	return fw_scan_short_plain(p);
}

static inline const char *fw_scan_string(const char *p, bool *high)
{
	return fw_scan_string_plain(p, high);
}

static inline const char *fw_scan_space(const char *p)
{
	return fw_scan_space_plain(p);
}

#endif

/*
 * From inside an object (is_object) or array, outside of strings, to behind the bracket that closes
 * it; a pointer past end where the text ends first. NULL where it is not plain to see, and slower
 * reading has to look: a backslash, a control character in a string, a quote that does not stand
 * beside white space, comma, colon or bracket, brackets that do not match, an object inside an object
 * without a colon, or more than FW_SCAN_DEPTH levels. Reads up to 63 bytes past end.
 */
#define FW_SCAN_DEPTH 60
const char *fw_scan_closing(const char *p, const char *end, bool is_object);
const char *fw_scan_closing_plain(const char *p, const char *end, bool is_object);

#endif
