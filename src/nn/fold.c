/* Rewrites a graph so that only what depends on the input is left of it. */
#include "nn/fold.h"

#include <string.h>

/*
 * Folded constants together take at most so many times the model's own and something: weights keep their size, and each is
 * rewritten once or twice; a few nodes of a hostile file would expand a number to gigabytes.
 */
#define FOLDED_FACTOR 4
#define FOLDED_BASE   ((size_t)64 << 20)

struct fw_nn_node *fw_nn_fold_producer(const struct fw_nn_fold *f, uint32_t value, enum fw_nn_op op,
				       bool only_use)
{
	uint32_t node = value == FW_NN_NONE ? FW_NN_NONE : fw_nn_fold_value(f, value)->producer;

	if (node == FW_NN_NONE || f->graph->nodes[node].op != op || f->dropped[node])
		return NULL;
	return only_use && f->uses[value] != 1 ? NULL : &f->graph->nodes[node];
}

fw_status fw_nn_fold_constant(struct fw_nn_fold *f, const struct fw_nn_value *like, uint32_t *value,
			      void **data, struct fw_error *err)
{
	struct fw_nn_value copy = *like, *v;

	if (copy.bytes > f->left)
		return fw_fail(err, FW_ERR_NOMEM,
			       "%s: folded constants take more than %d times the model's",
			       copy.name, FOLDED_FACTOR);
	*data = fw_arena_alloc(&f->graph->arena, copy.bytes);
	v = *data ? fw_vec_push(&f->values) : NULL;
	if (!v || f->values.len >= FW_NN_NONE)
		return fw_fail_nomem(err, copy.bytes);
	f->left -= copy.bytes;
	copy.data = *data;
	copy.producer = FW_NN_NONE;
	*v = copy;
	*value = (uint32_t)(f->values.len - 1);
	return FW_OK;
}

fw_status fw_nn_fold_set_inputs(struct fw_nn_fold *f, struct fw_nn_node *node, uint32_t n,
				const uint32_t *inputs, struct fw_error *err)
{
	uint32_t *copy = fw_arena_array(&f->graph->arena, n, sizeof(*copy));

	if (!copy)
		return fw_fail_nomem(err, n * sizeof(*copy));
	memcpy(copy, inputs, n * sizeof(*copy));
	node->inputs = copy;
	node->n_inputs = n;
	return FW_OK;
}

static bool passes_through(const struct fw_nn_fold *f, const struct fw_nn_node *node)
{
	if (node->op == FW_NN_CAST)
		return fw_nn_fold_value(f, node->inputs[0])->type ==
		       fw_nn_fold_value(f, node->outputs[0])->type;
	return node->op == FW_NN_IDENTITY || (node->op == FW_NN_DROPOUT && node->n_outputs == 1);
}

/* Whoever read the result of a node that changes nothing reads its input. */
static fw_status drop_copies(struct fw_nn_fold *f, struct fw_error *err)
{
	struct fw_nn_graph *graph = f->graph;
	uint32_t *same = fw_arena_array(&f->scratch, graph->n_values, sizeof(*same)), *inputs;

	if (!same)
		return fw_fail_nomem(err, graph->n_values * sizeof(*same));
	for (uint32_t i = 0; i < graph->n_values; i++)
		same[i] = i;
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct fw_nn_node *node = &graph->nodes[i];

		inputs = fw_arena_array(&graph->arena, node->n_inputs, sizeof(*inputs));
		if (!inputs)
			return fw_fail_nomem(err, node->n_inputs * sizeof(*inputs));
		for (uint32_t k = 0; k < node->n_inputs; k++)
			inputs[k] =
				node->inputs[k] == FW_NN_NONE ? FW_NN_NONE : same[node->inputs[k]];
		node->inputs = inputs;
		if (passes_through(f, node)) {
			same[node->outputs[0]] = inputs[0];
			f->dropped[i] = true;
		}
	}
	for (uint32_t i = 0; i < graph->n_outputs; i++) {
		struct fw_nn_value *kept = fw_nn_fold_value(f, same[graph->outputs[i]]);

		/* The output keeps the name by which its users know it. */
		if (kept->producer != FW_NN_NONE)
			kept->name = fw_nn_fold_value(f, graph->outputs[i])->name;
		graph->outputs[i] = same[graph->outputs[i]];
	}
	return FW_OK;
}

static void count_uses(struct fw_nn_fold *f)
{
	struct fw_nn_graph *graph = f->graph;

	memset(f->uses, 0, graph->n_values * sizeof(*f->uses));
	for (uint32_t i = 0; i < graph->n_outputs; i++)
		f->uses[graph->outputs[i]]++;
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		for (uint32_t k = 0; !f->dropped[i] && k < graph->nodes[i].n_inputs; k++)
			if (graph->nodes[i].inputs[k] < graph->n_values)
				f->uses[graph->nodes[i].inputs[k]]++;
}

/* Drops what no output needs, and closes the gaps between the nodes. */
static fw_status keep_live(struct fw_nn_fold *f, struct fw_error *err)
{
	struct fw_nn_graph *graph = f->graph;
	bool *needed = fw_arena_alloc(&f->scratch, f->values.len);
	uint32_t kept = 0;

	if (!needed)
		return fw_fail_nomem(err, f->values.len);
	for (uint32_t i = 0; i < graph->n_outputs; i++)
		needed[graph->outputs[i]] = true;
	for (uint32_t i = graph->n_nodes; i-- > 0;) {
		const struct fw_nn_node *node = &graph->nodes[i];
		bool live = false;

		for (uint32_t k = 0; k < node->n_outputs; k++)
			live |= needed[node->outputs[k]];
		f->dropped[i] |= !live;
		for (uint32_t k = 0; !f->dropped[i] && k < node->n_inputs; k++)
			if (node->inputs[k] != FW_NN_NONE)
				needed[node->inputs[k]] = true;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct fw_nn_node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->n_outputs; k++)
			fw_nn_fold_value(f, node->outputs[k])->producer = FW_NN_NONE;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		if (f->dropped[i])
			continue;
		for (uint32_t k = 0; k < graph->nodes[i].n_outputs; k++)
			fw_nn_fold_value(f, graph->nodes[i].outputs[k])->producer = kept;
		graph->nodes[kept++] = graph->nodes[i];
	}
	graph->n_nodes = kept;
	return FW_OK;
}

static fw_status settle(struct fw_nn_fold *f, struct fw_error *err)
{
	struct fw_nn_graph *graph = f->graph;
	struct fw_nn_value *values = fw_arena_array(&graph->arena, f->values.len, sizeof(*values));

	if (!values)
		return fw_fail_nomem(err, f->values.len * sizeof(*values));
	memcpy(values, f->values.data, f->values.len * sizeof(*values));
	graph->values = values;
	graph->n_values = (uint32_t)f->values.len;
	return FW_OK;
}

/* The shapes for the model's own batch, or for two batches, of which neither is a number of one axis or pixel. */
static fw_status infer_twice(struct fw_nn_fold *f, struct fw_error *err)
{
	const struct fw_nn_graph *graph = f->graph;
	const struct fw_nn_value *first = graph->n_inputs ? &graph->values[graph->inputs[0]] : NULL;
	bool is_open = false;

	for (uint32_t i = 0; i < graph->n_inputs; i++)
		for (uint32_t d = 0; d < graph->values[graph->inputs[i]].rank; d++)
			is_open |= graph->values[graph->inputs[i]].dims[d] == FW_NN_BATCH;
	for (int i = 0; i < 2; i++) {
		struct fw_nn_inference in = { .arena = &f->scratch };
		int64_t batch = is_open ? 2 + i : first && first->rank ? first->dims[0] : 1;
		fw_status status = fw_nn_infer_all(graph, batch, &in, err);

		/* An exporter may have written a batch of 1 into a shape although the input's axis is open. */
		if (status && is_open)
			fw_error_prefix(err, "with %lld samples", (long long)batch);
		if (status)
			return status;
		f->shapes[i] = in.shapes;
		f->ints[i] = in.ints;
	}
	return FW_OK;
}

static fw_status fold(struct fw_nn_fold *f, struct fw_error *err)
{
	struct fw_nn_graph *graph = f->graph;
	struct fw_nn_value *values;
	fw_status status = infer_twice(f, err);

	if (status)
		return status;
	f->dropped = fw_arena_array(&f->scratch, graph->n_nodes, sizeof(*f->dropped));
	f->uses = fw_arena_array(&f->scratch, graph->n_values, sizeof(*f->uses));
	if (!f->dropped || !f->uses || !fw_vec_reserve(&f->values, graph->n_values))
		return fw_fail_nomem(err, graph->n_values * sizeof(*values));
	values = f->values.data;
	if (graph->n_values)
		memcpy(values, graph->values, graph->n_values * sizeof(*values));
	f->values.len = graph->n_values;
	status = drop_copies(f, err);
	if (!status)
		status = fw_nn_fold_shapes(f, err);
	if (!status)
		status = fw_nn_fold_constants(f, err);
	count_uses(f);
	if (!status)
		status = fw_nn_fold_batch_norms(f, err);
	if (!status)
		status = fw_nn_fold_layer_norms(f, err);
	if (!status)
		status = keep_live(f, err);
	return status ? status : settle(f, err);
}

fw_status fw_nn_fold(struct fw_nn_graph *graph, struct fw_error *err)
{
	struct fw_nn_fold f = { .graph = graph,
				.values = FW_VEC(struct fw_nn_value),
				.left = FOLDED_BASE };
	fw_status status;

	/* The reader bounds their sum, 8 GiB if not asked for otherwise. */
	for (uint32_t i = 0; i < graph->n_values; i++)
		f.left += FOLDED_FACTOR * graph->values[i].bytes;
	status = fold(&f, err);
	fw_vec_release(&f.values);
	fw_arena_release(&f.scratch);
	return status;
}
