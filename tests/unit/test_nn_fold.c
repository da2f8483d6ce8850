/* Folding of small models that tests/nn/make_small.py makes; tests/nn/compare_folded.py runs whole folded networks. */
#include "nn/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER FW_SOURCE "/tests/fuzz/corpus/onnx/"

static void fold_file(const char *name, struct fw_nn_graph *graph)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_error err = { 0 };
	char path[512];

	snprintf(path, sizeof(path), FOLDER "%s.onnx", name);
	if (fw_nn_onnx_read(path, &options, graph, &err) || fw_nn_fold(graph, &err))
		fail_msg("%s: %s", name, err.message);
}

/*
 * small.onnx: filters 0.01 i - 0.5 of 27 each; scale 1 2 3 4, shift 0.5, mean 0 1 2 3, variance 1 0.25 4 9. Channel 1:
 * 2 / sqrt(0.25 + 1e-5) = 3.99992; its first filter element is 0.01 * 27 - 0.5 = -0.23, and the bias 0.5 - 3.99992.
 */
static void puts_a_batch_norm_into_its_convolution(void **state)
{
	struct fw_nn_graph graph;
	const struct fw_nn_node *conv;
	const float *w, *b;

	(void)state;
	fold_file("small", &graph);
	assert_int_equal(graph.n_nodes, 5);
	conv = &graph.nodes[0];
	assert_int_equal(conv->op, FW_NN_CONV);
	assert_int_equal(conv->n_inputs, 3);
	w = graph.values[conv->inputs[1]].data;
	b = graph.values[conv->inputs[2]].data;
	assert_true(fabsf(w[27] - -0.23f * 3.99992f) < 1e-6f);
	assert_true(fabsf(b[1] - (0.5f - 3.99992f)) < 1e-6f);
	/* The next node reads what the convolution makes. */
	assert_int_equal(graph.nodes[1].op, FW_NN_RELU);
	assert_int_equal(graph.nodes[1].inputs[0], conv->outputs[0]);
	assert_int_equal(graph.values[conv->outputs[0]].producer, 0);
	fw_nn_graph_free(&graph);
}

static void keeps_a_batch_norm_whose_input_others_read(void **state)
{
	struct fw_nn_graph graph;

	(void)state;
	fold_file("shared-conv", &graph);
	assert_int_equal(graph.n_nodes, 3);
	assert_int_equal(graph.nodes[1].op, FW_NN_BATCH_NORM);
	fw_nn_graph_free(&graph);
}

/* A Reshape to (Shape(x)[0], 192): only the batch is left open. */
static void knows_computed_shapes(void **state)
{
	struct fw_arena arena = { 0 };
	struct fw_nn_graph graph;
	struct fw_nn_shape *shapes;
	const int64_t *dims;

	(void)state;
	fold_file("computed-shape", &graph);
	assert_int_equal(graph.n_nodes, 1);
	assert_int_equal(graph.nodes[0].op, FW_NN_RESHAPE);
	dims = graph.values[graph.nodes[0].inputs[1]].data;
	assert_non_null(dims);
	assert_int_equal(dims[0], -1);
	assert_int_equal(dims[1], 192);
	assert_int_equal(fw_nn_infer(&graph, 7, &arena, &shapes, NULL), FW_OK);
	assert_int_equal(shapes[graph.outputs[0]].dims[0], 7);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
}

static void drops_what_changes_nothing(void **state)
{
	struct fw_nn_graph graph;

	(void)state;
	fold_file("copies", &graph);
	assert_int_equal(graph.n_nodes, 1);
	assert_int_equal(graph.nodes[0].op, FW_NN_RELU);
	assert_string_equal(graph.values[graph.outputs[0]].name, "y");
	assert_int_equal(graph.values[graph.outputs[0]].producer, 0);
	fw_nn_graph_free(&graph);
}

/* half-data.onnx: 0x3c00 and 0xc000 are 1 and -2 in IEEE half precision. */
static void computes_constants_once(void **state)
{
	struct fw_nn_graph graph;
	const struct fw_nn_value *value;

	(void)state;
	fold_file("half-data", &graph);
	assert_int_equal(graph.n_nodes, 1);
	value = &graph.values[graph.nodes[0].inputs[1]];
	assert_int_equal(value->type, FW_NN_F32);
	assert_true(((const float *)value->data)[0] == 1 && ((const float *)value->data)[1] == -2);
	fw_nn_graph_free(&graph);
}

static void recognises_a_layer_norm(void **state)
{
	struct fw_nn_graph graph;
	const struct fw_nn_node *norm;

	(void)state;
	fold_file("layer-norm-parts", &graph);
	assert_int_equal(graph.n_nodes, 1);
	norm = &graph.nodes[0];
	assert_int_equal(norm->op, FW_NN_LAYER_NORM);
	assert_int_equal(norm->inputs[0], graph.inputs[0]);
	assert_true(fw_nn_attr_float(norm, "epsilon", 0) == 1e-6f);
	assert_int_equal(fw_nn_attr_int(norm, "axis", 0), -1);
	assert_true(((const float *)graph.values[norm->inputs[1]].data)[0] == 2);
	assert_true(((const float *)graph.values[norm->inputs[2]].data)[0] == 3);
	fw_nn_graph_free(&graph);
}

static void says_for_how_many_samples_a_shape_does_not_hold(void **state)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;

	(void)state;
	assert_int_equal(fw_nn_onnx_read(FOLDER "baked-batch.onnx", &options, &graph, NULL), FW_OK);
	assert_int_equal(fw_nn_fold(&graph, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "with 2 samples: Reshape /node: 384 elements"));
	fw_nn_graph_free(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_a_batch_norm_into_its_convolution),
		cmocka_unit_test(keeps_a_batch_norm_whose_input_others_read),
		cmocka_unit_test(knows_computed_shapes),
		cmocka_unit_test(drops_what_changes_nothing),
		cmocka_unit_test(computes_constants_once),
		cmocka_unit_test(recognises_a_layer_norm),
		cmocka_unit_test(says_for_how_many_samples_a_shape_does_not_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
