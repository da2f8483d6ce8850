#ifndef FW_TUNE_JSON_H
#define FW_TUNE_JSON_H
/*
 * A strict cursor over JSON (RFC 8259) that lies in memory whole: for the lines of a tuning cache and for recorded
 * spaces, which are small beside a trace. Any bytes are accepted: once the text is found wrong, `wrong` says where and
 * every call does nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_TUNE_JSON_DEPTH 64

struct fw_tune_json {
	const char *p, *end;
	const char *wrong; /* NULL: nothing wrong so far */
	unsigned depth;
	bool is_first; /* nothing of the open container was read yet */
};

void fw_tune_json_init(struct fw_tune_json *json, const char *text, size_t len);

/* The first byte of the value that comes, '0' for every number; 0: none, or wrong. */
char fw_tune_json_kind(struct fw_tune_json *json);

/* Steps into an object ('{') or array ('['). False: it is none, and nothing is wrong yet. */
bool fw_tune_json_enter(struct fw_tune_json *json, char bracket);
/* The next key of the open object, cut to size; false: the object has ended (it is left), or wrong. */
bool fw_tune_json_key(struct fw_tune_json *json, char *key, size_t size);
/* There is a next element in the open array; false: it has ended, or wrong. */
bool fw_tune_json_element(struct fw_tune_json *json);

/*
 * A string, number or word as text, without quotes and escapes, cut to size; true if it fitted. A container is stepped
 * over and gives "" and false.
 */
bool fw_tune_json_text(struct fw_tune_json *json, char *text, size_t size);
/* A number; a value of another kind is stepped over and gives false. */
bool fw_tune_json_number(struct fw_tune_json *json, double *number);
/* A whole number from 0 to most; anything else is stepped over and gives false. */
bool fw_tune_json_count(struct fw_tune_json *json, uint64_t most, uint64_t *count);
void fw_tune_json_skip(struct fw_tune_json *json);

/* Only white space is left, no container is open, nothing was wrong. */
bool fw_tune_json_is_at_end(struct fw_tune_json *json);

#endif
