#ifndef FW_SERVE_BEARER_H
#define FW_SERVE_BEARER_H
/* Who may ask: whoever sends one of the tokens of a file. Immutable. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fw_bearer {
	char *text; /* owned: the file, lines ended by NUL */
	size_t bytes;
	unsigned count; /* of tokens */
};

/* One token a line, empty lines apart. FW_ERR_FORMAT: there is none, or one shorter than 16 characters. */
fw_status fw_bearer_read(struct fw_bearer *bearer, const char *path, struct fw_error *err);

/*
 * Whether the Authorization header (NULL: absent) is "Bearer TOKEN". The time it takes does not tell how much of a token
 * was right.
 */
bool fw_bearer_allows(const struct fw_bearer *bearer, const char *header);

void fw_bearer_release(struct fw_bearer *bearer);

#endif
