/* Chooses an engine by name, plans a network's batch sizes for it, and passes batches on as plans by number. */
#include "nn/engine.h"

#include <stdlib.h>
#include <string.h>

/* Batch sizes of one network: more is a mistake of the caller. */
#define MAX_BATCHES 64

struct fw_nn_engine {
	const struct fw_nn_engine_class *class;
	void *impl;
};

struct fw_nn_network {
	const struct fw_nn_engine_class *class;
	void *impl;
	uint32_t n_plans;
	struct fw_nn_plan plans[]; /* in the order of the batch sizes */
};

struct fw_nn_instance {
	const struct fw_nn_network *network;
	void *impl;
};

/* A row of the table whose engine is not built in has no class. */
#define CLASS_0(id)       NULL
#define CLASS_1(id)       &fw_nn_##id
#define CLASS_(built, id) CLASS_##built(id)
#define CLASS(built, id)  CLASS_(built, id)
#define DECLARE_0(id)
#define DECLARE_1(id)       extern const struct fw_nn_engine_class fw_nn_##id;
#define DECLARE_(built, id) DECLARE_##built(id)
#define DECLARE(built, id)  DECLARE_(built, id)

#define FW_NN_ENGINE(id, built, needs) DECLARE(built, id)
#include "nn/engines.def"
#undef FW_NN_ENGINE

static const struct engine_row {
	const char *name, *needs;
	const struct fw_nn_engine_class *class;
} rows[] = {
#define FW_NN_ENGINE(id, built, needs) { #id, needs, CLASS(built, id) },
#include "nn/engines.def"
#undef FW_NN_ENGINE
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static fw_status find_class(const char *name, const struct fw_nn_engine_class **class,
			    struct fw_error *err)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, name))
			continue;
		if (!rows[i].class)
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "engine '%s' is not built in: it needs %s", name,
				       rows[i].needs);
		*class = rows[i].class;
		return FW_OK;
	}
	return fw_fail(err, FW_ERR_ARGUMENT, "no engine '%.64s': there are onednn and cudnn", name);
}

bool fw_nn_engine_is_built_in(const char *name)
{
	const struct fw_nn_engine_class *class;

	return !find_class(name, &class, NULL);
}

fw_status fw_nn_engine_open(const struct fw_nn_engine_options *options,
			    struct fw_nn_engine **engine, struct fw_error *err)
{
	const struct fw_nn_engine_class *class = NULL;
	fw_status status = find_class(options->name, &class, err);

	return status ? status : fw_nn_engine_open_class(class, options, engine, err);
}

fw_status fw_nn_engine_open_class(const struct fw_nn_engine_class *class,
				  const struct fw_nn_engine_options *options,
				  struct fw_nn_engine **engine, struct fw_error *err)
{
	struct fw_nn_engine *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->class = class;
	status = class->open(options, &made->impl, err);
	if (status) {
		free(made);
		return status;
	}
	*engine = made;
	return FW_OK;
}

void fw_nn_engine_close(struct fw_nn_engine *engine)
{
	if (!engine)
		return;
	engine->class->close(engine->impl);
	free(engine);
}

/* An engine that cannot run a step says so before it is given the plan, with the node's name. */
static fw_status check_steps(const struct fw_nn_engine_class *class, const struct fw_nn_plan *plan,
			     struct fw_error *err)
{
	for (uint32_t i = 0; class->takes && i < plan->n_steps; i++) {
		const struct fw_nn_step *step = &plan->steps[i];
		const struct fw_nn_node *node;

		if (class->takes(step, plan))
			continue;
		if (!step->n_nodes)
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "engine '%s' cannot run step %u of the plan", class->name,
				       i);
		node = &plan->graph->nodes[step->nodes[0]];
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "engine '%s' cannot run node '%s' (%s) as it is planned",
			       class->name, node->name, fw_nn_op_name(node->op));
	}
	return FW_OK;
}

static fw_status make_plans(struct fw_nn_network *network, const struct fw_nn_graph *graph,
			    const struct fw_nn_network_options *options, struct fw_error *err)
{
	for (uint32_t i = 0; i < options->n_batches; i++) {
		struct fw_nn_plan_options wanted = {
			.batch = options->batches[i],
			.precision = options->precision,
			.channel_multiple = network->class->channel_multiple,
			.concat_in_place = network->class->concat_in_place,
			.residual_in_place = network->class->residual_in_place,
			.fuse = options->fuse,
		};
		fw_status status;

		if (fw_nn_network_plan(network, wanted.batch))
			return fw_fail(err, FW_ERR_ARGUMENT, "batch size %lld is asked for twice",
				       (long long)wanted.batch);
		status = fw_nn_plan_make(graph, &wanted, &network->plans[i], err);
		if (status)
			return status;
		network->n_plans++;
		status = check_steps(network->class, &network->plans[i], err);
		if (status)
			return status;
	}
	return FW_OK;
}

fw_status fw_nn_network_load(struct fw_nn_engine *engine, const struct fw_nn_graph *graph,
			     const struct fw_nn_network_options *options,
			     struct fw_nn_network **network, struct fw_error *err)
{
	const struct fw_nn_plan *plans[MAX_BATCHES];
	struct fw_nn_network *made;
	fw_status status;
	size_t size;

	if (!options->n_batches || options->n_batches > MAX_BATCHES)
		return fw_fail(err, FW_ERR_ARGUMENT, "%u batch sizes: from 1 to %d are possible",
			       options->n_batches, MAX_BATCHES);
	size = sizeof(*made) + options->n_batches * sizeof(made->plans[0]);
	made = calloc(1, size);
	if (!made)
		return fw_fail_nomem(err, size);
	made->class = engine->class;
	status = make_plans(made, graph, options, err);
	for (uint32_t i = 0; i < made->n_plans; i++)
		plans[i] = &made->plans[i];
	if (!status)
		status = engine->class->load(engine->impl, plans, made->n_plans, options,
					     &made->impl, err);
	if (status) {
		made->class = NULL; /* nothing to unload */
		fw_nn_network_free(made);
		return status;
	}
	*network = made;
	return FW_OK;
}

void fw_nn_network_free(struct fw_nn_network *network)
{
	if (!network)
		return;
	if (network->class)
		network->class->unload(network->impl);
	for (uint32_t i = 0; i < network->n_plans; i++)
		fw_nn_plan_free(&network->plans[i]);
	free(network);
}

const struct fw_nn_plan *fw_nn_network_plan(const struct fw_nn_network *network, int64_t batch)
{
	for (uint32_t i = 0; i < network->n_plans; i++)
		if (network->plans[i].batch == batch)
			return &network->plans[i];
	return NULL;
}

float fw_nn_network_step_us(const struct fw_nn_network *network, int64_t batch, uint32_t step)
{
	const struct fw_nn_plan *plan = fw_nn_network_plan(network, batch);

	if (!plan || step >= plan->n_steps || !network->class->step_us)
		return -1;
	return network->class->step_us(network->impl, (uint32_t)(plan - network->plans), step);
}

uint64_t fw_nn_network_instance_bytes(const struct fw_nn_network *network)
{
	return network->class->instance_bytes ? network->class->instance_bytes(network->impl) : 0;
}

void fw_nn_network_gpu_bytes(const struct fw_nn_network *network, uint64_t *weights,
			     uint64_t *instance)
{
	*weights = *instance = 0;
	if (network->class->gpu_bytes)
		network->class->gpu_bytes(network->impl, weights, instance);
}

fw_status fw_nn_instance_open(struct fw_nn_network *network, struct fw_nn_instance **instance,
			      struct fw_error *err)
{
	struct fw_nn_instance *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->network = network;
	status = network->class->instance_open(network->impl, &made->impl, err);
	if (status) {
		free(made);
		return status;
	}
	*instance = made;
	return FW_OK;
}

void fw_nn_instance_close(struct fw_nn_instance *instance)
{
	if (!instance)
		return;
	instance->network->class->instance_close(instance->impl);
	free(instance);
}

static fw_status plan_number(const struct fw_nn_instance *instance, int64_t batch, uint32_t *number,
			     struct fw_error *err)
{
	const struct fw_nn_plan *plan = fw_nn_network_plan(instance->network, batch);

	if (!plan)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the network was not loaded for batch size %lld", (long long)batch);
	*number = (uint32_t)(plan - instance->network->plans);
	return FW_OK;
}

fw_status fw_nn_instance_io(struct fw_nn_instance *instance, int64_t batch, struct fw_nn_io *input,
			    struct fw_nn_io *output, struct fw_error *err)
{
	uint32_t number = 0;
	fw_status status = plan_number(instance, batch, &number, err);

	return status ? status
		      : instance->network->class->io(instance->impl, number, input, output, err);
}

fw_status fw_nn_instance_launch(struct fw_nn_instance *instance, int64_t batch, void *stream,
				struct fw_error *err)
{
	uint32_t number = 0;
	fw_status status = plan_number(instance, batch, &number, err);

	return status ? status
		      : instance->network->class->launch(instance->impl, number, stream, err);
}

fw_status fw_nn_instance_wait(struct fw_nn_instance *instance, struct fw_error *err)
{
	return instance->network->class->wait(instance->impl, err);
}

fw_status fw_nn_instance_write(struct fw_nn_instance *instance, int64_t batch, const float *nchw,
			       struct fw_error *err)
{
	uint32_t number = 0;
	fw_status status = plan_number(instance, batch, &number, err);

	return status ? status : instance->network->class->write(instance->impl, number, nchw, err);
}

fw_status fw_nn_instance_read(struct fw_nn_instance *instance, int64_t batch, float *out,
			      struct fw_error *err)
{
	uint32_t number = 0;
	fw_status status = plan_number(instance, batch, &number, err);

	return status ? status : instance->network->class->read(instance->impl, number, out, err);
}
