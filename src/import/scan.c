#include "import/scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char *fw_scan_string_plain(const char *p, bool *high)
{
	bool seen = false;

	for (; *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20; p++)
		seen |= (unsigned char)*p >= 0x80;
	*high |= seen;
	return p;
}

const char *fw_scan_space_plain(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

#ifdef __SSE2__

const char *fw_scan_string(const char *p, bool *high)
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
			unsigned at = (unsigned)__builtin_ctz(stops);

			*high |= (highs & ((1u << at) - 1)) != 0;
			return p + at;
		}
		*high |= highs != 0;
	}
}

const char *fw_scan_space(const char *p)
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

const char *fw_scan_string(const char *p, bool *high)
{
	return fw_scan_string_plain(p, high);
}

const char *fw_scan_space(const char *p)
{
	return fw_scan_space_plain(p);
}

#endif
