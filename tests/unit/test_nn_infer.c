/* Shapes of small models that tests/nn/make_small.py makes; tests/nn/compare_shapes.py compares whole networks. */
#include "nn/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER FW_SOURCE "/tests/fuzz/corpus/onnx/"

static void open_graph(const char *name, struct fw_nn_graph *graph)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_error err = { 0 };
	char path[512];

	snprintf(path, sizeof(path), FOLDER "%s.onnx", name);
	if (fw_nn_onnx_read(path, &options, graph, &err))
		fail_msg("%s: %s", name, err.message);
}

static void gives_every_value_a_shape(void **state)
{
	struct fw_arena arena = { 0 };
	struct fw_nn_graph graph;
	struct fw_nn_shape *shapes;

	(void)state;
	open_graph("small", &graph);
	assert_int_equal(fw_nn_infer(&graph, 5, &arena, &shapes, NULL), FW_OK);
	/* 3 x 8 x 8, 3 x 3 filters, padding 1, stride 2: (8 + 2 - 3) / 2 + 1 = 4. */
	assert_int_equal(shapes[graph.nodes[0].outputs[0]].dims[0], 5);
	assert_int_equal(shapes[graph.nodes[0].outputs[0]].dims[1], 4);
	assert_int_equal(shapes[graph.nodes[0].outputs[0]].dims[2], 4);
	assert_int_equal(shapes[graph.outputs[0]].rank, 2);
	assert_int_equal(shapes[graph.outputs[0]].dims[1], 2);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
}

static void keeps_to_a_fixed_batch(void **state)
{
	struct fw_arena arena = { 0 };
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;
	struct fw_nn_shape *shapes;

	(void)state;
	open_graph("weights-as-inputs", &graph);
	assert_int_equal(fw_nn_infer(&graph, 1, &arena, &shapes, NULL), FW_OK);
	assert_int_equal(fw_nn_infer(&graph, 2, &arena, &shapes, &err), FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "the model fixes it at 1"));
	assert_null(shapes);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
}

static void refuses(const char *name, const char *text)
{
	struct fw_arena arena = { 0 };
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;
	struct fw_nn_shape *shapes;

	open_graph(name, &graph);
	if (fw_nn_infer(&graph, 2, &arena, &shapes, &err) != FW_ERR_UNSUPPORTED ||
	    !strstr(err.message, text) || !strstr(err.message, "/node: "))
		fail_msg("%s: %s, not \"%s\"", name, err.message, text);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
}

static void refuses_what_does_not_fit(void **state)
{
	(void)state;
	refuses("bad-attribute", "group is no integer");
	refuses("bad-channels", "filters of 1 x 2 channels (rank 4) in 1 groups");
	refuses("bad-stride", "strides holds 0");
	refuses("bad-padding", "pads holds 4611686018427387904");
	refuses("bad-dilation", "dilations holds 1099511627776");
	refuses("bad-reshape", "8 elements do not fill");
	refuses("bad-perm", "perm holds 1 twice");
	refuses("bad-axis", "axis 4 of 4 dimensions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_every_value_a_shape),
		cmocka_unit_test(keeps_to_a_fixed_batch),
		cmocka_unit_test(refuses_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
