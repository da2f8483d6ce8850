/* A batch norm goes into the convolution before it. */
#include "nn/fold.h"

#include <math.h>
#include <string.h>

/* What it does to a channel: x scale + shift, in double. */
struct channel {
	double scale, shift;
};

static bool is_floats(const struct fw_nn_fold *f, uint32_t value)
{
	const struct fw_nn_value *v = fw_nn_fold_value(f, value);

	return v->data && v->type == FW_NN_F32;
}

static struct channel channel_of(const struct fw_nn_fold *f, const struct fw_nn_node *norm,
				 size_t i)
{
	double epsilon = (double)fw_nn_attr_float(norm, "epsilon", 1e-5f), row[4];
	double scale;

	for (uint32_t k = 0; k < 4; k++)
		row[k] = (double)((const float *)fw_nn_fold_value(f, norm->inputs[1 + k])->data)[i];
	scale = row[0] / sqrt(row[3] + epsilon);
	return (struct channel){ scale, row[1] - row[2] * scale };
}

/* Scaled filters and a bias, both new: others may read the old ones. */
static fw_status scale_filters(struct fw_nn_fold *f, const struct fw_nn_node *conv,
			       const struct fw_nn_node *norm, uint32_t inputs[3],
			       struct fw_error *err)
{
	struct fw_nn_value filters = *fw_nn_fold_value(f, conv->inputs[1]);
	struct fw_nn_value row = *fw_nn_fold_value(f, norm->inputs[2]);
	size_t channels = (size_t)filters.dims[0], each = filters.bytes / sizeof(float) / channels;
	const float *from = filters.data, *bias = NULL;
	float *w, *b;
	void *data;
	fw_status status = fw_nn_fold_constant(f, &filters, &inputs[1], &data, err);

	w = data;
	if (!status)
		status = fw_nn_fold_constant(f, &row, &inputs[2], &data, err);
	b = data;
	if (status)
		return status;
	if (conv->n_inputs > 2 && conv->inputs[2] != FW_NN_NONE)
		bias = fw_nn_fold_value(f, conv->inputs[2])->data;
	for (size_t k = 0; k < channels; k++) {
		struct channel channel = channel_of(f, norm, k);

		for (size_t i = k * each; i < (k + 1) * each; i++)
			w[i] = (float)((double)from[i] * channel.scale);
		b[k] = (float)((bias ? (double)bias[k] : 0.0) * channel.scale + channel.shift);
	}
	return FW_OK;
}

static bool is_constant(const struct fw_nn_fold *f, const struct fw_nn_node *conv,
			const struct fw_nn_node *norm)
{
	for (uint32_t i = 1; i < 5; i++)
		if (!is_floats(f, norm->inputs[i]))
			return false;
	for (uint32_t i = 1; i < conv->n_inputs; i++)
		if (conv->inputs[i] != FW_NN_NONE && !is_floats(f, conv->inputs[i]))
			return false;
	return true;
}

/* The convolution makes the norm's result; a norm of anything else stays. */
static fw_status fold_norm(struct fw_nn_fold *f, uint32_t node, struct fw_error *err)
{
	struct fw_nn_node *norm = &f->graph->nodes[node];
	struct fw_nn_node *conv = fw_nn_fold_producer(f, norm->inputs[0], FW_NN_CONV, true);
	uint32_t inputs[3];
	fw_status status;

	if (!conv || !is_constant(f, conv, norm))
		return FW_OK;
	inputs[0] = conv->inputs[0];
	status = scale_filters(f, conv, norm, inputs, err);
	if (!status)
		status = fw_nn_fold_set_inputs(f, conv, 3, inputs, err);
	if (status)
		return status;
	conv->outputs = norm->outputs;
	fw_nn_fold_value(f, norm->outputs[0])->producer = (uint32_t)(conv - f->graph->nodes);
	f->dropped[node] = true;
	return FW_OK;
}

fw_status fw_nn_fold_batch_norms(struct fw_nn_fold *f, struct fw_error *err)
{
	for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
		fw_status status = FW_OK;

		if (f->graph->nodes[i].op == FW_NN_BATCH_NORM && !f->dropped[i])
			status = fold_norm(f, i, err);
		if (status)
			return status;
	}
	return FW_OK;
}
