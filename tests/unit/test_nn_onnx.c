/* Reading of ONNX files; they are made by tests/nn/make_small.py. */
#include "base/file.h"
#include "nn/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER FW_SOURCE "/tests/fuzz/corpus/onnx/"

static fw_status read_file(const char *name, struct fw_nn_graph *graph, struct fw_error *err)
{
	struct fw_nn_read_options options = { 0 };
	char path[512];

	snprintf(path, sizeof(path), FOLDER "%s.onnx", name);
	return fw_nn_onnx_read(path, &options, graph, err);
}

static void reads_a_network(void **state)
{
	struct fw_nn_graph graph;
	const struct fw_nn_value *value;
	const struct fw_nn_attr *pads;

	(void)state;
	assert_int_equal(read_file("small", &graph, NULL), FW_OK);
	assert_int_equal(graph.opset, 17);
	assert_int_equal(graph.n_nodes, 6);
	assert_int_equal(graph.n_inputs, 1);
	value = &graph.values[graph.inputs[0]];
	assert_string_equal(value->name, "x");
	assert_int_equal(value->rank, 4);
	assert_int_equal(value->dims[0], FW_NN_BATCH);
	assert_int_equal(value->dims[3], 8);
	assert_int_equal(graph.nodes[0].op, FW_NN_CONV);
	assert_string_equal(graph.nodes[0].name, "/conv");
	pads = fw_nn_attr_find(&graph.nodes[0], "pads");
	assert_non_null(pads);
	assert_int_equal(pads->n, 4);
	assert_int_equal(pads->ints[3], 1);
	value = &graph.values[graph.nodes[1].inputs[4]];
	assert_string_equal(value->name, "bn.var");
	assert_int_equal(value->bytes, 16);
	assert_true(((const float *)value->data)[1] == 0.25f);
	assert_int_equal(graph.values[graph.outputs[0]].producer, 5);
	fw_nn_graph_free(&graph);
}

static void reads_weights_as_inputs(void **state)
{
	struct fw_nn_graph graph;

	(void)state;
	assert_int_equal(read_file("weights-as-inputs", &graph, NULL), FW_OK);
	assert_int_equal(graph.n_inputs, 1);
	assert_int_equal(graph.values[graph.inputs[0]].dims[0], 1);
	fw_nn_graph_free(&graph);
}

/* The second operand of the last node: a constant, or a Cast of one. */
static const struct fw_nn_value *operand(const struct fw_nn_graph *graph)
{
	uint32_t value = graph->nodes[graph->n_nodes - 1].inputs[1];

	if (graph->values[value].producer != FW_NN_NONE)
		value = graph->nodes[graph->values[value].producer].inputs[0];
	return &graph->values[value];
}

static void reads_every_storage_form(void **state)
{
	struct fw_nn_graph graph;

	(void)state;
	assert_int_equal(read_file("float-data", &graph, NULL), FW_OK);
	assert_true(((const float *)operand(&graph)->data)[1] == -2);
	fw_nn_graph_free(&graph);
	assert_int_equal(read_file("int64-data", &graph, NULL), FW_OK);
	assert_int_equal(((const int64_t *)operand(&graph)->data)[1], -1);
	fw_nn_graph_free(&graph);
	assert_int_equal(read_file("half-data", &graph, NULL), FW_OK);
	assert_int_equal(operand(&graph)->type, FW_NN_F16);
	assert_int_equal(((const uint16_t *)operand(&graph)->data)[1], 0xc000);
	fw_nn_graph_free(&graph);
}

static void makes_the_batch_dynamic_when_asked(void **state)
{
	struct fw_nn_read_options options = { .dynamic = true };
	struct fw_nn_graph graph;

	(void)state;
	assert_int_equal(fw_nn_onnx_read(FOLDER "weights-as-inputs.onnx", &options, &graph, NULL),
			 FW_OK);
	assert_int_equal(graph.values[graph.inputs[0]].dims[0], FW_NN_BATCH);
	fw_nn_graph_free(&graph);
}

static void refuses(const char *name, fw_status status, const char *text)
{
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;

	if (read_file(name, &graph, &err) != status || !strstr(err.message, text))
		fail_msg("%s: %s, not \"%s\"", name, err.message, text);
	assert_null(graph.values);
}

static void refuses_what_is_wrong(void **state)
{
	(void)state;
	refuses("bad-truncated", FW_ERR_FORMAT, "no ONNX model");
	refuses("bad-cycle", FW_ERR_FORMAT, "node /a: its input \"b\"");
	refuses("bad-missing", FW_ERR_FORMAT, "node /node: its input \"nowhere\"");
	refuses("bad-twice", FW_ERR_FORMAT, "\"y\" is made twice");
	refuses("bad-output", FW_ERR_FORMAT, "output \"z\": nothing makes it");
	refuses("bad-operator", FW_ERR_UNSUPPORTED, "node /node: operator \"LSTM\"");
	refuses("bad-domain", FW_ERR_UNSUPPORTED, "Relu of domain com.example");
	refuses("bad-opset", FW_ERR_UNSUPPORTED, "opset 8: opsets 9 to 20");
	refuses("bad-ir", FW_ERR_UNSUPPORTED, "IR version 99");
	refuses("bad-huge-dims", FW_ERR_FORMAT, "tensor b: dimension 1 is 4294967296");
	refuses("bad-negative-dim", FW_ERR_FORMAT, "tensor b: dimension 0 is -4");
	refuses("bad-short-data", FW_ERR_FORMAT, "tensor b: 12 bytes; its shape takes 16");
	refuses("bad-rank", FW_ERR_UNSUPPORTED, "tensor b: 9 dimensions");
	refuses("bad-type", FW_ERR_UNSUPPORTED, "tensor b: element type 8");
	refuses("bad-byte-range", FW_ERR_FORMAT, "tensor b: element 0: 256");
	refuses("bad-open-size", FW_ERR_UNSUPPORTED, "input x: dimension 2 (h)");
}

static void refuses_data_outside(void **state)
{
	(void)state;
	refuses("outside-absolute", FW_ERR_FORMAT, "not a path below");
	refuses("outside-parent", FW_ERR_FORMAT, "not a path below");
	refuses("outside-number", FW_ERR_FORMAT, "offset \"1e3\" is no number");
	refuses("outside-absent", FW_ERR_IO, "nothing.bin");
}

/* The corpus has no data file beside its models; these are read from a folder that has. */
static void reads_external_data(void **state)
{
	static const struct {
		const char *name;
		fw_status status;
	} cases[] = { { "outside-good", FW_OK },
		      { "outside-offset", FW_ERR_FORMAT },
		      { "outside-overflow", FW_ERR_FORMAT },
		      { "outside-length", FW_ERR_FORMAT },
		      { "outside-link", FW_ERR_FORMAT } };
	const float numbers[3] = { 1, 2, 3 };
	struct fw_nn_read_options options = { 0 };
	char folder[] = "/tmp/fw_nn_XXXXXX", path[512];
	struct fw_nn_graph graph;
	struct fw_file file;
	FILE *data;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/link.bin", folder);
	assert_int_equal(symlink(FOLDER "small.onnx", path), 0);
	snprintf(path, sizeof(path), "%s/data.bin", folder);
	data = fopen(path, "wb");
	assert_non_null(data);
	assert_int_equal(fwrite(numbers, 4, 3, data), 3);
	fclose(data);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(path, sizeof(path), FOLDER "%s.onnx", cases[i].name);
		assert_int_equal(fw_file_open(&file, path, NULL), FW_OK);
		assert_int_equal(
			fw_nn_onnx_parse(file.data, file.size, folder, &options, &graph, NULL),
			cases[i].status);
		fw_file_close(&file);
		if (cases[i].status)
			continue;
		assert_true(((const float *)operand(&graph)->data)[0] == 2);
		assert_true(((const float *)operand(&graph)->data)[1] == 3);
		fw_nn_graph_free(&graph);
	}
	snprintf(path, sizeof(path), "%s/link.bin", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/data.bin", folder);
	unlink(path);
	rmdir(folder);
}

static void refuses_every_shorter_file(void **state)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_nn_graph graph;
	struct fw_file file;

	(void)state;
	assert_int_equal(fw_file_open(&file, FOLDER "small.onnx", NULL), FW_OK);
	for (size_t size = 0; size < file.size; size++) {
		/* Of its own size, so that the address sanitizer sees what lies behind. */
		unsigned char *bytes = malloc(size ? size : 1);

		assert_non_null(bytes);
		memcpy(bytes, file.data, size);
		assert_int_not_equal(fw_nn_onnx_parse(bytes, size, NULL, &options, &graph, NULL),
				     FW_OK);
		free(bytes);
	}
	fw_file_close(&file);
}

/* 2-byte empty nodes take 60 times their size once unpacked: 40 MB of them would take gigabytes. */
static void bounds_the_memory_of_messages(void **state)
{
	struct fw_nn_read_options options = { 0 };
	const size_t size = (size_t)40 << 20;
	unsigned char *bytes = malloc(size);
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0, size);
	/* graph (field 7) of size - 6 bytes, in a length of five digits of base 128. */
	bytes[0] = 7 << 3 | 2;
	for (int i = 0; i < 5; i++)
		bytes[1 + i] = (unsigned char)(((size - 6) >> (7 * i) & 127) | (i < 4 ? 128 : 0));
	for (size_t i = 6; i < size; i += 2)
		bytes[i] = 1 << 3 | 2;
	assert_int_equal(fw_nn_onnx_parse(bytes, size, NULL, &options, &graph, &err), FW_ERR_NOMEM);
	assert_non_null(strstr(err.message, "4 times its size"));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_network),
		cmocka_unit_test(reads_weights_as_inputs),
		cmocka_unit_test(reads_every_storage_form),
		cmocka_unit_test(makes_the_batch_dynamic_when_asked),
		cmocka_unit_test(refuses_what_is_wrong),
		cmocka_unit_test(refuses_data_outside),
		cmocka_unit_test(reads_external_data),
		cmocka_unit_test(refuses_every_shorter_file),
		cmocka_unit_test(bounds_the_memory_of_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
