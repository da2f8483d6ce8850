/* Classes to the outputs of an infer answer. */
#include "base/json_writer.h"
#include "serve/infer.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *type;
} outputs[FW_INFER_KINDS] = {
	[FW_INFER_CLASS_ID] = { "class_id", "UINT32" },
	[FW_INFER_PROBABILITY] = { "probability", "FP32" },
	[FW_INFER_LABEL] = { "label", "BYTES" },
};

const char *fw_infer_output_name(enum fw_infer_kind kind)
{
	return outputs[kind].name;
}

const char *fw_infer_output_type(enum fw_infer_kind kind)
{
	return outputs[kind].type;
}

struct writing {
	const struct fw_infer *infer;
	const struct fw_infer_answer *answer;
	struct fw_str text; /* of one element */
	struct fw_str binary;
};

/* One element of an output: class `rank` of an image. */
struct element {
	uint32_t id;
	float probability;
	const char *text; /* NULL: it is a number */
	size_t len;
};

static uint32_t columns_of(const struct writing *w, const struct fw_infer_output *output)
{
	return output->classification ? output->classification : w->infer->top;
}

static struct element get_element(struct writing *w, const struct fw_infer_output *output,
				  uint32_t image, uint32_t rank)
{
	const struct fw_infer_answer *answer = w->answer;
	size_t at = (size_t)image * answer->stride + rank;
	struct element e = { .id = answer->ids[at], .probability = answer->probabilities[at] };

	if (output->classification) {
		fw_str_clear(&w->text);
		fw_str_printf(&w->text, "%.6f:%u", (double)e.probability, e.id);
		if (answer->labels)
			fw_str_printf(&w->text, ":%s", answer->labels->names[e.id]);
		e.text = fw_str_text(&w->text);
	} else if (output->kind == FW_INFER_LABEL) {
		e.text = answer->labels->names[e.id];
	}
	e.len = e.text ? strlen(e.text) : 0;
	return e;
}

static void put_le32(struct fw_str *out, uint32_t value)
{
	const char bytes[] = { (char)(value & 0xff), (char)(value >> 8 & 0xff),
			       (char)(value >> 16 & 0xff), (char)(value >> 24) };

	fw_str_append(out, bytes, sizeof(bytes));
}

static void put_binary(struct writing *w, const struct fw_infer_output *output,
		       const struct element *e)
{
	uint32_t bits;

	if (e->text) {
		put_le32(&w->binary, (uint32_t)e->len);
		fw_str_append(&w->binary, e->text, e->len);
		return;
	}
	memcpy(&bits, &e->probability, sizeof(bits));
	put_le32(&w->binary, output->kind == FW_INFER_CLASS_ID ? e->id : bits);
}

static void put_json(struct fw_json *json, const struct fw_infer_output *output,
		     const struct element *e)
{
	if (e->text)
		fw_json_bytes(json, NULL, e->text, e->len);
	else if (output->kind == FW_INFER_CLASS_ID)
		fw_json_uint(json, NULL, e->id);
	else
		fw_json_double(json, NULL, (double)e->probability);
}

static void write_output(struct writing *w, const struct fw_infer_output *output,
			 struct fw_json *json)
{
	uint32_t columns = columns_of(w, output);
	size_t before = w->binary.len;

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", outputs[output->kind].name);
	fw_json_string(json, "datatype",
		       output->classification ? "BYTES" : outputs[output->kind].type);
	fw_json_begin_array(json, "shape");
	fw_json_uint(json, NULL, w->infer->count);
	fw_json_uint(json, NULL, columns);
	fw_json_end_array(json);
	if (!output->is_binary)
		fw_json_begin_array(json, "data");
	for (uint32_t i = 0; i < w->infer->count * columns; i++) {
		struct element e = get_element(w, output, i / columns, i % columns);

		if (output->is_binary)
			put_binary(w, output, &e);
		else
			put_json(json, output, &e);
	}
	if (output->is_binary) {
		fw_json_begin_object(json, "parameters");
		fw_json_uint(json, "binary_data_size", w->binary.len - before);
		fw_json_end_object(json);
	} else {
		fw_json_end_array(json);
	}
	fw_json_end_object(json);
}

size_t fw_infer_write(const struct fw_infer *infer, const struct fw_infer_answer *answer,
		      struct fw_str *out)
{
	struct writing w = { .infer = infer, .answer = answer };
	struct fw_json json = { .out = out };
	size_t start = out->len, json_bytes;

	fw_json_begin_object(&json, NULL);
	fw_json_string(&json, "model_name", answer->model);
	fw_json_string(&json, "model_version", FW_INFER_VERSION);
	if (infer->id[0])
		fw_json_string(&json, "id", infer->id);
	fw_json_begin_array(&json, "outputs");
	for (uint32_t i = 0; i < infer->n_outputs; i++)
		write_output(&w, &infer->outputs[i], &json);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	json_bytes = w.binary.len ? out->len - start : 0;
	fw_str_append(out, fw_str_text(&w.binary), w.binary.len);
	out->failed = out->failed || w.binary.failed || w.text.failed;
	fw_str_release(&w.binary);
	fw_str_release(&w.text);
	return json_bytes;
}
