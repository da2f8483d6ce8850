/* The bytes of an ONNX file become a graph. */
#include "nn/onnx.h"

#include "base/file.h"
#include "nn/mapping.h"

#include <string.h>

#define OPSET_MIN     9
#define OPSET_MAX     20
#define IR_MIN        3
#define IR_MAX        13
#define DEFAULT_BYTES ((size_t)8 << 30)

/*
 * Messages may take this many times the file's size and something: a model's weights take once their size, numbers
 * packed in varints up to eight times, and an empty node 60 times, which only a hostile file has many of.
 */
#define LIMIT_FACTOR 4
#define LIMIT_BASE   ((size_t)64 << 20)

static void *take(void *user, size_t size)
{
	struct fw_onnx_reader *r = user;

	if (size > r->limit) {
		r->is_full = true;
		return NULL;
	}
	r->limit -= size;
	return fw_arena_alloc(&r->graph->arena, size);
}

/* The arena frees all at once. */
static void give_back(void *user, void *pointer)
{
	(void)user;
	(void)pointer;
}

static fw_status read_versions(struct fw_onnx_reader *r, const Fw__Onnx__Model *model,
			       struct fw_error *err)
{
	struct fw_nn_graph *graph = r->graph;
	bool found = false;

	graph->ir_version = model->ir_version;
	if (graph->ir_version < IR_MIN || graph->ir_version > IR_MAX)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "IR version %lld: versions %d to %d are read",
			       (long long)graph->ir_version, IR_MIN, IR_MAX);
	for (size_t i = 0; i < model->n_opset_import; i++) {
		const Fw__Onnx__Opset *opset = model->opset_import[i];
		const char *domain = opset->domain ? opset->domain : "";

		if (*domain && strcmp(domain, "ai.onnx"))
			continue;
		if (found && graph->opset != opset->version)
			return fw_fail(err, FW_ERR_FORMAT, "two opsets: %lld and %lld",
				       (long long)graph->opset, (long long)opset->version);
		graph->opset = opset->version;
		found = true;
	}
	if (!found)
		return fw_fail(err, FW_ERR_FORMAT, "no opset of ai.onnx");
	if (graph->opset < OPSET_MIN || graph->opset > OPSET_MAX)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "opset %lld: opsets %d to %d are read",
			       (long long)graph->opset, OPSET_MIN, OPSET_MAX);
	return FW_OK;
}

static fw_status read_dims(const Fw__Onnx__Shape *shape, bool dynamic, struct fw_nn_value *value,
			   struct fw_error *err)
{
	if (shape->n_dim > FW_NN_MAX_RANK)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "input %s: %zu dimensions; at most %d are read", value->name,
			       shape->n_dim, FW_NN_MAX_RANK);
	for (size_t i = 0; i < shape->n_dim; i++) {
		const Fw__Onnx__Dimension *dim = shape->dim[i];

		/* Exporters write an unknown size as a name, as nothing, as 0 or as -1. */
		if (dim->has_value && dim->value > 0)
			value->dims[i] = dim->value;
		else if (!i)
			value->dims[i] = FW_NN_BATCH;
		else
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "input %s: dimension %zu (%s) has no size; only the first, "
				       "the batch, may be open: export with fixed image sizes",
				       value->name, i, dim->param ? dim->param : "unnamed");
	}
	if (dynamic && shape->n_dim)
		value->dims[0] = FW_NN_BATCH;
	value->rank = (uint32_t)shape->n_dim;
	value->has_shape = true;
	return FW_OK;
}

static fw_status read_input(struct fw_onnx_reader *r, const Fw__Onnx__Value *from, bool dynamic,
			    struct fw_error *err)
{
	const Fw__Onnx__TensorType *type = from->type ? from->type->tensor_type : NULL;
	const char *name = from->name ? from->name : "";
	struct fw_nn_graph *graph = r->graph;
	uint32_t value = fw_onnx_find(r, name);
	fw_status status;

	/* Before IR version 4 the weights were inputs too, with a default. */
	if (value != FW_NN_NONE && fw_onnx_value(r, value)->data)
		return FW_OK;
	if (!*name)
		return fw_fail(err, FW_ERR_FORMAT, "an input has no name");
	if (!type || !type->shape)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "input %s: is no tensor with a shape",
			       name);
	status = fw_onnx_add_value(r, name, &value, err);
	if (status)
		return status;
	if (!fw_onnx_type(type->elem_type, &fw_onnx_value(r, value)->type))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "input %s: element type %d is not read",
			       name, type->elem_type);
	graph->inputs[graph->n_inputs++] = value;
	return read_dims(type->shape, dynamic && graph->n_inputs == 1, fw_onnx_value(r, value),
			 err);
}

static fw_status read_ends(struct fw_onnx_reader *r, const Fw__Onnx__Graph *from,
			   struct fw_error *err)
{
	struct fw_nn_graph *graph = r->graph;

	if (!from->n_output)
		return fw_fail(err, FW_ERR_FORMAT, "the graph has no output");
	graph->outputs = fw_arena_array(&graph->arena, from->n_output, sizeof(*graph->outputs));
	if (!graph->outputs)
		return fw_fail_nomem(err, from->n_output * sizeof(*graph->outputs));
	for (size_t i = 0; i < from->n_output; i++) {
		const char *name = from->output[i]->name ? from->output[i]->name : "";
		uint32_t value = fw_onnx_find(r, name);

		if (value == FW_NN_NONE)
			return fw_fail(err, FW_ERR_FORMAT, "output \"%s\": nothing makes it", name);
		graph->outputs[graph->n_outputs++] = value;
	}
	return FW_OK;
}

static fw_status read_graph(struct fw_onnx_reader *r, const Fw__Onnx__Graph *from,
			    const struct fw_nn_read_options *options, struct fw_error *err)
{
	struct fw_nn_graph *graph = r->graph;
	fw_status status;

	for (size_t i = 0; i < from->n_initializer; i++) {
		const char *name = from->initializer[i]->name;
		uint32_t value;

		if (!name || !*name)
			return fw_fail(err, FW_ERR_FORMAT, "initialiser %zu has no name", i);
		status = fw_onnx_add_tensor(r, from->initializer[i], name, &value, err);
		if (status)
			return status;
	}
	graph->inputs = fw_arena_array(&graph->arena, from->n_input, sizeof(*graph->inputs));
	if (!graph->inputs)
		return fw_fail_nomem(err, from->n_input * sizeof(*graph->inputs));
	for (size_t i = 0; i < from->n_input; i++) {
		status = read_input(r, from->input[i], options->dynamic, err);
		if (status)
			return status;
	}
	status = fw_onnx_add_nodes(r, from, err);
	return status ? status : read_ends(r, from, err);
}

/* The growing tables move into the arena. */
static fw_status settle(struct fw_onnx_reader *r, struct fw_error *err)
{
	struct fw_nn_graph *graph = r->graph;

	graph->values = fw_arena_array(&graph->arena, r->values.len, sizeof(*graph->values));
	graph->nodes = fw_arena_array(&graph->arena, r->nodes.len, sizeof(*graph->nodes));
	if (!graph->values || !graph->nodes)
		return fw_fail_nomem(err, r->values.len * sizeof(*graph->values));
	if (r->values.len)
		memcpy(graph->values, r->values.data, r->values.len * sizeof(*graph->values));
	if (r->nodes.len)
		memcpy(graph->nodes, r->nodes.data, r->nodes.len * sizeof(*graph->nodes));
	graph->n_values = (uint32_t)r->values.len;
	graph->n_nodes = (uint32_t)r->nodes.len;
	return FW_OK;
}

static fw_status read_model(struct fw_onnx_reader *r, const void *bytes, size_t size,
			    const struct fw_nn_read_options *options, struct fw_error *err)
{
	ProtobufCAllocator allocator = { .alloc = take, .free = give_back, .allocator_data = r };
	Fw__Onnx__Model *model = fw__onnx__model__unpack(&allocator, size, bytes);
	fw_status status;

	if (!model && r->is_full)
		return fw_fail(err, FW_ERR_NOMEM,
			       "its messages take more than %d times its size of %zu bytes",
			       LIMIT_FACTOR, size);
	if (!model)
		return fw_fail(err, FW_ERR_FORMAT, "%zu bytes are no ONNX model, or not all of it",
			       size);
	if (!model->graph)
		return fw_fail(err, FW_ERR_FORMAT, "%zu bytes hold no graph", size);
	status = read_versions(r, model, err);
	if (!status)
		status = read_graph(r, model->graph, options, err);
	return status ? status : settle(r, err);
}

fw_status fw_nn_onnx_parse(const void *bytes, size_t size, const char *folder,
			   const struct fw_nn_read_options *options, struct fw_nn_graph *graph,
			   struct fw_error *err)
{
	struct fw_onnx_reader r = { .graph = graph,
				    .folder = folder,
				    .values = FW_VEC(struct fw_nn_value),
				    .nodes = FW_VEC(struct fw_nn_node) };
	fw_status status;

	*graph = (struct fw_nn_graph){ .path = "model", .hash = fw_hash_bytes(bytes, size) };
	r.left = options->max_bytes ? options->max_bytes : DEFAULT_BYTES;
	if (size > r.left)
		return fw_fail(err, FW_ERR_NOMEM, "%zu bytes; the limit is %zu", size, r.left);
	r.limit = size * LIMIT_FACTOR + LIMIT_BASE;
	status = read_model(&r, bytes, size, options, err);
	fw_vec_release(&r.values);
	fw_vec_release(&r.nodes);
	fw_map_release(&r.names);
	if (status)
		fw_nn_graph_free(graph);
	return status;
}

/* Where path's external data lie: its own folder. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

fw_status fw_nn_onnx_read(const char *path, const struct fw_nn_read_options *options,
			  struct fw_nn_graph *graph, struct fw_error *err)
{
	char *folder = folder_of(path);
	struct fw_file file;
	fw_status status;

	*graph = (struct fw_nn_graph){ 0 };
	if (!folder)
		return fw_fail_nomem(err, strlen(path));
	status = fw_file_open(&file, path, err);
	if (!status) {
		status = fw_nn_onnx_parse(file.data, file.size, folder, options, graph, err);
		if (status)
			fw_error_prefix(err, "%s", path);
		fw_file_close(&file);
	}
	free(folder);
	if (status)
		return status;
	graph->path = fw_arena_strndup(&graph->arena, path, strlen(path));
	if (graph->path)
		return FW_OK;
	fw_nn_graph_free(graph);
	return fw_fail_nomem(err, strlen(path));
}

void fw_nn_graph_free(struct fw_nn_graph *graph)
{
	fw_nn_mappings_close(graph);
	fw_arena_release(&graph->arena);
	*graph = (struct fw_nn_graph){ 0 };
}
