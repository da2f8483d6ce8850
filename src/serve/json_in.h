#ifndef FW_SERVE_JSON_IN_H
#define FW_SERVE_JSON_IN_H
/* JSON of a client through libjansson, with bounds on its depth and on the memory that its tree may take. */
#include "base/error.h"

#include <jansson.h>

/* Before any other thread parses. */
void fw_json_in_init(void);

/*
 * The tree, an object, for json_decref by the same thread. FW_ERR_FORMAT: not JSON (the place), a key twice, or not an
 * object; FW_ERR_UNSUPPORTED: its tree would take more than max_bytes.
 */
fw_status fw_json_in_parse(const void *text, size_t len, size_t max_bytes, json_t **tree,
			   struct fw_error *err);

#endif
