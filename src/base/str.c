#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a drain, so much gathers before it is handed over. */
#define DRAIN_BYTES ((size_t)1 << 18)

bool fw_str_drain(struct fw_str *str)
{
	if (str->len && !str->failed && !str->drain(str->user, str->data, str->len))
		str->failed = true;
	str->len = 0;
	return !str->failed;
}

/* Room for more bytes and the final NUL. */
static bool grow(struct fw_str *str, size_t more)
{
	size_t cap = str->cap ? str->cap : 64;
	char *data;

	if (str->failed || more > SIZE_MAX / 4 || str->len > SIZE_MAX / 4) {
		str->failed = true;
		return false;
	}
	if (str->drain && str->len >= DRAIN_BYTES && !fw_str_drain(str))
		return false;
	if (str->len + more < str->cap)
		return true;
	while (cap <= str->len + more)
		cap *= 2;
	data = realloc(str->data, cap);
	if (!data) {
		str->failed = true;
		return false;
	}
	str->data = data;
	str->cap = cap;
	return true;
}

void fw_str_append(struct fw_str *str, const char *bytes, size_t len)
{
	if (!len || !grow(str, len))
		return;
	memcpy(str->data + str->len, bytes, len);
	str->len += len;
	str->data[str->len] = '\0';
}

void fw_str_puts(struct fw_str *str, const char *text)
{
	fw_str_append(str, text, strlen(text));
}

void fw_str_putc(struct fw_str *str, char c)
{
	fw_str_append(str, &c, 1);
}

void fw_str_repeat(struct fw_str *str, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		fw_str_puts(str, text);
}

void fw_str_printf(struct fw_str *str, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !grow(str, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(str->data + str->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	str->len += (size_t)n;
}

const char *fw_str_text(const struct fw_str *str)
{
	return str->data ? str->data : "";
}

void fw_str_clear(struct fw_str *str)
{
	str->len = 0;
	str->failed = false;
	if (str->data)
		str->data[0] = '\0';
}

char *fw_str_detach(struct fw_str *str)
{
	char *text = NULL;

	if (grow(str, 0)) {
		str->data[str->len] = '\0';
		text = str->data;
		str->data = NULL;
	}
	fw_str_release(str);
	return text;
}

void fw_str_release(struct fw_str *str)
{
	free(str->data);
	str->data = NULL;
	str->len = str->cap = 0;
	str->failed = false;
}
