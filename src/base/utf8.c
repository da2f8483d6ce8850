#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Decodes one character; returns its length, 0 if malformed (RFC 3629: no overlong, no surrogate). */
static size_t decode(const char *text, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t n;

	if (!len)
		return 0;
	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return 0;
	*code = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return n;
}

size_t fw_utf8_length(const char *text, size_t len)
{
	uint32_t code;

	return decode(text, len, &code);
}

size_t fw_utf8_printable(const char *text, size_t len)
{
	uint32_t code = 0;
	size_t n = decode(text, len, &code);
	bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	bool is_direction =
		(code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);

	return is_control || is_direction ? 0 : n;
}

/* The blocks of Unicode 15 whose characters a terminal draws two columns wide (coarse). */
static size_t columns(uint32_t c)
{
	if (c >= 0x300 && c < 0x370)
		return 0;
	if ((c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) ||
	    (c >= 0xac00 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) ||
	    (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
	    (c >= 0x1f300 && c < 0x1f650) || (c >= 0x20000 && c < 0x30000))
		return 2;
	return 1;
}

size_t fw_utf8_cut(const char *text, size_t len, size_t width)
{
	size_t i = 0, used = 0;

	while (i < len) {
		uint32_t code = 0;
		size_t n = decode(text + i, len - i, &code);
		size_t w = n ? columns(code) : 1;

		if (used + w > width)
			break;
		used += w;
		i += n ? n : 1;
	}
	return i;
}

size_t fw_utf8_width(const char *text, size_t len)
{
	size_t i = 0, used = 0;

	while (i < len) {
		uint32_t code = 0;
		size_t n = decode(text + i, len - i, &code);

		used += n ? columns(code) : 1;
		i += n ? n : 1;
	}
	return used;
}
