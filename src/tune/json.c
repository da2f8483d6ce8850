#include "tune/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fw_tune_json_init(struct fw_tune_json *json, const char *text, size_t len)
{
	*json = (struct fw_tune_json){ .p = text, .end = text + len, .is_first = true };
}

static void fail(struct fw_tune_json *json)
{
	if (!json->wrong)
		json->wrong = json->p;
}

static char peek(struct fw_tune_json *json)
{
	if (json->wrong)
		return 0;
	while (json->p < json->end &&
	       (*json->p == ' ' || *json->p == '\t' || *json->p == '\n' || *json->p == '\r'))
		json->p++;
	return json->p < json->end ? *json->p : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

char fw_tune_json_kind(struct fw_tune_json *json)
{
	char c = peek(json);

	return c == '-' || is_digit(c) ? '0' : c;
}

bool fw_tune_json_enter(struct fw_tune_json *json, char bracket)
{
	if (peek(json) != bracket)
		return false;
	if (json->depth == FW_TUNE_JSON_DEPTH) {
		fail(json);
		return false;
	}
	json->p++;
	json->depth++;
	json->is_first = true;
	return true;
}

/* The comma before the next item; false: the container's end was stepped over, or wrong. */
static bool next_item(struct fw_tune_json *json, char closing)
{
	char c = peek(json);

	if (json->wrong)
		return false;
	if (c == closing && json->depth) {
		json->p++;
		json->depth--;
		json->is_first = false;
		return false;
	}
	if (!json->is_first) {
		if (c != ',') {
			fail(json);
			return false;
		}
		json->p++;
		c = peek(json);
	}
	json->is_first = false;
	if (!c || c == ']' || c == '}')
		fail(json);
	return !json->wrong;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u; -1: they are none. */
static int read_code(struct fw_tune_json *json)
{
	int code = 0;

	for (int i = 0; i < 4; i++) {
		int digit = json->p < json->end ? hex_digit(*json->p) : -1;

		if (digit < 0)
			return -1;
		code = code * 16 + digit;
		json->p++;
	}
	return code;
}

/* One escape behind its backslash, as a byte; what is not ASCII becomes '?': names and numbers are all we look for. */
static int read_escape(struct fw_tune_json *json)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	char c;
	int code;

	if (json->p >= json->end)
		return -1;
	c = *json->p++;
	if (c == 'u') {
		code = read_code(json);
		return code > 0 && code < 0x80 ? code : code < 0 ? -1 : '?';
	}
	at = c ? strchr(from, c) : NULL;
	return at ? to[at - from] : -1;
}

/* A string at its opening quote; text may be NULL. */
static bool read_string(struct fw_tune_json *json, char *text, size_t size)
{
	size_t len = 0, kept = 0;

	json->p++;
	while (json->p < json->end && *json->p != '"') {
		int c = (unsigned char)*json->p++;

		if (c < 0x20)
			c = -1;
		else if (c == '\\')
			c = read_escape(json);
		if (c < 0) {
			fail(json);
			break;
		}
		if (text && kept + 1 < size)
			text[kept++] = (char)c;
		len++;
	}
	if (text && size)
		text[kept] = '\0';
	if (json->p >= json->end)
		fail(json);
	else
		json->p++;
	return !json->wrong && len == kept;
}

bool fw_tune_json_key(struct fw_tune_json *json, char *key, size_t size)
{
	if (!next_item(json, '}'))
		return false;
	if (*json->p != '"') {
		fail(json);
		return false;
	}
	read_string(json, key, size);
	if (peek(json) != ':')
		fail(json);
	else
		json->p++;
	return !json->wrong;
}

bool fw_tune_json_element(struct fw_tune_json *json)
{
	return next_item(json, ']');
}

static void step_digits(struct fw_tune_json *json)
{
	if (json->p >= json->end || !is_digit(*json->p))
		fail(json);
	while (json->p < json->end && is_digit(*json->p))
		json->p++;
}

static void step_number(struct fw_tune_json *json)
{
	if (*json->p == '-')
		json->p++;
	if (json->p < json->end && *json->p == '0')
		json->p++;
	else
		step_digits(json);
	if (json->p < json->end && *json->p == '.') {
		json->p++;
		step_digits(json);
	}
	if (json->p < json->end && (*json->p | 0x20) == 'e') {
		json->p++;
		if (json->p < json->end && (*json->p == '+' || *json->p == '-'))
			json->p++;
		step_digits(json);
	}
}

/* true, false, null, and what Python writes for numbers that JSON has no words for. */
static void step_word(struct fw_tune_json *json)
{
	static const char *const words[] = { "true", "false", "null", "NaN", "Infinity" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(json->end - json->p) >= len && !memcmp(json->p, words[i], len)) {
			json->p += len;
			return;
		}
	}
	fail(json);
}

/* Steps over a value that is no container; its bytes. */
static const char *step_scalar(struct fw_tune_json *json, size_t *len)
{
	char kind = fw_tune_json_kind(json);
	const char *start = json->p;

	if (kind == '"')
		read_string(json, NULL, 0);
	else if (kind == '0')
		step_number(json);
	else
		step_word(json);
	*len = json->wrong ? 0 : (size_t)(json->p - start);
	return start;
}

/* Brackets of both kinds must match: a bit for each open one, set for an object. */
static void skip_container(struct fw_tune_json *json)
{
	unsigned bottom = json->depth;
	uint64_t is_object[FW_TUNE_JSON_DEPTH / 64 + 1] = { 0 };

	for (;;) {
		char kind = fw_tune_json_kind(json);
		unsigned d;
		size_t len;

		if (kind == '{' || kind == '[') {
			if (!fw_tune_json_enter(json, kind))
				return;
			d = json->depth - 1;
			is_object[d / 64] &= ~(UINT64_C(1) << d % 64);
			is_object[d / 64] |= (uint64_t)(kind == '{') << d % 64;
		} else {
			step_scalar(json, &len);
		}
		do {
			if (json->wrong || json->depth == bottom)
				return;
			d = json->depth - 1;
		} while (is_object[d / 64] >> d % 64 & 1 ? !fw_tune_json_key(json, NULL, 0)
							 : !fw_tune_json_element(json));
	}
}

void fw_tune_json_skip(struct fw_tune_json *json)
{
	size_t len;
	char kind = fw_tune_json_kind(json);

	if (kind == '{' || kind == '[')
		skip_container(json);
	else
		step_scalar(json, &len);
}

bool fw_tune_json_text(struct fw_tune_json *json, char *text, size_t size)
{
	char kind = fw_tune_json_kind(json);
	const char *start;
	size_t len;

	text[0] = '\0';
	if (kind == '"')
		return read_string(json, text, size);
	if (kind == '{' || kind == '[') {
		skip_container(json);
		return false;
	}
	start = step_scalar(json, &len);
	if (json->wrong || len >= size)
		return false;
	memcpy(text, start, len);
	text[len] = '\0';
	return true;
}

bool fw_tune_json_number(struct fw_tune_json *json, double *number)
{
	bool is_number = fw_tune_json_kind(json) == '0';
	char text[64];
	char *end;

	if (!is_number) {
		fw_tune_json_skip(json);
		return false;
	}
	if (!fw_tune_json_text(json, text, sizeof(text)))
		return false;
	*number = strtod(text, &end);
	return !*end && isfinite(*number);
}

bool fw_tune_json_count(struct fw_tune_json *json, uint64_t most, uint64_t *count)
{
	bool is_number = fw_tune_json_kind(json) == '0';
	char text[24];
	char *end;

	if (!fw_tune_json_text(json, text, sizeof(text)) || !is_number || text[0] == '-')
		return false;
	errno = 0;
	*count = strtoull(text, &end, 10);
	return !*end && !errno && *count <= most;
}

bool fw_tune_json_is_at_end(struct fw_tune_json *json)
{
	return !peek(json) && !json->wrong && !json->depth && json->p == json->end;
}
