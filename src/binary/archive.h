#ifndef FW_BINARY_ARCHIVE_H
#define FW_BINARY_ARCHIVE_H

#include "base/error.h"
#include "binary/span.h"

/* A Unix archive (ar), its members one after the other. Starts as {.file = bytes}. */
struct fw_archive {
	struct fw_span file;
	size_t at;
	struct fw_span long_names;
};

struct fw_archive_member {
	const char *name; /* not terminated */
	size_t name_len;
	struct fw_span bytes;
};

bool fw_is_archive(struct fw_span file);      /* an ordinary one */
bool fw_is_thin_archive(struct fw_span file); /* holds only paths of its members */

/* The next member that is a file; false at the end, or on damage with *status set. */
bool fw_archive_next(struct fw_archive *archive, struct fw_archive_member *member,
		     fw_status *status, struct fw_error *err);

#endif
