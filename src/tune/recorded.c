#include "tune/recorded_rows.h"

#include "base/error.h"
#include "base/file.h"
#include "tune/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The members of our lines that matter here. */
struct line {
	char conditions[17];
	bool is_damaged, has_config, is_ok;
	struct fw_tune_row row;
};

static double read_median(struct fw_tune_json *json)
{
	double samples[FW_TUNE_MAX_VALUES], s;
	uint32_t n = 0;

	if (!fw_tune_json_enter(json, '[')) {
		fw_tune_json_skip(json);
		return -1;
	}
	while (fw_tune_json_element(json))
		if (fw_tune_json_number(json, &s) && s > 0 && n < FW_TUNE_MAX_VALUES)
			samples[n++] = s;
	return n ? fw_tune_median(samples, n) : -1;
}

struct reader {
	struct fw_tune_rows *rows;
	struct fw_tune_recorded *recorded;
	struct fw_error *err;
	char wanted[17]; /* only configurations of these conditions are read; "": none are */
};

/* "NAME": "VALUE" pairs; the first row names the parameters. */
static fw_status read_config(struct reader *reader, struct fw_tune_json *json,
			     struct fw_tune_row *row)
{
	bool is_first = !reader->rows->n_params;
	char name[256], text[1024];

	if (!fw_tune_json_enter(json, '{')) {
		fw_tune_json_skip(json);
		return FW_OK;
	}
	while (fw_tune_json_key(json, name, sizeof(name))) {
		fw_status status = FW_OK;
		int p;

		fw_tune_json_text(json, text, sizeof(text));
		if (is_first)
			status = fw_tune_rows_add_param(reader->rows, name, reader->err);
		p = fw_tune_rows_param(reader->rows, name);
		if (!status && p < 0)
			status = fw_fail(reader->err, FW_ERR_FORMAT,
					 "the parameter '%.100s' is not in all configurations",
					 name);
		if (!status)
			status =
				fw_tune_rows_set(reader->rows, row, (uint32_t)p, text, reader->err);
		if (status)
			return status;
	}
	return FW_OK;
}

/* The header's "default": names and values. */
static fw_status read_default(struct reader *reader, struct fw_tune_json *json)
{
	struct fw_tune_rows *rows = reader->rows;
	char name[256], text[1024];

	rows->n_defaults = 0;
	if (!fw_tune_json_enter(json, '{')) {
		fw_tune_json_skip(json);
		return FW_OK;
	}
	while (fw_tune_json_key(json, name, sizeof(name))) {
		fw_tune_json_text(json, text, sizeof(text));
		if (rows->n_defaults == 2 * FW_TUNE_MAX_PARAMS)
			continue;
		rows->defaults[rows->n_defaults] =
			fw_arena_strndup(&rows->arena, name, strlen(name));
		rows->defaults[rows->n_defaults + 1] =
			fw_arena_strndup(&rows->arena, text, strlen(text));
		if (!rows->defaults[rows->n_defaults] || !rows->defaults[rows->n_defaults + 1])
			return fw_fail_nomem(reader->err, sizeof(text));
		rows->n_defaults += 2;
	}
	return FW_OK;
}

static fw_status read_member(struct reader *reader, struct fw_tune_json *json, const char *key,
			     struct line *line)
{
	bool is_wanted = reader->wanted[0] && !strcmp(reader->wanted, line->conditions);
	char text[32];

	if (!strcmp(key, "conditions")) {
		fw_tune_json_text(json, line->conditions, sizeof(line->conditions));
	} else if (!strcmp(key, "config")) {
		line->has_config = true;
		if (is_wanted)
			return read_config(reader, json, &line->row);
		fw_tune_json_skip(json);
	} else if (!strcmp(key, "status")) {
		fw_tune_json_text(json, text, sizeof(text));
		line->is_ok = !strcmp(text, "ok");
	} else if (!strcmp(key, "samples_s")) {
		line->row.seconds = read_median(json);
	} else if (!strcmp(key, "default") && is_wanted) {
		return read_default(reader, json);
	} else if (!strcmp(key, "gpu") && is_wanted) {
		fw_tune_json_text(json, reader->recorded->gpu, sizeof(reader->recorded->gpu));
	} else {
		fw_tune_json_skip(json);
	}
	return FW_OK;
}

/* Lines that are damaged are no failure: the file may be good. */
static fw_status read_line(struct reader *reader, const char *text, size_t len, struct line *line)
{
	fw_status status = FW_OK;
	struct fw_tune_json json;
	char key[32];

	*line = (struct line){ .row.seconds = -1 };
	fw_tune_json_init(&json, text, len);
	if (fw_tune_json_enter(&json, '{'))
		while (!status && fw_tune_json_key(&json, key, sizeof(key)))
			status = read_member(reader, &json, key, line);
	if (status)
		return status;
	line->is_damaged = !fw_tune_json_is_at_end(&json) || strlen(line->conditions) != 16;
	if (line->is_damaged || !line->row.seen)
		return FW_OK;
	if (!line->is_ok)
		line->row.seconds = -1;
	return fw_tune_rows_push(reader->rows, &line->row, reader->err);
}

/* Calls read_line for every line; counts the configurations of each conditions where counts is given. */
static fw_status read_lines(struct reader *reader, const char *text, size_t len,
			    struct fw_map *counts)
{
	const char *end = text + len;
	uint64_t most = 0;

	for (const char *p = text; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		struct line line;
		fw_status status = read_line(reader, p, (size_t)(stop - p), &line);
		uint64_t *count;

		p = newline ? newline + 1 : end;
		if (status)
			return status;
		if (!counts)
			reader->recorded->left_out +=
				line.is_damaged || (line.has_config && !line.row.seen);
		if (!counts || line.is_damaged || !line.has_config)
			continue;
		count = fw_map_at(counts, fw_hash_bytes(line.conditions, 16), 0, NULL);
		if (!count)
			return fw_fail_nomem(reader->err, 1);
		if (++*count > most) {
			most = *count;
			memcpy(reader->recorded->gpu, line.conditions, sizeof(line.conditions));
		}
	}
	return FW_OK;
}

fw_status fw_tune_recorded_lines(const char *text, size_t len, struct fw_tune_rows *rows,
				 struct fw_tune_recorded *recorded, struct fw_error *err)
{
	struct reader reader = { .rows = rows, .recorded = recorded, .err = err };
	struct fw_map counts = { 0 };
	fw_status status = read_lines(&reader, text, len, &counts);

	fw_map_release(&counts);
	if (status)
		return status;
	/* The place of the GPU's name has held the conditions that most lines have. */
	memcpy(reader.wanted, recorded->gpu, sizeof(reader.wanted));
	reader.wanted[16] = '\0';
	recorded->gpu[0] = '\0';
	if (!reader.wanted[0])
		return fw_fail(err, FW_ERR_FORMAT, "no configuration in it");
	recorded->format = "fullwarp";
	return read_lines(&reader, text, len, NULL);
}

static bool is_ours(const char *text, size_t len)
{
	struct fw_tune_json json;
	char key[32];

	fw_tune_json_init(&json, text, len);
	return fw_tune_json_enter(&json, '{') && fw_tune_json_key(&json, key, sizeof(key)) &&
	       (!strcmp(key, "fullwarp_tune") || !strcmp(key, "conditions"));
}

fw_status fw_tune_recorded_parse(const char *path, const char *text, size_t len,
				 struct fw_tune_recorded *recorded, struct fw_error *err)
{
	struct fw_tune_rows rows;
	fw_status status;

	*recorded = (struct fw_tune_recorded){ .best_s = INFINITY };
	fw_tune_rows_init(&rows);
	status = is_ours(text, len) ? fw_tune_recorded_lines(text, len, &rows, recorded, err)
				    : fw_tune_recorded_public(text, len, &rows, recorded, err);
	if (!status)
		status = fw_tune_rows_finish(&rows, recorded, err);
	fw_tune_rows_release(&rows);
	if (status) {
		fw_tune_recorded_free(recorded);
		fw_error_prefix(err, "%s", path);
	}
	return status;
}

fw_status fw_tune_recorded_read(const char *path, struct fw_tune_recorded *recorded,
				struct fw_error *err)
{
	struct fw_file file;
	fw_status status = fw_file_open(&file, path, err);

	if (status)
		return status;
	status = fw_tune_recorded_parse(path, (const char *)file.data, file.size, recorded, err);
	fw_file_close(&file);
	return status;
}

void fw_tune_recorded_free(struct fw_tune_recorded *recorded)
{
	fw_tune_space_free(&recorded->space);
	free(recorded->seconds);
	*recorded = (struct fw_tune_recorded){ 0 };
}

double fw_tune_recorded_seconds(const struct fw_tune_recorded *recorded,
				const struct fw_tune_config *config)
{
	const struct fw_tune_space *space = &recorded->space;
	uint64_t key = fw_tune_space_key(space, config);
	size_t low = 0, high = space->n_valid;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < space->n_valid && space->keys[low] == key ? recorded->seconds[low] : -1;
}

fw_status fw_tune_simulate(const struct fw_tune_recorded *recorded,
			   const struct fw_tune_search_options *options, double *fraction,
			   struct fw_error *err)
{
	struct fw_tune_search *search = NULL;
	fw_status status = fw_tune_search_open(&recorded->space, options, &search, err);
	double best = INFINITY;

	while (!status && !fw_tune_search_is_done(search)) {
		struct fw_tune_config config;
		double s;

		if (!fw_tune_search_ask(search, &config, 1))
			break;
		s = fw_tune_recorded_seconds(recorded, &config);
		best = s > 0 ? fmin(best, s) : best;
		status = fw_tune_search_tell(search, &config,
					     s > 0 ? FW_TUNE_TIMED : FW_TUNE_FAILED, s, err);
	}
	fw_tune_search_close(search);
	*fraction = isinf(best) ? 0 : recorded->best_s / best;
	return status;
}
