/* A graph and its shapes become fused steps on NHWC tensors. */
#include "nn/plan_axes.h"

#include <string.h>

#define MAX_BATCH            ((int64_t)1 << 20)
#define MAX_CHANNEL_MULTIPLE 64

const char *fw_nn_step_name(enum fw_nn_step_kind kind)
{
	static const char *const names[] = {
		[FW_NN_STEP_CONV] = "conv",
		[FW_NN_STEP_GEMM] = "gemm",
		[FW_NN_STEP_MAX_POOL] = "max pool",
		[FW_NN_STEP_AVERAGE_POOL] = "average pool",
		[FW_NN_STEP_GLOBAL_AVERAGE] = "global average",
		[FW_NN_STEP_ELEMENTWISE] = "elementwise",
		[FW_NN_STEP_SOFTMAX] = "softmax",
		[FW_NN_STEP_LAYER_NORM] = "layer norm",
		[FW_NN_STEP_ATTENTION] = "attention",
		[FW_NN_STEP_TOKENS] = "tokens",
		[FW_NN_STEP_COPY] = "copy",
	};

	return names[kind];
}

const char *fw_nn_act_name(enum fw_nn_activation kind)
{
	static const char *const names[] = {
		[FW_NN_ACT_NONE] = "none",
		[FW_NN_ACT_CLAMP] = "clamp",
		[FW_NN_ACT_SIGMOID] = "sigmoid",
		[FW_NN_ACT_HARD_SIGMOID] = "hard sigmoid",
		[FW_NN_ACT_HARD_SWISH] = "hard swish",
		[FW_NN_ACT_SWISH] = "swish",
		[FW_NN_ACT_GELU] = "gelu",
		[FW_NN_ACT_GELU_TANH] = "gelu (tanh)",
		[FW_NN_ACT_TANH] = "tanh",
	};

	return names[kind];
}

const char *fw_nn_precision_name(enum fw_nn_precision precision)
{
	static const char *const names[] = {
		[FW_NN_FP32] = "fp32",
		[FW_NN_FP16] = "fp16",
		[FW_NN_BFLOAT16] = "bf16",
	};

	return names[precision];
}

size_t fw_nn_precision_bytes(enum fw_nn_precision precision)
{
	return precision == FW_NN_FP32 ? 4 : 2;
}

/* Whether a node computes integers: inference has used them, no step does. */
static bool is_of_shapes(const struct fw_nn_graph *g, const struct fw_nn_node *node)
{
	enum fw_nn_type type = g->values[node->outputs[0]].type;

	return type == FW_NN_I64 || type == FW_NN_I32 || type == FW_NN_BOOL;
}

/* Which nodes read each value, in order. */
static fw_status index_users(struct fw_nn_planner *p, struct fw_error *err)
{
	const struct fw_nn_graph *g = p->graph;
	uint32_t *fill = fw_arena_array(&p->scratch, g->n_values, sizeof(*fill));
	size_t total = 0;

	p->uses = fw_arena_array(&p->scratch, g->n_values, sizeof(*p->uses));
	p->first_use = fw_arena_array(&p->scratch, (size_t)g->n_values + 1, sizeof(*p->first_use));
	if (!fill || !p->uses || !p->first_use)
		return fw_fail_nomem(err, g->n_values * sizeof(*fill));
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; !is_of_shapes(g, &g->nodes[i]) && k < g->nodes[i].n_inputs;
		     k++)
			if (g->nodes[i].inputs[k] != FW_NN_NONE)
				p->uses[g->nodes[i].inputs[k]]++;
	for (uint32_t v = 0; v < g->n_values; v++) {
		p->first_use[v] = fill[v] = (uint32_t)total;
		total += p->uses[v];
	}
	p->first_use[g->n_values] = (uint32_t)total;
	p->users = fw_arena_array(&p->scratch, total, sizeof(*p->users));
	if (!p->users || total > UINT32_MAX)
		return fw_fail_nomem(err, total * sizeof(*p->users));
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; !is_of_shapes(g, &g->nodes[i]) && k < g->nodes[i].n_inputs;
		     k++)
			if (g->nodes[i].inputs[k] != FW_NN_NONE)
				p->users[fill[g->nodes[i].inputs[k]]++] = i;
	p->uses[g->outputs[0]]++;
	return FW_OK;
}

static fw_status start(struct fw_nn_planner *p, struct fw_error *err)
{
	const struct fw_nn_graph *g = p->graph;
	const char *path = g->path ? g->path : "model";
	fw_status status;

	if (p->options->batch < 1 || p->options->batch > MAX_BATCH ||
	    p->options->channel_multiple < 1 || p->options->channel_multiple > MAX_CHANNEL_MULTIPLE)
		return fw_fail(
			err, FW_ERR_ARGUMENT, "batch size %lld, channels in multiples of %lld",
			(long long)p->options->batch, (long long)p->options->channel_multiple);
	if (g->n_inputs != 1 || g->n_outputs != 1)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: %u inputs and %u outputs; one of each is supported", path,
			       g->n_inputs, g->n_outputs);
	if (!g->n_nodes || g->n_nodes > FW_NN_MAX_NODES)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: %u nodes; from 1 to %d are supported",
			       path, g->n_nodes, FW_NN_MAX_NODES);
	status = fw_nn_infer(g, p->options->batch, &p->scratch, &p->shapes, err);
	if (status)
		return status;
	p->places = fw_arena_array(&p->scratch, g->n_values, sizeof(*p->places));
	p->node_step = fw_arena_array(&p->scratch, g->n_nodes, sizeof(*p->node_step));
	if (!p->places || !p->node_step)
		return fw_fail_nomem(err, g->n_values * sizeof(*p->places));
	for (uint32_t i = 0; i < g->n_values; i++)
		p->places[i].tensor = FW_NN_NONE;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		p->node_step[i] = FW_NN_NONE;
	return index_users(p, err);
}

static fw_status place_input(struct fw_nn_planner *p, struct fw_error *err)
{
	uint32_t value = p->graph->inputs[0], rank = p->shapes[value].rank;
	int64_t multiple = p->options->channel_multiple;
	struct fw_nn_draft_tensor *t;
	fw_status status;

	if (rank != 4 && rank != 2)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "input '%.64s' has %u dimensions; 4 (images) or 2 are supported",
			       p->graph->values[value].name, rank);
	status = fw_nn_place_new(p, value, rank == 4 ? FW_NN_MAP : FW_NN_LAST, err);
	if (status)
		return status;
	p->plan->input = p->places[value].tensor;
	t = fw_nn_draft(p, p->plan->input);
	t->is_fixed = true;
	t->padded_c = (t->c + multiple - 1) / multiple * multiple;
	return FW_OK;
}

/* A node without its required inputs is a fault of the reader's; later code relies on it. */
static bool has_inputs(const struct fw_nn_node *node)
{
	static const uint32_t least[] = {
#define FW_NN_OP(id, name, n, ...) n,
#include "nn/ops.def"
#undef FW_NN_OP
	};

	if (node->n_inputs < least[node->op] || !node->n_outputs)
		return false;
	for (uint32_t i = 0; i < least[node->op]; i++)
		if (node->inputs[i] == FW_NN_NONE)
			return false;
	return true;
}

/* A constant along the batch: what reads it, a class token, looks at the constant itself. */
static fw_status plan_expand(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	if (fw_nn_is_constant(p, p->graph->nodes[node].inputs[0]))
		return FW_OK;
	return fw_nn_refuse(p, node, err, "is supported of constants only");
}

static fw_status plan_node(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	if (!has_inputs(&p->graph->nodes[node]))
		return fw_nn_refuse(p, node, err, "lacks inputs");
	if (is_of_shapes(p->graph, &p->graph->nodes[node]))
		return FW_OK;
	switch (p->graph->nodes[node].op) {
	case FW_NN_CONV: return fw_nn_plan_conv(p, node, err);
	case FW_NN_GEMM:
	case FW_NN_MATMUL: return fw_nn_plan_gemm(p, node, err);
	case FW_NN_MAX_POOL:
	case FW_NN_AVERAGE_POOL:
	case FW_NN_GLOBAL_AVERAGE_POOL: return fw_nn_plan_pool(p, node, err);
	case FW_NN_REDUCE_MEAN: return fw_nn_plan_mean(p, node, err);
	case FW_NN_BATCH_NORM: return fw_nn_plan_batch_norm(p, node, err);
	case FW_NN_SOFTMAX: return fw_nn_plan_softmax(p, node, err);
	case FW_NN_LAYER_NORM: return fw_nn_plan_layer_norm(p, node, err);
	case FW_NN_EXPAND: return plan_expand(p, node, err);
	case FW_NN_CONCAT: return fw_nn_plan_concat(p, node, err);
	case FW_NN_RELU:
	case FW_NN_CLIP:
	case FW_NN_SIGMOID:
	case FW_NN_HARD_SIGMOID:
	case FW_NN_HARD_SWISH:
	case FW_NN_TANH:
	case FW_NN_GELU:
	case FW_NN_ERF:
	case FW_NN_ADD:
	case FW_NN_SUB:
	case FW_NN_MUL:
	case FW_NN_DIV: return fw_nn_plan_elementwise(p, node, err);
	case FW_NN_FLATTEN:
	case FW_NN_RESHAPE:
	case FW_NN_SQUEEZE:
	case FW_NN_UNSQUEEZE:
	case FW_NN_TRANSPOSE:
	case FW_NN_SPLIT:
	case FW_NN_GATHER:
	case FW_NN_SLICE:
	case FW_NN_PAD:
	case FW_NN_IDENTITY:
	case FW_NN_DROPOUT: return fw_nn_plan_view(p, node, err);
	default:
		return fw_nn_refuse(p, node, err,
				    "is supported only where its inputs are constants");
	}
}

/* The result lies densely, in ONNX's order of elements, in memory of its own. */
static fw_status place_output(struct fw_nn_planner *p, struct fw_error *err)
{
	uint32_t value = p->graph->outputs[0], from = p->places[value].tensor, step;
	uint32_t node = p->graph->values[value].producer;
	struct fw_nn_draft_tensor draft;
	bool is_map;
	fw_status status;

	if (from == FW_NN_NONE || node == FW_NN_NONE)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "output '%.64s' does not depend on the input",
			       p->graph->values[value].name);
	draft = *fw_nn_draft(p, from);
	if (p->places[value].layout == FW_NN_AXES)
		return fw_nn_refuse(p, node, err, "the output's dimensions are in no usual order");
	is_map = p->places[value].layout != FW_NN_LAST && draft.h * draft.w > 1;
	if (is_map || draft.parent != FW_NN_NONE || draft.is_fixed || draft.padded_c != draft.c) {
		if ((status = fw_nn_step_new(p, node, FW_NN_STEP_COPY, from, &step, err)))
			return status;
		if (is_map) {
			draft.c *= draft.h * draft.w;
			draft.h = draft.w = 1;
		}
		draft.padded_c = draft.c;
		draft.parent = FW_NN_NONE;
		draft.producer = step;
		if ((status = fw_nn_tensor_new(p, &draft, &from, err)))
			return status;
		fw_nn_draft_step(p, step)->step.output = from;
		fw_nn_draft_step(p, step)->step.fallback =
			"the output is given in ONNX's order of elements";
	}
	fw_nn_draft(p, from)->dense = fw_nn_draft(p, from)->is_fixed = true;
	p->plan->output = from;
	return FW_OK;
}

/* The steps that are left, in order; nodes' steps by their new numbers. */
static fw_status keep_steps(struct fw_nn_planner *p, struct fw_error *err)
{
	struct fw_nn_plan *plan = p->plan;
	uint32_t *numbers = fw_arena_array(&p->scratch, p->steps.len, sizeof(*numbers));

	plan->steps = fw_arena_array(&plan->arena, p->steps.len, sizeof(*plan->steps));
	if (!numbers || !plan->steps)
		return fw_fail_nomem(err, p->steps.len * sizeof(*plan->steps));
	for (uint32_t i = 0; i < p->steps.len; i++) {
		numbers[i] = plan->n_steps;
		if (!fw_nn_draft_step(p, i)->is_dropped)
			plan->steps[plan->n_steps++] = fw_nn_draft_step(p, i)->step;
	}
	/* What comes before every step, a view of the input, belongs to the first; what computes shapes to none. */
	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		if (p->node_step[i] != FW_NN_NONE)
			p->node_step[i] = numbers[p->node_step[i]];
		else if (!is_of_shapes(p->graph, &p->graph->nodes[i]))
			p->node_step[i] = 0;
	return FW_OK;
}

/* Each step's nodes in order; a copy names the node that it serves even if a step before owns it. */
static fw_status list_nodes(struct fw_nn_planner *p, struct fw_error *err)
{
	struct fw_nn_plan *plan = p->plan;
	uint32_t *list = fw_arena_array(&plan->arena, (size_t)p->graph->n_nodes + p->steps.len,
					sizeof(*list));
	uint32_t n = 0, draft = 0;

	if (!list)
		return fw_fail_nomem(err, p->graph->n_nodes * sizeof(*list));
	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		if (p->node_step[i] != FW_NN_NONE)
			plan->steps[p->node_step[i]].n_nodes++;
	for (uint32_t i = 0; i < plan->n_steps; i++, draft++) {
		struct fw_nn_step *s = &plan->steps[i];

		while (fw_nn_draft_step(p, draft)->is_dropped)
			draft++;
		s->nodes = &list[n];
		if (!s->n_nodes) {
			list[n++] = fw_nn_draft_step(p, draft)->node;
			s->n_nodes = 1;
			continue;
		}
		n += s->n_nodes;
		s->n_nodes = 0;
	}
	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		struct fw_nn_step *s;

		if (p->node_step[i] == FW_NN_NONE)
			continue;
		s = &plan->steps[p->node_step[i]];
		list[(size_t)(s->nodes - list) + s->n_nodes++] = i;
	}
	return FW_OK;
}

static fw_status make(struct fw_nn_planner *p, struct fw_error *err)
{
	fw_status status;

	if ((status = start(p, err)) || (status = place_input(p, err)))
		return status;
	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		if (p->node_step[i] == FW_NN_NONE && (status = plan_node(p, i, err)))
			return status;
	if ((status = place_output(p, err)))
		return status;
	fw_nn_place_concats(p);
	if ((status = keep_steps(p, err)) || (status = list_nodes(p, err)) ||
	    (status = fw_nn_place_buffers(p, err)))
		return status;
	return fw_nn_plan_cost(p->plan, err);
}

fw_status fw_nn_plan_make(const struct fw_nn_graph *graph, const struct fw_nn_plan_options *options,
			  struct fw_nn_plan *plan, struct fw_error *err)
{
	struct fw_nn_planner p = {
		.graph = graph,
		.options = options,
		.plan = plan,
		.steps = FW_VEC(struct fw_nn_draft_step),
		.tensors = FW_VEC(struct fw_nn_draft_tensor),
		.concats = FW_VEC(struct fw_nn_draft_concat),
	};
	fw_status status;

	*plan = (struct fw_nn_plan){
		.graph = graph,
		.precision = options->precision,
		.batch = options->batch,
	};
	status = make(&p, err);
	fw_arena_release(&p.scratch);
	fw_vec_release(&p.steps);
	fw_vec_release(&p.tensors);
	fw_vec_release(&p.concats);
	if (status)
		fw_nn_plan_free(plan);
	return status;
}

void fw_nn_plan_free(struct fw_nn_plan *plan)
{
	fw_arena_release(&plan->arena);
	*plan = (struct fw_nn_plan){ .graph = NULL };
}
