#ifndef FW_BASE_JSON_WRITER_H
#define FW_BASE_JSON_WRITER_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes JSON (RFC 8259) into a string: commas, escapes, indentation and nesting are its business.
 * One thread. Bytes that are not UTF-8 become U+FFFD, so the output is always valid UTF-8.
 * `key` is NULL inside arrays. Initialise with {.out = &str, .indent = 0 or 2}.
 */
struct fw_json {
	struct fw_str *out;
	int indent; /* spaces a level; 0: everything on one line */
	int depth;
	bool has_items;
};

void fw_json_begin_object(struct fw_json *json, const char *key);
void fw_json_end_object(struct fw_json *json);
void fw_json_begin_array(struct fw_json *json, const char *key);
void fw_json_end_array(struct fw_json *json);

void fw_json_string(struct fw_json *json, const char *key, const char *text); /* NULL: null */
void fw_json_bytes(struct fw_json *json, const char *key, const char *text, size_t len);
void fw_json_int(struct fw_json *json, const char *key, int64_t value);
void fw_json_uint(struct fw_json *json, const char *key, uint64_t value);
void fw_json_bool(struct fw_json *json, const char *key, bool value);
/* A number that is written out already, as JSON wants it. */
void fw_json_number(struct fw_json *json, const char *key, const char *digits);
void fw_json_null(struct fw_json *json, const char *key);

/* Shortest of up to 9 significant digits; NaN and infinities are written as null. */
void fw_json_double(struct fw_json *json, const char *key, double value);

#endif
