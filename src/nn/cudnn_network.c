/* Loads a network onto the GPU: weights, operations, and for each different problem the engine that solves it. */
#include "nn/cudnn_network.h"

#include "nn/cudnn_cache.h"

#include <stdlib.h>
#include <string.h>

/* The choice for a problem, or NULL. */
static const struct fw_nn_choice *find(const struct fw_nn_gpu_network *network, const char *key)
{
	for (uint32_t i = 0; i < network->n_choices; i++)
		if (!strcmp(network->choices[i]->key, key))
			return network->choices[i];
	return NULL;
}

static fw_status add_choice(struct fw_nn_gpu_network *network, struct fw_nn_choice *choice,
			    struct fw_error *err)
{
	struct fw_nn_choice **grown =
		realloc(network->choices, (network->n_choices + 1) * sizeof(*grown));

	if (!grown)
		return fw_fail_nomem(err, sizeof(*grown));
	network->choices = grown;
	network->choices[network->n_choices++] = choice;
	return FW_OK;
}

/* The choice that was stored; false: there is none, or it cannot be used any more. */
static bool recall(struct fw_nn_gpu_network *network, const struct fw_nn_problem *problem,
		   const struct fw_nn_cache *cache, struct fw_nn_choice *choice)
{
	const struct fw_nn_cache_entry *entry;
	struct fw_error err;

	*choice = (struct fw_nn_choice){ .problem = *problem };
	fw_nn_problem_key(problem, choice->key);
	entry = fw_nn_cache_find(cache, choice->key);
	if (!entry)
		return false;
	choice->is_gemm = entry->is_gemm;
	choice->config = entry->config;
	choice->algo = entry->algo;
	choice->workspace_bytes = entry->workspace_bytes;
	choice->us = entry->us;
	if (!fw_nn_choice_open(network->gpu, choice, &err))
		return true;
	fw_nn_gpu_say(network->gpu, "a stored engine choice is made again: %s", err.message);
	return false;
}

/* Problems on the way to their choices. */
struct choosing {
	struct fw_nn_gpu_network *network;
	const struct fw_nn_problem *problems;
	uint32_t n;
	struct fw_nn_cache cache;
	struct fw_nn_trial trial; /* opened for the first problem without a stored choice */
};

static fw_status choose(struct choosing *c, const struct fw_nn_problem *problem,
			struct fw_nn_choice *choice, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = c->network->gpu;
	fw_status status = FW_OK;

	if (recall(c->network, problem, &c->cache, choice))
		return FW_OK;
	if (gpu->device_property) /* nothing can run */
		return fw_nn_choice_make(gpu, problem, NULL, choice, err);
	if (!c->trial.gpu)
		status = fw_nn_trial_open(gpu, c->problems, c->n, &c->trial, err);
	return status ? status : fw_nn_choice_make(gpu, problem, &c->trial, choice, err);
}

static fw_status choose_one(struct choosing *c, const struct fw_nn_problem *problem,
			    struct fw_error *err)
{
	struct fw_nn_choice *choice = calloc(1, sizeof(*choice));
	fw_status status;

	if (!choice)
		return fw_fail_nomem(err, sizeof(*choice));
	status = choose(c, problem, choice, err);
	if (!status) {
		status = add_choice(c->network, choice, err);
		if (!status)
			return FW_OK;
		fw_nn_choice_close(c->network->gpu, choice);
	}
	free(choice);
	return status;
}

/* The different problems of a program for which there is no choice yet. */
static fw_status list_problems(const struct fw_nn_gpu_network *network,
			       const struct fw_nn_program *program, struct fw_nn_problem **list,
			       uint32_t *n, struct fw_error *err)
{
	const struct fw_nn_operation *operations = program->operations.data;
	struct fw_nn_problem *made = calloc(program->operations.len + 1, sizeof(*made));

	*n = 0;
	if (!made)
		return fw_fail_nomem(err, program->operations.len * sizeof(*made));
	for (size_t i = 0; i < program->operations.len; i++) {
		char key[FW_NN_KEY_BYTES], other[FW_NN_KEY_BYTES];
		bool known = operations[i].is_kernel;

		if (known)
			continue;
		fw_nn_problem_key(&operations[i].problem, key);
		known = find(network, key) != NULL;
		for (uint32_t k = 0; !known && k < *n; k++) {
			fw_nn_problem_key(&made[k], other);
			known = !strcmp(key, other);
		}
		if (!known)
			made[(*n)++] = operations[i].problem;
	}
	*list = made;
	return FW_OK;
}

/* Stored choices, else measured ones, which are stored; without time for that, unmeasured ones. */
static fw_status choose_for(struct choosing *c, const struct fw_nn_plan *plan, struct fw_error *err)
{
	struct fw_nn_gpu_network *network = c->network;
	struct fw_nn_gpu *gpu = network->gpu;
	const uint32_t first = network->n_choices;
	char identity[FW_NN_IDENTITY_BYTES];
	const double start_s = fw_nn_now_s();
	fw_status status = FW_OK;

	fw_nn_cache_identity(gpu, plan, identity);
	if (gpu->autotune_s > 0)
		fw_nn_cache_load(gpu, identity, &c->cache);
	for (uint32_t i = 0; !status && i < c->n; i++)
		status = choose_one(c, &c->problems[i], err);
	if (!status && c->trial.n_measured) {
		fw_nn_gpu_say(
			gpu, "batch %lld: engines of %u of %u layer shapes were measured in %.2f s",
			(long long)plan->batch, c->trial.n_measured, c->n, fw_nn_now_s() - start_s);
		fw_nn_cache_save(gpu, identity,
				 (const struct fw_nn_choice *const *)network->choices + first,
				 network->n_choices - first);
	}
	fw_nn_trial_close(&c->trial);
	fw_nn_cache_release(&c->cache);
	return status;
}

static fw_status choose_all(struct fw_nn_gpu_network *network, struct fw_nn_program *program,
			    struct fw_error *err)
{
	struct fw_nn_problem *problems = NULL;
	struct choosing c = { .network = network };
	fw_status status = list_problems(network, program, &problems, &c.n, err);

	c.problems = problems;
	if (!status && c.n)
		status = choose_for(&c, program->plan, err);
	free(problems);
	return status;
}

/* Ties a program's operations to their choices. */
static fw_status bind(struct fw_nn_gpu_network *network, struct fw_nn_program *program,
		      struct fw_error *err)
{
	struct fw_nn_operation *operations = program->operations.data;

	for (size_t i = 0; i < program->operations.len; i++) {
		struct fw_nn_operation *operation = &operations[i];
		char key[FW_NN_KEY_BYTES];
		size_t *workspace_bytes;
		fw_status status;

		if (operation->is_kernel)
			continue;
		fw_nn_problem_key(&operation->problem, key);
		operation->choice = find(network, key);
		workspace_bytes = operation->is_beside ? &network->workspace_beside_bytes
						       : &network->workspace_bytes;
		if (operation->choice->workspace_bytes > *workspace_bytes)
			*workspace_bytes = operation->choice->workspace_bytes;
		if (!operation->choice->is_gemm)
			continue;
		status = fw_nn_gemm_open(network->gpu, &operation->problem, operation->at.bias,
					 &operation->gemm, err);
		if (status)
			return status;
	}
	return FW_OK;
}

static fw_status load_program(struct fw_nn_gpu_network *network, struct fw_nn_program *program,
			      struct fw_error *err)
{
	const struct fw_nn_tensor *in = &program->plan->tensors[program->plan->input];
	const size_t sample_bytes = (size_t)(in->h * in->w * in->c) * sizeof(float);
	fw_status status = fw_nn_program_build(network, program, err);

	if (!status)
		status = choose_all(network, program, err);
	if (!status)
		status = bind(network, program, err);
	if (program->arena_bytes > network->arena_bytes)
		network->arena_bytes = program->arena_bytes;
	if (sample_bytes > network->staging_bytes)
		network->staging_bytes = sample_bytes;
	return status;
}

static void say_unfused(const struct fw_nn_gpu_network *network)
{
	for (int i = 0; i <= FW_NN_ACT_TANH; i++)
		if (network->unfused[i].layers)
			fw_nn_gpu_say(
				network->gpu,
				"no engine fuses %s: a kernel of its own after %u layers of all "
				"batch sizes, node '%s' the first",
				fw_nn_act_name((enum fw_nn_activation)i),
				network->unfused[i].layers, network->unfused[i].node);
}

/* Host data passes through this much memory of the GPU, or one sample if that is more. */
#define STAGING_BYTES ((size_t)16 << 20)

fw_status fw_nn_gpu_network_load(void *engine, const struct fw_nn_plan *const *plans, uint32_t n,
				 const struct fw_nn_network_options *options, void **network,
				 struct fw_error *err)
{
	struct fw_nn_gpu_network *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->gpu = engine;
	made->precision = options->precision;
	made->graph = options->graph;
	made->staging_bytes = STAGING_BYTES;
	fw_nn_weights_init(&made->weights, made->gpu, options->precision);
	made->programs = calloc(n, sizeof(*made->programs));
	status = made->programs ? FW_OK : fw_fail_nomem(err, n * sizeof(*made->programs));
	if (!status)
		status = fw_nn_gpu_enter(made->gpu, err);
	pthread_mutex_lock(&made->gpu->lock);
	for (uint32_t i = 0; !status && i < n; i++) {
		made->programs[i].plan = plans[i];
		made->programs[i].operations = (struct fw_vec)FW_VEC(struct fw_nn_operation);
		made->n_programs++;
		status = load_program(made, &made->programs[i], err);
	}
	pthread_mutex_unlock(&made->gpu->lock);
	if (status) {
		fw_nn_gpu_network_unload(made);
		return status;
	}
	say_unfused(made);
	*network = made;
	return FW_OK;
}

float fw_nn_gpu_network_step_us(void *network, uint32_t plan, uint32_t step)
{
	const struct fw_nn_gpu_network *n = network;
	const struct fw_nn_operation *operations = n->programs[plan].operations.data;

	for (size_t i = 0; i < n->programs[plan].operations.len; i++)
		if (n->programs[plan].planned[operations[i].step] == step)
			return operations[i].choice ? operations[i].choice->us : -1;
	return -1;
}

void fw_nn_gpu_network_bytes(const void *network, uint64_t *weights, uint64_t *instance)
{
	const struct fw_nn_gpu_network *n = network;

	*weights = n->weights.bytes;
	*instance =
		n->arena_bytes + n->workspace_bytes + n->workspace_beside_bytes + n->staging_bytes;
}

void fw_nn_gpu_network_unload(void *network)
{
	struct fw_nn_gpu_network *n = network;

	fw_nn_gpu_enter(n->gpu, NULL);
	for (uint32_t i = 0; i < n->n_programs; i++) {
		struct fw_nn_operation *operations = n->programs[i].operations.data;

		for (size_t k = 0; k < n->programs[i].operations.len; k++)
			fw_nn_gemm_close(&operations[k].gemm);
		fw_vec_release(&n->programs[i].operations);
		free(n->programs[i].tensors);
		free(n->programs[i].steps);
		free(n->programs[i].planned);
	}
	for (uint32_t i = 0; i < n->n_choices; i++) {
		fw_nn_choice_close(n->gpu, n->choices[i]);
		free(n->choices[i]);
	}
	fw_nn_weights_release(&n->weights);
	free(n->choices);
	free(n->programs);
	free(n);
}
