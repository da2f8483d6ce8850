/* A request's body to images or tensors, and to what is wanted of them. */
#include "serve/base64.h"
#include "serve/infer.h"
#include "serve/json_in.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IMAGE  "image"
#define TENSOR "tensor"
/* Of the lists around the numbers of a tensor: n, 3, side, side. */
#define TENSOR_DEPTH 4

struct reading {
	struct fw_infer *infer;
	const struct fw_infer_limits *limits;
	struct fw_body *body;
	size_t json_bytes;
	bool is_output_binary; /* unless an output says otherwise */
	struct fw_error *err;
};

static fw_status fail(struct reading *r, const char *text)
{
	return fw_fail(r->err, FW_ERR_FORMAT, "%s", text);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static size_t tensor_bytes(const struct reading *r)
{
	return (size_t)3 * r->limits->side * r->limits->side * sizeof(float);
}

/* A whole number that may be absent. */
static fw_status read_whole(struct reading *r, const json_t *parameters, const char *key,
			    int64_t most, int64_t *value)
{
	const json_t *number = json_object_get(parameters, key);

	if (!number)
		return FW_OK;
	if (!json_is_integer(number) || json_integer_value(number) < 0 ||
	    json_integer_value(number) > most)
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "the parameter '%s' is a whole number from 0 to %" PRId64, key,
			       most);
	*value = json_integer_value(number);
	return FW_OK;
}

static fw_status read_flag(struct reading *r, const json_t *parameters, const char *key, bool *flag)
{
	const json_t *value = json_object_get(parameters, key);

	if (value && !json_is_boolean(value))
		return fw_fail(r->err, FW_ERR_FORMAT, "the parameter '%s' is true or false", key);
	if (value)
		*flag = json_is_true(value);
	return FW_OK;
}

static fw_status read_parameters(struct reading *r, const json_t *tree)
{
	const json_t *parameters = json_object_get(tree, "parameters");
	struct fw_infer *infer = r->infer;
	int64_t timeout_us = 0, top = r->limits->top;
	fw_status status;

	if (parameters && !json_is_object(parameters))
		return fail(r, "'parameters' is not an object");
	if ((status = read_whole(r, parameters, "timeout", INT64_MAX / 1000, &timeout_us)) ||
	    (status = read_whole(r, parameters, "top", r->limits->top, &top)) ||
	    (status = read_flag(r, parameters, "binary_data_output", &r->is_output_binary)))
		return status;
	if (!top)
		return fw_fail(r->err, FW_ERR_ARGUMENT, "the parameter 'top' is 0");
	infer->timeout_ns = timeout_us * 1000;
	infer->top = (uint32_t)top;
	return FW_OK;
}

static fw_status read_id(struct reading *r, const json_t *tree)
{
	const json_t *id = json_object_get(tree, "id");

	if (!id)
		return FW_OK;
	if (!json_is_string(id) || json_string_length(id) >= sizeof(r->infer->id))
		return fw_fail(r->err, FW_ERR_ARGUMENT, "'id' is not a string of up to %zu bytes",
			       sizeof(r->infer->id) - 1);
	snprintf(r->infer->id, sizeof(r->infer->id), "%s", json_string_value(id));
	return FW_OK;
}

static fw_status find_kind(struct reading *r, const char *name, enum fw_infer_kind *kind)
{
	int i = 0;

	while (i < FW_INFER_KINDS && strcmp(name, fw_infer_output_name((enum fw_infer_kind)i)))
		i++;
	if (i == FW_INFER_KINDS)
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "there is no output '%.60s': there are class_id, probability%s",
			       name, r->limits->has_labels ? ", label" : "");
	if (i == FW_INFER_LABEL && !r->limits->has_labels)
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "there is no output 'label': the server has no labels file");
	for (uint32_t k = 0; k < r->infer->n_outputs; k++)
		if ((int)r->infer->outputs[k].kind == i)
			return fw_fail(r->err, FW_ERR_ARGUMENT, "the output '%s' is wanted twice",
				       name);
	*kind = (enum fw_infer_kind)i;
	return FW_OK;
}

static fw_status read_output(struct reading *r, const json_t *output)
{
	const json_t *parameters = json_object_get(output, "parameters");
	struct fw_infer_output made = { .is_binary = r->is_output_binary };
	int64_t classification = 0;
	fw_status status = find_kind(r, text_of(output, "name"), &made.kind);

	if (status)
		return status;
	if (parameters && !json_is_object(parameters))
		return fail(r, "'parameters' of an output is not an object");
	if ((status = read_flag(r, parameters, "binary_data", &made.is_binary)) ||
	    (status = read_whole(r, parameters, "classification", r->limits->top, &classification)))
		return status;
	if (classification && made.kind != FW_INFER_PROBABILITY)
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "'classification' is for the output 'probability'");
	made.classification = (uint32_t)classification;
	r->infer->outputs[r->infer->n_outputs++] = made;
	return FW_OK;
}

static fw_status read_outputs(struct reading *r, const json_t *tree)
{
	const json_t *outputs = json_object_get(tree, "outputs"), *output;
	fw_status status = FW_OK;
	size_t i;

	if (outputs && !json_is_array(outputs))
		return fail(r, "'outputs' is not a list");
	json_array_foreach((json_t *)(uintptr_t)outputs, i, output)
	{
		status = read_output(r, output); /* each kind once: they fit */
		if (status)
			return status;
	}
	for (int k = 0; k < FW_INFER_KINDS && !json_array_size(outputs); k++)
		if (k != FW_INFER_LABEL || r->limits->has_labels)
			r->infer->outputs[r->infer->n_outputs++] =
				(struct fw_infer_output){ .kind = (enum fw_infer_kind)k,
							  .is_binary = r->is_output_binary };
	return FW_OK;
}

static int64_t extent(const json_t *shape, size_t i)
{
	return json_integer_value(json_array_get(shape, i)); /* 0: none, or not a whole number */
}

static fw_status read_shape(struct reading *r, const json_t *input)
{
	const json_t *shape = json_object_get(input, "shape");
	size_t rank = json_array_size(shape);
	int64_t n = extent(shape, 0), side = r->limits->side;
	bool is_right;

	if (r->infer->is_tensor)
		is_right = rank == 4 && extent(shape, 1) == 3 && extent(shape, 2) == side &&
			   extent(shape, 3) == side;
	else
		is_right = rank == 1 || (rank == 2 && extent(shape, 1) == 1);
	if (!is_right || n < 1)
		return r->infer->is_tensor ? fw_fail(r->err, FW_ERR_ARGUMENT,
						     "the shape of 'tensor' is [n, 3, %u, %u]",
						     r->limits->side, r->limits->side)
					   : fw_fail(r->err, FW_ERR_ARGUMENT,
						     "the shape of 'image' is [n] or [n, 1]");
	if (n > r->limits->max_images)
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "%" PRId64 " images in one request: at most %u are taken", n,
			       r->limits->max_images);
	r->infer->count = (uint32_t)n;
	return FW_OK;
}

static fw_status split_images(struct reading *r, const unsigned char *bytes, size_t size)
{
	for (uint32_t i = 0; i < r->infer->count; i++) {
		size_t n = size < 4 ? 0
				    : bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 |
					      (size_t)bytes[3] << 24;

		if (size < 4 || n > size - 4)
			return fw_fail(r->err, FW_ERR_FORMAT,
				       "image %u of the binary data ends past its end", i);
		r->infer->images[i] = (struct fw_infer_image){ bytes + 4, n };
		bytes += 4 + n;
		size -= 4 + n;
	}
	if (size)
		return fw_fail(r->err, FW_ERR_FORMAT, "%zu bytes follow the last image", size);
	return FW_OK;
}

static fw_status split_tensor(struct reading *r, const unsigned char *bytes, size_t size)
{
	size_t one = tensor_bytes(r);

	if (size != r->infer->count * one)
		return fw_fail(r->err, FW_ERR_FORMAT,
			       "the data of 'tensor' are %zu bytes, not the %zu of its shape", size,
			       r->infer->count * one);
	for (uint32_t i = 0; i < r->infer->count; i++)
		r->infer->images[i] = (struct fw_infer_image){ bytes + i * one, one };
	return FW_OK;
}

static fw_status read_binary(struct reading *r, int64_t size)
{
	size_t there = r->body->size - r->json_bytes;
	const unsigned char *bytes = r->body->bytes + r->json_bytes;

	if ((uint64_t)size != there)
		return fw_fail(r->err, FW_ERR_FORMAT,
			       "binary_data_size is %" PRId64 ", but %zu bytes follow the JSON",
			       size, there);
	return r->infer->is_tensor ? split_tensor(r, bytes, there) : split_images(r, bytes, there);
}

/* Decoded one behind the other from the body's start on: base64 is longer than what it stands for. */
static fw_status decode_images(struct reading *r, const json_t *data)
{
	size_t at = 0;

	if (json_array_size(data) != r->infer->count)
		return fw_fail(r->err, FW_ERR_FORMAT, "'data' has %zu elements, its shape %u",
			       json_array_size(data), r->infer->count);
	for (uint32_t i = 0; i < r->infer->count; i++) {
		const json_t *text = json_array_get(data, i);
		size_t size;

		if (json_is_array(text) && json_array_size(text) == 1)
			text = json_array_get(text, 0);
		if (!json_is_string(text) ||
		    !fw_base64_decode(json_string_value(text), json_string_length(text),
				      r->body->bytes + at, &size))
			return fw_fail(r->err, FW_ERR_FORMAT,
				       "element %u of 'data' is not a JPEG or PNG file in base64",
				       i);
		r->infer->images[i] = (struct fw_infer_image){ r->body->bytes + at, size };
		at += size;
	}
	return FW_OK;
}

/* The numbers in the lists of a list, row by row; *count of `cap` are there. False: something else, or too many. */
static bool flatten(const json_t *list, int depth, float *to, size_t cap, size_t *count)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		float value;

		if (json_is_array(item)) {
			if (depth == TENSOR_DEPTH || !flatten(item, depth + 1, to, cap, count))
				return false;
			continue;
		}
		value = (float)json_number_value(item);
		if (!json_is_number(item) || !isfinite(value) || *count == cap)
			return false;
		to[(*count)++] = value;
	}
	return true;
}

static fw_status decode_tensor(struct reading *r, const json_t *data)
{
	size_t bytes = r->infer->count * tensor_bytes(r), count = 0;
	fw_status status = fw_body_resize(r->body, bytes, r->err);

	if (status)
		return status;
	/* A body's memory begins on a page. */
	if (!json_is_array(data) ||
	    !flatten(data, 1, (float *)(void *)r->body->bytes, bytes / sizeof(float), &count) ||
	    count != bytes / sizeof(float))
		return fw_fail(r->err, FW_ERR_FORMAT,
			       "'data' of 'tensor' is not a list of the %zu numbers of its shape",
			       bytes / sizeof(float));
	return split_tensor(r, r->body->bytes, bytes);
}

static fw_status read_data(struct reading *r, const json_t *input)
{
	const json_t *parameters = json_object_get(input, "parameters");
	const json_t *data = json_object_get(input, "data");
	int64_t size = -1;
	fw_status status;

	if (parameters && !json_is_object(parameters))
		return fail(r, "'parameters' of an input is not an object");
	status = read_whole(r, parameters, "binary_data_size", INT64_MAX, &size);
	if (status)
		return status;
	if ((size < 0) == !data)
		return fail(r, "an input has either 'data' or 'binary_data_size'");
	if (size >= 0)
		return read_binary(r, size);
	if (r->json_bytes != r->body->size)
		return fail(r, "bytes follow the JSON, but no input says binary_data_size");
	return r->infer->is_tensor ? decode_tensor(r, data) : decode_images(r, data);
}

static fw_status read_inputs(struct reading *r, const json_t *tree)
{
	const json_t *inputs = json_object_get(tree, "inputs"), *input = json_array_get(inputs, 0);
	const char *name = text_of(input, "name"), *type = text_of(input, "datatype");
	fw_status status;

	if (json_array_size(inputs) != 1)
		return fail(r, "'inputs' is a list of one input: 'image' or 'tensor'");
	r->infer->is_tensor = !strcmp(name, TENSOR);
	if (!r->infer->is_tensor && strcmp(name, IMAGE))
		return fw_fail(r->err, FW_ERR_ARGUMENT,
			       "there is no input '%.60s': there are 'image' and 'tensor'", name);
	if (strcmp(type, r->infer->is_tensor ? "FP32" : "BYTES"))
		return fw_fail(r->err, FW_ERR_ARGUMENT, "the datatype of '%s' is %s, not '%.20s'",
			       name, r->infer->is_tensor ? "FP32" : "BYTES", type);
	status = read_shape(r, input);
	return status ? status : read_data(r, input);
}

fw_status fw_infer_read(struct fw_infer *infer, const struct fw_infer_limits *limits,
			struct fw_body *body, size_t json_bytes, struct fw_error *err)
{
	struct reading r = {
		.infer = infer,
		.limits = limits,
		.body = body,
		.json_bytes = json_bytes,
		.err = err,
	};
	struct fw_infer_image *images = infer->images;
	json_t *tree = NULL;
	fw_status status;

	*infer = (struct fw_infer){ .images = images };
	if (json_bytes > body->size)
		return fw_fail(err, FW_ERR_FORMAT,
			       "Inference-Header-Content-Length is %zu, the body has %zu bytes",
			       json_bytes, body->size);
	status = fw_json_in_parse(body->bytes, json_bytes, limits->json_bytes, &tree, err);
	if (!status && !(status = read_id(&r, tree)) && !(status = read_parameters(&r, tree)) &&
	    !(status = read_outputs(&r, tree)))
		status = read_inputs(&r, tree);
	json_decref(tree);
	return status;
}
