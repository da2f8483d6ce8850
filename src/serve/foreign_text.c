/* Names of files are foreign. */
#include "serve/foreign_text.h"

#include "base/utf8.h"

#include <string.h>

void fw_serve_print_safely(FILE *to, const char *text)
{
	size_t len = strlen(text), n;

	for (size_t i = 0; i < len; i += n) {
		n = text[i] == '\n' ? 1 : fw_utf8_printable(text + i, len - i);
		if (n)
			fwrite(text + i, 1, n, to);
		else
			fputc('?', to);
		n += !n;
	}
}
