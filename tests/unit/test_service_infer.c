/* The protocol's requests and answers, byte for byte. Malformed ones by the dozen: tests/serve/http_faults.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "serve/infer.h"
#include "serve/json_in.h"

#define SIDE         2
#define TENSOR_BYTES (3 * SIDE * SIDE * 4)

static struct fw_bodies bodies;
static struct fw_body body;
static struct fw_error err;
static struct fw_infer_image images[4];
static struct fw_infer infer = { .images = images };
static const struct fw_infer_limits limits = {
	.max_images = 4,
	.side = SIDE,
	.top = 3,
	.has_labels = true,
	.json_bytes = 1 << 16,
};

static int set_up(void **state)
{
	(void)state;
	fw_json_in_init();
	if (fw_bodies_open(&bodies, 1, 1 << 16, 1 << 16, NULL))
		return -1;
	fw_body_init(&body, &bodies, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fw_body_release(&body);
	fw_bodies_close(&bodies);
	return 0;
}

/* The JSON, and what follows it. */
static fw_status read(const char *json, const void *binary, size_t size)
{
	fw_body_release(&body);
	fw_body_init(&body, &bodies, 0);
	assert_int_equal(fw_body_append(&body, json, strlen(json), NULL), FW_OK);
	if (size)
		assert_int_equal(fw_body_append(&body, binary, size, NULL), FW_OK);
	return fw_infer_read(&infer, &limits, &body, strlen(json), &err);
}

static void reads_images_of_json(void **state)
{
	(void)state;
	assert_int_equal(
		read("{\"id\":\"7\",\"inputs\":[{\"name\":\"image\",\"shape\":[2,1],"
		     "\"datatype\":\"BYTES\",\"data\":[[\"Zm9v\"],\"YmFy\\u0047\\/===\"]}],"
		     "\"parameters\":{\"timeout\":1500,\"top\":2,\"unknown\":[]}}",
		     NULL, 0),
		FW_ERR_FORMAT); /* 9 characters are none of base64 */
	assert_int_equal(read("{\"id\":\"7\",\"inputs\":[{\"name\":\"image\",\"shape\":[2,1],"
			      "\"datatype\":\"BYTES\",\"data\":[[\"Zm9v\"],\"YmFyR\\u0051==\"]}],"
			      "\"parameters\":{\"timeout\":1500,\"top\":2,\"unknown\":[]}}",
			      NULL, 0),
			 FW_OK);
	assert_int_equal(infer.count, 2);
	assert_false(infer.is_tensor);
	assert_int_equal(images[0].size, 3);
	assert_memory_equal(images[0].bytes, "foo", 3);
	assert_int_equal(images[1].size, 4);
	assert_memory_equal(images[1].bytes, "barE", 4); /* "RQ==" */
	assert_string_equal(infer.id, "7");
	assert_int_equal(infer.timeout_ns, 1500000);
	assert_int_equal(infer.top, 2);
	assert_int_equal(infer.n_outputs, 3);
	assert_false(infer.outputs[0].is_binary);
}

static void reads_binary_images(void **state)
{
	static const char binary[] = "\3\0\0\0foo\0\0\0\0\5\0\0\0\xff\xd8\0\n!";

	(void)state;
	assert_int_equal(
		read("{\"inputs\":[{\"name\":\"image\",\"shape\":[3],\"datatype\":\"BYTES\","
		     "\"parameters\":{\"binary_data_size\":20}}],\"outputs\":["
		     "{\"name\":\"probability\",\"parameters\":{\"classification\":3,"
		     "\"binary_data\":false}},{\"name\":\"class_id\"}],"
		     "\"parameters\":{\"binary_data_output\":true}}",
		     binary, 20),
		FW_OK);
	assert_int_equal(infer.count, 3);
	assert_int_equal(images[0].size, 3);
	assert_int_equal(images[1].size, 0);
	assert_int_equal(images[2].size, 5);
	assert_memory_equal(images[2].bytes, "\xff\xd8\0\n!", 5);
	assert_int_equal(infer.top, 3);
	assert_int_equal(infer.n_outputs, 2);
	assert_int_equal(infer.outputs[0].kind, FW_INFER_PROBABILITY);
	assert_int_equal(infer.outputs[0].classification, 3);
	assert_false(infer.outputs[0].is_binary);
	assert_int_equal(infer.outputs[1].kind, FW_INFER_CLASS_ID);
	assert_true(infer.outputs[1].is_binary);
}

static void reads_tensors(void **state)
{
	float values[24], got;

	(void)state;
	for (int i = 0; i < 24; i++)
		values[i] = (float)i / 8;
	assert_int_equal(
		read("{\"inputs\":[{\"name\":\"tensor\",\"shape\":[2,3,2,2],\"datatype\":\"FP32\","
		     "\"parameters\":{\"binary_data_size\":96}}]}",
		     values, sizeof(values)),
		FW_OK);
	assert_true(infer.is_tensor);
	assert_int_equal(images[1].size, TENSOR_BYTES);
	assert_memory_equal(images[1].bytes, values + 12, TENSOR_BYTES);
	/* Its 48 bytes are more than its text's data: the body grows. */
	assert_int_equal(
		read("{\"inputs\":[{\"name\":\"tensor\",\"shape\":[1,3,2,2],\"datatype\":\"FP32\","
		     "\"data\":[[[0,1],[2,3]],[[4,5],[6,7]],[[8,9],[-1.5e0,11]]]}]}",
		     NULL, 0),
		FW_OK);
	memcpy(&got, images[0].bytes + 40, sizeof(got));
	assert_true(got == -1.5f);
	memcpy(&got, images[0].bytes + 28, sizeof(got));
	assert_true(got == 7);
}

static void bounds_the_memory_of_json(void **state)
{
	char *text = malloc(20000);
	size_t len = 0;

	(void)state;
	assert_non_null(text);
	len += (size_t)snprintf(text, 20000, "{\"a\":[");
	for (int i = 0; i < 9000; i++)
		len += (size_t)snprintf(text + len, 20000 - len, "1,");
	snprintf(text + len, 20000 - len, "1]}");
	assert_int_equal(read(text, NULL, 0), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "65536"));
	/* What that took was given back. */
	for (int i = 0; i < 100; i++)
		assert_int_equal(read("{\"a\":[1,2,3,{\"b\":\"c\"}]}", NULL, 0), FW_ERR_FORMAT);
	free(text);
}

static void writes_what_is_wanted(void **state)
{
	const char *names[] = { "zero", "o\"ne", "two\xff", "three" };
	const struct fw_labels labels = { .names = names, .count = 4 };
	const uint32_t ids[] = { 2, 1, 0, 3, 0, 1 };
	const float probabilities[] = { 0.5f, 0.25f, 0.125f, 1, 0, 0 };
	const struct fw_infer_answer answer = { .model = "m",
						.labels = &labels,
						.stride = 3,
						.ids = ids,
						.probabilities = probabilities };
	struct fw_str out = { 0 };
	struct fw_infer asked = {
		.id = "x",
		.count = 2,
		.top = 2,
		.n_outputs = 3,
		.outputs = { { .kind = FW_INFER_CLASS_ID },
			     { .kind = FW_INFER_PROBABILITY, .classification = 1 },
			     { .kind = FW_INFER_LABEL } },
	};

	(void)state;
	assert_int_equal(fw_infer_write(&asked, &answer, &out), 0);
	assert_string_equal(
		fw_str_text(&out),
		"{\"model_name\":\"m\",\"model_version\":\"1\",\"id\":\"x\",\"outputs\":["
		"{\"name\":\"class_id\",\"datatype\":\"UINT32\",\"shape\":[2,2],\"data\":[2,1,3,0]}"
		","
		"{\"name\":\"probability\",\"datatype\":\"BYTES\",\"shape\":[2,1],\"data\":["
		"\"0.500000:2:two\\ufffd\",\"1.000000:3:three\"]},"
		"{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[2,2],\"data\":["
		"\"two\\ufffd\",\"o\\\"ne\",\"three\",\"zero\"]}]}");
	fw_str_clear(&out);
	asked = (struct fw_infer){
		.count = 1,
		.top = 2,
		.n_outputs = 2,
		.outputs = { { .kind = FW_INFER_LABEL, .is_binary = true },
			     { .kind = FW_INFER_PROBABILITY, .is_binary = true } },
	};
	/* 4 + 4 bytes of "two\xff", 4 + 4 of "o\"ne", then 0.5 and 0.25 as they lie in memory. */
	static const char json[] =
		"{\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":["
		"{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[1,2],\"parameters\":{"
		"\"binary_data_size\":16}},{\"name\":\"probability\",\"datatype\":\"FP32\","
		"\"shape\":[1,2],\"parameters\":{\"binary_data_size\":8}}]}";
	static const char binary[] = "\4\0\0\0two\xff\4\0\0\0o\"ne\0\0\0\x3f\0\0\x80\x3e";

	assert_int_equal(fw_infer_write(&asked, &answer, &out), sizeof(json) - 1);
	assert_int_equal(out.len, sizeof(json) - 1 + 24);
	assert_memory_equal(out.data, json, sizeof(json) - 1);
	assert_memory_equal(out.data + sizeof(json) - 1, binary, 24);
	fw_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_images_of_json),
		cmocka_unit_test(reads_binary_images),
		cmocka_unit_test(reads_tensors),
		cmocka_unit_test(bounds_the_memory_of_json),
		cmocka_unit_test(writes_what_is_wanted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
