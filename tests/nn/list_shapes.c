/* Prints the shape of every value of an ONNX model for a batch size: what compare_shapes.py compares. */
#include "nn/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_shapes(const struct fw_nn_graph *graph, const struct fw_nn_shape *shapes)
{
	for (uint32_t i = 0; i < graph->n_values; i++) {
		if (!*graph->values[i].name)
			continue;
		printf("%s %s", graph->values[i].name, fw_nn_type_name(graph->values[i].type));
		for (uint32_t d = 0; d < shapes[i].rank; d++)
			printf(" %lld", (long long)shapes[i].dims[d]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_arena arena = { 0 };
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;
	struct fw_nn_shape *shapes;
	fw_status status;

	if (argc != 3) {
		fprintf(stderr, "usage: nn_list_shapes MODEL BATCH\n");
		return 2;
	}
	status = fw_nn_onnx_read(argv[1], &options, &graph, &err);
	if (!status) {
		status = fw_nn_infer(&graph, strtoll(argv[2], NULL, 10), &arena, &shapes, &err);
		if (!status)
			print_shapes(&graph, shapes);
		fw_arena_release(&arena);
		fw_nn_graph_free(&graph);
	}
	if (!status)
		return 0;
	fprintf(stderr, "%s: %s\n", fw_status_name(status), err.message);
	return 1;
}
