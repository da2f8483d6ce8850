#include "serve/base64.h"

#include <stdint.h>
#include <string.h>

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool fw_base64_decode(const char *text, size_t len, unsigned char *to, size_t *size)
{
	uint32_t bits = 0;
	size_t n = 0;

	if (len % 4 == 0 && len && text[len - 1] == '=')
		len -= text[len - 2] == '=' ? 2 : 1;
	if (len % 4 == 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4) /* the first of four characters has no whole byte yet */
			to[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	*size = n;
	return true;
}
