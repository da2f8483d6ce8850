#ifndef FW_SERVE_CLASSIFY_H
#define FW_SERVE_CLASSIFY_H
/* Image files through the pipeline to rows of output, in the order of the files. */
#include "fullwarp/pipeline.h"
#include "serve/image_names.h"

#include <stdbool.h>

struct fw_classify_job {
	struct fw_pipeline_config config;
	const struct fw_image_names *names;
	const char *labels; /* a file; NULL: none */
	const char *output; /* NULL: standard output */
	bool is_json, is_resuming, is_quiet;
	bool explains; /* the pipeline's choices, on standard error */
};

struct fw_classify_result {
	size_t classified, failed; /* in this run */
	size_t skipped;            /* had their row before */
	size_t torn_bytes;         /* of a row that was not whole, taken off the output */
	int64_t took_ns;           /* from the first image read to the last row written */
	char *failures;            /* what went wrong with the first of them, a line each; owned */
};

/* Prints progress on standard error where that is a terminal. */
fw_status fw_classify(const struct fw_classify_job *job, struct fw_classify_result *result,
		      struct fw_error *err);
void fw_classify_result_release(struct fw_classify_result *result);

#endif
