/* What the commands do before their own work. */
#include "serve/model.h"

#include <string.h>

fw_status fw_serve_load(const char *path, bool dynamic, struct fw_nn_graph *graph,
			struct fw_error *err)
{
	const struct fw_nn_read_options options = { .dynamic = dynamic };
	fw_status status = fw_nn_onnx_read(path, &options, graph, err);

	if (status)
		return status;
	status = fw_nn_fold(graph, err);
	if (status)
		fw_nn_graph_free(graph);
	return status;
}

bool fw_serve_precision(const char *text, enum fw_nn_precision *precision)
{
	static const enum fw_nn_precision all[] = { FW_NN_FP32, FW_NN_FP16, FW_NN_BFLOAT16 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(text, fw_nn_precision_name(all[i]))) {
			*precision = all[i];
			return true;
		}
	return false;
}
