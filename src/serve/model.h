#ifndef FW_SERVE_MODEL_H
#define FW_SERVE_MODEL_H
/* What the commands do before their own work: read a model, fold it; words for options. */
#include "nn/plan.h"

/* Reads and folds; free with fw_nn_graph_free. */
fw_status fw_serve_load(const char *path, bool dynamic, struct fw_nn_graph *graph,
			struct fw_error *err);

/* "fp32", "fp16", "bf16"; false: another word. */
bool fw_serve_precision(const char *text, enum fw_nn_precision *precision);

#endif
