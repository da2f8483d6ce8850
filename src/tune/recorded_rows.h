#ifndef FW_TUNE_RECORDED_ROWS_H
#define FW_TUNE_RECORDED_ROWS_H
/* Rows of names, values and a time, gathered into a recorded space. Internal to its readers. */
#include "base/map.h"
#include "base/vec.h"
#include "tune/json.h"
#include "tune/recorded.h"

struct fw_tune_rows {
	struct fw_arena arena;
	uint32_t n_params;
	struct {
		const char *name;
		struct fw_vec texts; /* const char *: its values in order of appearance */
		struct fw_map ids;   /* hash of a text -> 1 + its place there */
	} params[FW_TUNE_MAX_PARAMS];
	struct fw_vec rows; /* struct fw_tune_row */
	/* The default configuration, if the file tells it: names and values by turns. */
	uint32_t n_defaults;
	const char *defaults[2 * FW_TUNE_MAX_PARAMS];
};

struct fw_tune_row {
	uint16_t value[FW_TUNE_MAX_PARAMS];
	uint32_t seen; /* a bit for each parameter that has its value */
	double seconds;
};

void fw_tune_rows_init(struct fw_tune_rows *rows);
void fw_tune_rows_release(struct fw_tune_rows *rows);

fw_status fw_tune_rows_add_param(struct fw_tune_rows *rows, const char *name, struct fw_error *err);
/* Its number, or -1. */
int fw_tune_rows_param(const struct fw_tune_rows *rows, const char *name);
fw_status fw_tune_rows_set(struct fw_tune_rows *rows, struct fw_tune_row *row, uint32_t param,
			   const char *text, struct fw_error *err);
/* FW_ERR_FORMAT: it lacks a parameter. */
fw_status fw_tune_rows_push(struct fw_tune_rows *rows, const struct fw_tune_row *row,
			    struct fw_error *err);
/* The space of the rows; the last of several rows of one configuration counts. */
fw_status fw_tune_rows_finish(struct fw_tune_rows *rows, struct fw_tune_recorded *recorded,
			      struct fw_error *err);

/* Our format; FW_ERR_FORMAT: it is none. */
fw_status fw_tune_recorded_lines(const char *text, size_t len, struct fw_tune_rows *rows,
				 struct fw_tune_recorded *recorded, struct fw_error *err);
/* The public ones. */
fw_status fw_tune_recorded_public(const char *text, size_t len, struct fw_tune_rows *rows,
				  struct fw_tune_recorded *recorded, struct fw_error *err);

#endif
