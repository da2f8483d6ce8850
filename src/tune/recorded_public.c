/*
 * The public formats of measured spaces: one JSON object each. Kernel Tuner's cache file (its schema 1.2 and what came
 * before): "tune_params_keys" names the parameters, "cache" has an object of all members for each configuration, with
 * "time" in ms or the name of a failure. T4 (schema 1.0): "results" is an array with "configuration",
 * "invalidity" and "measurements" of a name, a value and a unit.
 */
#include "tune/recorded_rows.h"

#include "base/error.h"

#include <string.h>

/* Kernel Tuner has written this for failures, before it wrote their names. */
#define FAILED_MS 1e20

struct reader {
	struct fw_tune_json json;
	struct fw_tune_rows *rows;
	struct fw_tune_recorded *recorded;
	struct fw_error *err;
};

/* What of another kind stands where a container should is stepped over. */
static bool enter(struct fw_tune_json *json, char bracket)
{
	if (fw_tune_json_enter(json, bracket))
		return true;
	fw_tune_json_skip(json);
	return false;
}

static fw_status read_keys(struct reader *r)
{
	fw_status status = FW_OK;
	char name[256];

	if (!enter(&r->json, '['))
		return FW_OK;
	while (!status && fw_tune_json_element(&r->json)) {
		if (!fw_tune_json_text(&r->json, name, sizeof(name)))
			return fw_fail(r->err, FW_ERR_FORMAT,
				       "tune_params_keys has something other than names");
		status = fw_tune_rows_add_param(r->rows, name, r->err);
	}
	return status;
}

/* A member of a configuration; what is no parameter is stepped over. */
static fw_status read_param(struct reader *r, const char *key, struct fw_tune_row *row)
{
	int p = fw_tune_rows_param(r->rows, key);
	char text[1024];

	if (p < 0) {
		fw_tune_json_skip(&r->json);
		return FW_OK;
	}
	fw_tune_json_text(&r->json, text, sizeof(text));
	return fw_tune_rows_set(r->rows, row, (uint32_t)p, text, r->err);
}

static fw_status read_entry(struct reader *r)
{
	struct fw_tune_row row = { .seconds = -1 };
	fw_status status = FW_OK;
	char key[256];
	double ms;

	if (!enter(&r->json, '{'))
		return FW_OK;
	while (!status && fw_tune_json_key(&r->json, key, sizeof(key))) {
		if (strcmp(key, "time"))
			status = read_param(r, key, &row);
		else if (fw_tune_json_number(&r->json, &ms) && ms > 0 && ms < FAILED_MS)
			row.seconds = ms / 1e3;
	}
	if (status || r->json.wrong)
		return status;
	return fw_tune_rows_push(r->rows, &row, r->err);
}

static fw_status read_cache(struct reader *r)
{
	fw_status status = FW_OK;

	if (!r->rows->n_params)
		return fw_fail(r->err, FW_ERR_FORMAT,
			       "no tune_params_keys before the configurations");
	r->recorded->format = "Kernel Tuner";
	if (!enter(&r->json, '{'))
		return FW_OK;
	while (!status && fw_tune_json_key(&r->json, NULL, 0))
		status = read_entry(r);
	return status;
}

/* "configuration" of T4: every member is a parameter; the first one names them all. */
static fw_status read_configuration(struct reader *r, struct fw_tune_row *row)
{
	bool is_first = !r->rows->n_params;
	fw_status status = FW_OK;
	char key[256];

	if (!enter(&r->json, '{'))
		return FW_OK;
	while (!status && fw_tune_json_key(&r->json, key, sizeof(key))) {
		if (is_first)
			status = fw_tune_rows_add_param(r->rows, key, r->err);
		if (!status)
			status = read_param(r, key, row);
	}
	return status;
}

static double unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "s", 1 },
		      { "seconds", 1 },
		      { "ms", 1e-3 },
		      { "milliseconds", 1e-3 },
		      { "us", 1e-6 },
		      { "ns", 1e-9 },
		      { "microseconds", 1e-6 },
		      { "nanoseconds", 1e-9 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].seconds;
	return 1e-3; /* Kernel Tuner's converter leaves the unit out */
}

/* The measurement named "time", in seconds; else what seconds is already. */
static void read_measurement(struct fw_tune_json *json, double *seconds)
{
	char key[32], name[32] = "", unit[16] = "";
	double value = -1;

	if (!enter(json, '{'))
		return;
	while (fw_tune_json_key(json, key, sizeof(key))) {
		if (!strcmp(key, "name"))
			fw_tune_json_text(json, name, sizeof(name));
		else if (!strcmp(key, "unit"))
			fw_tune_json_text(json, unit, sizeof(unit));
		else if (strcmp(key, "value") || !fw_tune_json_number(json, &value))
			continue;
	}
	if (!strcmp(name, "time") && value > 0 && value < FAILED_MS)
		*seconds = value * unit_seconds(unit);
}

static fw_status read_result(struct reader *r)
{
	struct fw_tune_row row = { .seconds = -1 };
	char key[32], invalidity[32] = "correct";
	fw_status status = FW_OK;

	if (!enter(&r->json, '{'))
		return FW_OK;
	while (!status && fw_tune_json_key(&r->json, key, sizeof(key))) {
		if (!strcmp(key, "configuration")) {
			status = read_configuration(r, &row);
		} else if (!strcmp(key, "invalidity")) {
			fw_tune_json_text(&r->json, invalidity, sizeof(invalidity));
		} else if (!strcmp(key, "measurements") && enter(&r->json, '[')) {
			while (fw_tune_json_element(&r->json))
				read_measurement(&r->json, &row.seconds);
		} else if (strcmp(key, "measurements")) {
			fw_tune_json_skip(&r->json);
		}
	}
	if (strcmp(invalidity, "correct"))
		row.seconds = -1;
	if (status || r->json.wrong)
		return status;
	return fw_tune_rows_push(r->rows, &row, r->err);
}

static fw_status read_results(struct reader *r)
{
	fw_status status = FW_OK;

	r->recorded->format = "T4";
	if (!enter(&r->json, '['))
		return FW_OK;
	while (!status && fw_tune_json_element(&r->json))
		status = read_result(r);
	return status;
}

static fw_status read_member(struct reader *r, const char *key)
{
	if (!strcmp(key, "tune_params_keys"))
		return read_keys(r);
	if (!strcmp(key, "cache"))
		return read_cache(r);
	if (!strcmp(key, "results"))
		return read_results(r);
	if (!strcmp(key, "device_name"))
		fw_tune_json_text(&r->json, r->recorded->gpu, sizeof(r->recorded->gpu));
	else
		fw_tune_json_skip(&r->json);
	return FW_OK;
}

fw_status fw_tune_recorded_public(const char *text, size_t len, struct fw_tune_rows *rows,
				  struct fw_tune_recorded *recorded, struct fw_error *err)
{
	struct reader r = { .rows = rows, .recorded = recorded, .err = err };
	fw_status status = FW_OK;
	char key[64];

	fw_tune_json_init(&r.json, text, len);
	if (!enter(&r.json, '{'))
		return fw_fail(err, FW_ERR_FORMAT, "it does not begin as a recorded space does");
	while (!status && fw_tune_json_key(&r.json, key, sizeof(key)))
		status = read_member(&r, key);
	if (!status && !fw_tune_json_is_at_end(&r.json))
		status = fw_fail(err, FW_ERR_FORMAT, "not JSON at offset %zu",
				 (size_t)((r.json.wrong ? r.json.wrong : r.json.p) - text));
	if (!status && !recorded->format)
		status = fw_fail(err, FW_ERR_FORMAT,
				 "neither a cache of fullwarp tune or Kernel Tuner nor T4 results");
	return status;
}
