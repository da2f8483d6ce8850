/* An ONNX model, shapes for it before and after folding, and plans. */
#include "nn/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The batch that the model fixes, or 2. */
static int64_t batch_of(const struct fw_nn_graph *graph)
{
	const struct fw_nn_value *input = graph->n_inputs ? &graph->values[graph->inputs[0]] : NULL;

	return input && input->rank && input->dims[0] != FW_NN_BATCH ? input->dims[0] : 2;
}

/* Fused as engines like it best, and not at all. */
static void make_plans(const struct fw_nn_graph *graph)
{
	for (int fuse = 0; fuse < 2; fuse++) {
		const struct fw_nn_plan_options options = {
			.batch = batch_of(graph),
			.precision = FW_NN_FP16,
			.channel_multiple = 4,
			.concat_in_place = true,
			.residual_in_place = true,
			.fuse = fuse,
		};
		struct fw_nn_plan plan;

		if (!fw_nn_plan_make(graph, &options, &plan, NULL))
			fw_nn_plan_free(&plan);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_nn_read_options options = { .dynamic = size & 1, .max_bytes = 64 << 20 };
	struct fw_arena arena = { 0 };
	struct fw_nn_shape *shapes;
	struct fw_nn_graph graph;

	if (fw_nn_onnx_parse(data, size, NULL, &options, &graph, NULL))
		return 0;
	if (!fw_nn_infer(&graph, batch_of(&graph), &arena, &shapes, NULL) &&
	    !fw_nn_fold(&graph, NULL))
		make_plans(&graph);
	fw_arena_release(&arena);
	fw_nn_graph_free(&graph);
	return 0;
}
