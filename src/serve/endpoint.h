#ifndef FW_SERVE_ENDPOINT_H
#define FW_SERVE_ENDPOINT_H
/* Paths to what they stand for. */

enum fw_endpoint {
#define FW_ENDPOINT(id, name, method) FW_ENDPOINT_##id,
#include "serve/endpoints.def"
#undef FW_ENDPOINT
	FW_ENDPOINT_COUNT
};

/*
 * NONE: there is no such path, or no such model or version. path: without the query, percent-decoded. A path of HEAD is
 * one of GET.
 */
enum fw_endpoint fw_endpoint_find(const char *path, const char *model);

/* "infer"; "POST"; static storage. */
const char *fw_endpoint_name(enum fw_endpoint endpoint);
const char *fw_endpoint_method(enum fw_endpoint endpoint);

#endif
