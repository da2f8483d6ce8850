#include "tune/json.h"
#include "tune/recorded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fw_error err;
static struct fw_tune_recorded recorded;

static fw_status parse(const char *text)
{
	char *copy = strdup(text); /* so that a byte read past the end is found */
	fw_status status;

	err.message[0] = '\0';
	assert_non_null(copy);
	status = fw_tune_recorded_parse("file", copy, strlen(text), &recorded, &err);
	free(copy);
	return status;
}

static double seconds_of(const char *first, const char *second)
{
	struct fw_tune_config config = { 0 };
	const char *wanted[] = { first, second };

	for (uint32_t p = 0; p < recorded.space.n_params; p++)
		for (uint32_t v = 0; v < recorded.space.params[p].n_values; v++)
			if (!strcmp(recorded.space.params[p].values[v].text, wanted[p]))
				config.value[p] = (uint16_t)v;
	return fw_tune_recorded_seconds(&recorded, &config);
}

/* The shape is that of Kernel Tuner's cache files, schema 1.2; the numbers are made. */
static const char kernel_tuner[] =
	"{\"schema_version\": \"1.2.0\", \"device_name\": \"NVIDIA A100\", \"kernel_name\": "
	"\"add\",\n"
	"\"tune_params_keys\": [\"block\", \"tile\"],\n"
	"\"tune_params\": {\"block\": [128, 64, 32], \"tile\": [1, 2]},\n"
	"\"objective\": \"time\",\n\"cache\": {\n"
	"\"128,1\": {\"block\": 128, \"tile\": 1, \"time\": 0.5, \"times\": [0.4, 0.6], "
	"\"GFLOP/s\": 3},\n"
	"\"64,1\": {\"block\": 64, \"tile\": 1, \"time\": 0.25, \"times\": [0.25]},\n"
	"\"64,2\": {\"block\": 64, \"tile\": 2, \"time\": \"RuntimeFailedConfig\"},\n"
	"\"32,2\": {\"block\": 32, \"tile\": 2, \"time\": 1e20, \"times\": [NaN, Infinity]}}}\n";

static void reads_kernel_tuner(void **state)
{
	(void)state;
	assert_int_equal(parse(kernel_tuner), FW_OK);
	assert_string_equal(recorded.format, "Kernel Tuner");
	assert_string_equal(recorded.gpu, "NVIDIA A100");
	assert_int_equal(recorded.space.n_params, 2);
	assert_int_equal(recorded.space.n_valid, 4);
	assert_int_equal(recorded.timed, 2);
	assert_int_equal(recorded.failed, 2);
	assert_string_equal(recorded.space.params[0].values[0].text, "32"); /* by size */
	assert_true(recorded.best_s == 0.25e-3);
	assert_true(seconds_of("128", "1") == 0.5e-3);
	assert_true(seconds_of("64", "2") < 0);
	assert_true(seconds_of("32", "1") < 0); /* not in the file */
	fw_tune_recorded_free(&recorded);
}

static void reads_t4(void **state)
{
	(void)state;
	assert_int_equal(
		parse("{\"schema_version\": \"1.0.0\", \"results\": [\n"
		      "{\"timestamp\": \"x\", \"configuration\": {\"block\": 32, \"mode\": \"a\"}, "
		      "\"times\": {\"runtimes\": [2, 2]}, \"invalidity\": \"correct\", "
		      "\"measurements\": [{\"name\": \"time\", \"value\": 2, \"unit\": \"ms\"}], "
		      "\"objectives\": [\"time\"]},\n"
		      "{\"configuration\": {\"block\": 64, \"mode\": \"a\"}, \"invalidity\": "
		      "\"correct\", \"measurements\": [{\"name\": \"power\", \"value\": 9, "
		      "\"unit\": "
		      "\"W\"}, {\"name\": \"time\", \"value\": 0.001, \"unit\": \"seconds\"}]},\n"
		      "{\"configuration\": {\"block\": 64, \"mode\": \"b\"}, \"invalidity\": "
		      "\"compile\", \"measurements\": [{\"name\": \"time\", \"value\": 1, "
		      "\"unit\": "
		      "\"\"}]}]}"),
		FW_OK);
	assert_string_equal(recorded.format, "T4");
	assert_int_equal(recorded.timed, 2);
	assert_int_equal(recorded.failed, 1);
	assert_true(seconds_of("32", "a") == 2e-3);
	assert_true(seconds_of("64", "a") == 1e-3);
	assert_true(seconds_of("64", "b") < 0);
	fw_tune_recorded_free(&recorded);
}

#define RUN "{\"conditions\":\"00000000000000aa\","
#define OLD "{\"conditions\":\"00000000000000bb\","

/* The conditions that most lines have; the last line of a configuration counts; a torn end is left out. */
static void reads_our_cache(void **state)
{
	(void)state;
	assert_int_equal(
		parse("{\"fullwarp_tune\":1,\"conditions\":\"00000000000000bb\",\"gpu\":\"A100\"}"
		      "\n" OLD
		      "\"config\":{\"A\":\"1\",\"B\":\"x\"},\"status\":\"ok\",\"samples_s\":[1]}\n"
		      "{\"fullwarp_tune\":1,\"conditions\":\"00000000000000aa\",\"gpu\":\"H200\","
		      "\"default\":{\"A\":\"1\",\"B\":\"y\",\"C\":\"\"}}"
		      "\n" RUN "\"config\":{\"A\":\"1\",\"B\":\"x\"},\"status\":\"ok\",\"samples_"
		      "s\":[3,1,2]}\n" RUN "\"config\":{\"B\":\"y\",\"A\":\"1\"},"
		      "\"status\":\"crashed\",\"samples_s\":[]}\n"
		      "nonsense\n" RUN "\"config\":{\"A\":\"1\",\"B\":\"x\"},\"status\":\"ok\","
		      "\"samples_s\":[4,5]}\n" RUN "\"config\":{\"A\":\"2\",\"B\""),
		FW_OK);
	assert_string_equal(recorded.format, "fullwarp");
	assert_string_equal(recorded.gpu, "H200");
	assert_int_equal(recorded.space.n_valid, 2);
	assert_int_equal(recorded.left_out, 3);
	assert_int_equal(recorded.space.params[1].preset, 1);
	assert_true(seconds_of("1", "x") == 4.5);
	assert_true(seconds_of("1", "y") < 0);
	fw_tune_recorded_free(&recorded);
}

static void refuses_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"cache\": {}}",
		"{\"results\": []}",
		"{\"results\": [{}]}",
		"{\"tune_params_keys\": [\"a\", \"a\"], \"cache\": {}}",
		"{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": {\"b\": 1, \"time\": 1}}}",
		"{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": {\"a\": 1, \"time\": 1}}",
		"{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": {\"a\": 1, \"time\": \"x\"}}}",
		"{\"tune_params_keys\": [[\"a\"]], \"cache\": {}}",
		"{\"conditions\": 5}",
		RUN "\"config\":{},\"status\":\"ok\",\"samples_s\":[1]}",
		RUN "\"config\":{\"a\":[1]},\"status\":\"ok\",\"samples_s\":[-1]}",
		RUN "\"config\":{\"a\":\"1\"},\"status\":\"ok\",\"samples_s\":[1]}\n" RUN
		    "\"config\":{\"b\":\"1\"},\"status\":\"ok\",\"samples_s\":[1]}"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(parse(bad[i]), FW_OK);
		assert_memory_equal(err.message, "file: ", 6);
		assert_true(strlen(err.message) > 10);
	}
	assert_int_equal(parse("{\"a\": 1} x"), FW_ERR_FORMAT);
	assert_string_equal(err.message, "file: not JSON at offset 9");
}

/* Cut anywhere, the file is refused or, in our format, shorter. */
static void survives_every_cut(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(kernel_tuner) - 3; n++) {
		char *cut = strndup(kernel_tuner, n);

		assert_non_null(cut);
		assert_int_not_equal(parse(cut), FW_OK);
		free(cut);
	}
}

static bool is_json(const char *text)
{
	struct fw_tune_json json;

	fw_tune_json_init(&json, text, strlen(text));
	fw_tune_json_skip(&json);
	return fw_tune_json_is_at_end(&json);
}

/* Cases of RFC 8259. */
static void json_is_strict(void **state)
{
	static const char *const good[] = { "0",
					    "-1.5e+3",
					    "\"a\\u0041\\n\"",
					    "[]",
					    "{}",
					    " [1, {\"a\": [true, null]}, \"\"] ",
					    "false",
					    "{\"a\":{\"b\":{}}}" };
	static const char *const bad[] = { "",           "01",       "1.",     "-",
					   "+1",         "[1,]",     "[1 2]",  "{\"a\"}",
					   "{\"a\":1,}", "{a:1}",    "\"\n\"", "\"\\x\"",
					   "[}",         "{]",       "tru",    "1e",
					   "[1",         "\"a",      "[[]",    "1 2",
					   "{\"a\":1]",  "\"\\u12\"" };
	char deep[200];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!is_json(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (is_json(bad[i]))
			fail_msg("%s", bad[i]);
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	deep[130] = '\0';
	assert_false(is_json(deep));
	deep[129] = '\0';
	assert_true(is_json(deep + 1));
}

static void json_texts_are_cut_and_unescaped(void **state)
{
	static const char source[] =
		"[\"a\\\"\\u0042\", \"longer\", 12, -3, 1.5, 18446744073709551616, {}]";
	struct fw_tune_json json;
	char text[5];
	uint64_t count;

	(void)state;
	fw_tune_json_init(&json, source, sizeof(source) - 1);
	assert_true(fw_tune_json_enter(&json, '['));
	assert_true(fw_tune_json_element(&json));
	assert_true(fw_tune_json_text(&json, text, sizeof(text)));
	assert_string_equal(text, "a\"B");
	assert_true(fw_tune_json_element(&json));
	assert_false(fw_tune_json_text(&json, text, sizeof(text)));
	assert_string_equal(text, "long");
	assert_true(fw_tune_json_element(&json));
	assert_true(fw_tune_json_count(&json, 12, &count));
	assert_int_equal(count, 12);
	for (int i = 0; i < 4; i++) {
		assert_true(fw_tune_json_element(&json));
		assert_false(fw_tune_json_count(&json, UINT64_MAX, &count));
	}
	assert_false(fw_tune_json_element(&json));
	assert_true(fw_tune_json_is_at_end(&json));
}

static void simulates(void **state)
{
	const struct fw_tune_search_options options = { .strategy = "exhaustive", .budget = 100 };
	const struct fw_tune_search_options nothing = { .strategy = "random", .budget = 0 };
	double fraction;

	(void)state;
	assert_int_equal(parse(kernel_tuner), FW_OK);
	assert_int_equal(fw_tune_simulate(&recorded, &options, &fraction, &err), FW_OK);
	assert_true(fraction == 1);
	assert_int_equal(fw_tune_simulate(&recorded, &nothing, &fraction, &err), FW_OK);
	assert_true(fraction == 0);
	fw_tune_recorded_free(&recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_kernel_tuner),
					    cmocka_unit_test(reads_t4),
					    cmocka_unit_test(reads_our_cache),
					    cmocka_unit_test(refuses_what_is_none),
					    cmocka_unit_test(survives_every_cut),
					    cmocka_unit_test(json_is_strict),
					    cmocka_unit_test(json_texts_are_cut_and_unescaped),
					    cmocka_unit_test(simulates) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
