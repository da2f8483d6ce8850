/* An ONNX model, shapes for it before and after folding. */
#include "nn/graph.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_nn_read_options options = { .dynamic = size & 1, .max_bytes = 64 << 20 };
	struct fw_arena arena = { 0 };
	struct fw_nn_shape *shapes;
	struct fw_nn_graph graph;

	if (fw_nn_onnx_parse(data, size, NULL, &options, &graph, NULL))
		return 0;
	if (!fw_nn_infer(&graph, 2, &arena, &shapes, NULL) && !fw_nn_fold(&graph, NULL))
		(void)fw_nn_infer(&graph, 3, &arena, &shapes, NULL);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
	return 0;
}
