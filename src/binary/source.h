#ifndef FW_BINARY_SOURCE_H
#define FW_BINARY_SOURCE_H

#include "base/file.h"
#include "binary/reader.h"
#include "binary/zip.h"

/*
 * A file, or a member of a wheel, on its way to images. Filled by one thread at a time. What it finds
 * is in the order of the bytes.
 */
struct fw_source {
	const char *label;
	struct fw_span bytes;
	struct fw_file file;                /* the mapping of bytes, where it is our own */
	const struct fw_zip_member *member; /* still to be inflated; NULL: a file */
	bool is_named;                      /* given by the caller: it must be of a kind we read */
	bool is_skipped;                    /* of no kind that holds kernels */
	uint32_t containers;
	struct fw_vec jobs, problems; /* struct fw_job, struct fw_binary_problem */
	size_t problems_dropped;
	struct fw_arena arena;
	fw_status status; /* of the source as a whole */
	struct fw_error error;
};

void fw_source_init(struct fw_source *source, const char *label);
void fw_source_release(struct fw_source *source);

/* Notes that part of the source cannot be read; beyond some hundred they are only counted. */
void fw_source_problem(struct fw_source *source, const char *where, const struct fw_error *error);

/*
 * Finds the images in source->bytes and appends their jobs. FW_ERR_UNSUPPORTED: the bytes are of no
 * kind that holds kernels.
 */
fw_status fw_source_scan(struct fw_source *source, struct fw_error *err);

/* Whether the first bytes of a file are of such a kind. */
bool fw_source_is_readable(struct fw_span start);

#endif
