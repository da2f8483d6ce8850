#ifndef FW_BINARY_OPENING_H
#define FW_BINARY_OPENING_H

#include "binary/parallel.h"
#include "binary/paths.h"
#include "binary/source.h"

/*
 * All that stands behind a struct fw_binary: it lives as long, because names and messages lie in its
 * arenas and in the mapped files.
 */
struct fw_opening {
	struct fw_binary result;
	struct fw_binary_options options;
	struct fw_arena arena;
	struct fw_paths paths;
	struct fw_source *files, *members;
	size_t file_count, member_count;
	struct fw_vec *zips;      /* of each file: struct fw_zip_member */
	struct fw_source **order; /* files and members as they come in the result */
	size_t order_count;
	struct fw_reader *readers; /* one for each thread */
	struct fw_job **jobs;      /* the images to read, largest first */
	size_t job_count;
};

/* Reads the kernels of all images found; damage is noted in each. */
fw_status fw_read_images(struct fw_opening *opening, struct fw_error *err);
void fw_release_readers(struct fw_opening *opening);

/* Joins what the threads found into opening->result. */
fw_status fw_fold(struct fw_opening *opening, struct fw_error *err);

#endif
