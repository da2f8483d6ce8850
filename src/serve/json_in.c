/* libjansson allocates with functions of ours, which count for each thread. */
#include "serve/json_in.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* An infer request of the protocol needs 4 levels beside its data, and 5 for that. */
#define MAX_DEPTH 32

/* What the tree that this thread parses takes, and may take. */
static _Thread_local size_t used_bytes, most_bytes;
static _Thread_local bool is_refused;

static void *take(size_t size)
{
	void *memory;

	if (size > most_bytes || used_bytes > most_bytes - size) {
		is_refused = true;
		return NULL;
	}
	memory = malloc(size);
	if (memory)
		used_bytes += malloc_usable_size(memory);
	return memory;
}

static void give(void *memory)
{
	if (memory)
		used_bytes -= malloc_usable_size(memory);
	free(memory);
}

void fw_json_in_init(void)
{
	json_set_alloc_funcs(take, give);
	json_object_seed(0); /* from the system's random numbers */
}

/* libjansson recurses for every level. */
static bool is_flat(const char *text, size_t len, size_t *at)
{
	bool is_quoted = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		*at = i;
		if (is_quoted && c == '\\')
			i++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (c == '[' || c == '{') && ++depth > MAX_DEPTH)
			return false;
		else if (!is_quoted && (c == ']' || c == '}'))
			depth--;
	}
	return true;
}

fw_status fw_json_in_parse(const void *text, size_t len, size_t max_bytes, json_t **tree,
			   struct fw_error *err)
{
	json_error_t error;
	json_t *made;
	size_t at = 0;

	if (!is_flat(text, len, &at))
		return fw_fail(err, FW_ERR_FORMAT, "JSON, byte %zu: nested deeper than %d levels",
			       at, MAX_DEPTH);
	most_bytes = max_bytes;
	is_refused = false;
	made = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!made && is_refused)
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"its JSON takes more than the %zu bytes allowed when it is read: send "
			"tensors as binary data",
			max_bytes);
	if (!made)
		return fw_fail(err, FW_ERR_FORMAT, "JSON, byte %d: %s", error.position, error.text);
	if (!json_is_object(made)) {
		json_decref(made);
		return fw_fail(err, FW_ERR_FORMAT, "JSON: not an object");
	}
	*tree = made;
	return FW_OK;
}
