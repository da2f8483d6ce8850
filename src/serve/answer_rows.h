#ifndef FW_SERVE_ANSWER_ROWS_H
#define FW_SERVE_ANSWER_ROWS_H
/* One row of output for each image: CSV (RFC 4180) or JSON Lines; and what rows a file has already. */
#include "base/map.h"
#include "base/str.h"
#include "serve/labels.h"

#include <stdbool.h>

struct fw_row_format {
	bool is_json;
	uint32_t top;                   /* classes in a row */
	const struct fw_labels *labels; /* NULL: none */
};

struct fw_row {
	const char *image; /* any bytes */
	const char *error; /* NULL: classified */
	uint32_t count;
	const uint32_t *ids;
	const float *probabilities;
};

/* The line before the first row; JSON Lines have none. */
void fw_row_header(const struct fw_row_format *format, struct fw_str *out);
void fw_row_write(const struct fw_row_format *format, const struct fw_row *row, struct fw_str *out);

/* Images by how many rows they have. Initialise with {0}. */
struct fw_rows_done {
	struct fw_map map;
	size_t rows;  /* whole ones */
	size_t bytes; /* up to the end of the last whole one; what is behind it is torn */
};

/* FW_ERR_FORMAT: the text is not a beginning of what these functions write in this format. */
fw_status fw_rows_read(const struct fw_row_format *format, const char *text, size_t len,
		       struct fw_rows_done *done, struct fw_error *err);

/* Whether there is a row for it that was not taken before. */
bool fw_rows_take(const struct fw_row_format *format, struct fw_rows_done *done, const char *image,
		  struct fw_str *scratch);
void fw_rows_done_release(struct fw_rows_done *done);

#endif
