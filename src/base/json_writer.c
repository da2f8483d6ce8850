#include "base/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

static void newline(struct fw_json *json)
{
	if (!json->indent)
		return;
	fw_str_putc(json->out, '\n');
	fw_str_repeat(json->out, " ", (size_t)(json->indent * json->depth));
}

static void put_escaped(struct fw_json *json, const char *text, size_t len)
{
	fw_str_putc(json->out, '"');
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = fw_utf8_length(text + i, len - i);

		if (!n)
			fw_str_puts(json->out, "\\ufffd");
		else if (c == '"' || c == '\\')
			fw_str_printf(json->out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fw_str_printf(json->out, "\\u%04x", c);
		else if (n == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			/* C1: controls for terminals that know them. */
			fw_str_printf(json->out, "\\u%04x", (unsigned char)text[i + 1]);
		else
			fw_str_append(json->out, text + i, n);
		i += n ? n : 1;
	}
	fw_str_putc(json->out, '"');
}

/* What comes before any value: comma, line, key. */
static void lead(struct fw_json *json, const char *key)
{
	if (json->has_items)
		fw_str_putc(json->out, ',');
	if (json->depth)
		newline(json);
	json->has_items = true;
	if (key) {
		put_escaped(json, key, strlen(key));
		fw_str_puts(json->out, json->indent ? ": " : ":");
	}
}

static void begin(struct fw_json *json, const char *key, char bracket)
{
	lead(json, key);
	fw_str_putc(json->out, bracket);
	json->depth++;
	json->has_items = false;
}

static void end(struct fw_json *json, char bracket)
{
	json->depth--;
	if (json->has_items)
		newline(json);
	fw_str_putc(json->out, bracket);
	json->has_items = true;
}

void fw_json_begin_object(struct fw_json *json, const char *key)
{
	begin(json, key, '{');
}

void fw_json_end_object(struct fw_json *json)
{
	end(json, '}');
}

void fw_json_begin_array(struct fw_json *json, const char *key)
{
	begin(json, key, '[');
}

void fw_json_end_array(struct fw_json *json)
{
	end(json, ']');
}

void fw_json_bytes(struct fw_json *json, const char *key, const char *text, size_t len)
{
	lead(json, key);
	put_escaped(json, text, len);
}

void fw_json_string(struct fw_json *json, const char *key, const char *text)
{
	if (text)
		fw_json_bytes(json, key, text, strlen(text));
	else
		fw_json_null(json, key);
}

void fw_json_int(struct fw_json *json, const char *key, int64_t value)
{
	lead(json, key);
	fw_str_printf(json->out, "%" PRId64, value);
}

void fw_json_uint(struct fw_json *json, const char *key, uint64_t value)
{
	lead(json, key);
	fw_str_printf(json->out, "%" PRIu64, value);
}

void fw_json_bool(struct fw_json *json, const char *key, bool value)
{
	lead(json, key);
	fw_str_puts(json->out, value ? "true" : "false");
}

void fw_json_number(struct fw_json *json, const char *key, const char *digits)
{
	lead(json, key);
	fw_str_puts(json->out, digits);
}

void fw_json_null(struct fw_json *json, const char *key)
{
	lead(json, key);
	fw_str_puts(json->out, "null");
}

void fw_json_double(struct fw_json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		fw_json_null(json, key);
		return;
	}
	lead(json, key);
	fw_str_printf(json->out, "%.9g", value);
}
