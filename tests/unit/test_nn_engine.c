/* The choice of an engine by name; what the dispatcher asks of an engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../nn/models.h"
#include "nn/engine.h"

static struct build model;

static void an_unknown_name_is_refused(void **state)
{
	struct fw_nn_engine_options options = { .name = "tensorrt" };
	struct fw_nn_engine *engine = NULL;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_nn_engine_open(&options, &engine, &err), FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "tensorrt"));
	assert_null(engine);
	assert_false(fw_nn_engine_is_built_in("tensorrt"));
}

/* An engine that only notes what it is asked. */
static struct {
	uint32_t n_plans, plan, unloaded, closed;
	int64_t batches[4];
	bool refuses_pools;
} seen;

static fw_status fake_open(const struct fw_nn_engine_options *options, void **engine,
			   struct fw_error *err)
{
	(void)options;
	(void)err;
	*engine = &seen;
	return FW_OK;
}

static void fake_close(void *engine)
{
	(void)engine;
	seen.closed++;
}

static fw_status fake_load(void *engine, const struct fw_nn_plan *const *plans, uint32_t n_plans,
			   const struct fw_nn_network_options *options, void **network,
			   struct fw_error *err)
{
	(void)engine;
	(void)options;
	(void)err;
	seen.n_plans = n_plans;
	for (uint32_t i = 0; i < n_plans; i++)
		seen.batches[i] = plans[i]->batch;
	assert_int_equal(plans[0]->tensors[plans[0]->input].padded_c, 8);
	*network = &seen;
	return FW_OK;
}

static void fake_unload(void *network)
{
	(void)network;
	seen.unloaded++;
}

static fw_status fake_instance_open(void *network, void **instance, struct fw_error *err)
{
	(void)err;
	*instance = network;
	return FW_OK;
}

static void fake_instance_close(void *instance)
{
	(void)instance;
}

static fw_status fake_launch(void *instance, uint32_t plan, void *stream, struct fw_error *err)
{
	(void)instance;
	(void)stream;
	(void)err;
	seen.plan = plan;
	return FW_OK;
}

static bool fake_takes(const struct fw_nn_step *step, const struct fw_nn_plan *plan)
{
	(void)plan;
	return !seen.refuses_pools || step->kind != FW_NN_STEP_AVERAGE_POOL;
}

static const struct fw_nn_engine_class fake = {
	.name = "fake",
	.open = fake_open,
	.close = fake_close,
	.load = fake_load,
	.unload = fake_unload,
	.instance_open = fake_instance_open,
	.instance_close = fake_instance_close,
	.launch = fake_launch,
	.takes = fake_takes,
	.channel_multiple = 8,
	.concat_in_place = true,
};

static fw_status load(const int64_t *batches, uint32_t n, struct fw_nn_engine **engine,
		      struct fw_nn_network **network, struct fw_error *err)
{
	const struct fw_nn_network_options options = {
		.precision = FW_NN_FP16, .n_batches = n, .batches = batches, .fuse = true
	};
	const struct fw_nn_engine_options engine_options = { .name = "fake" };

	assert_int_equal(fw_nn_engine_open_class(&fake, &engine_options, engine, err), FW_OK);
	return fw_nn_network_load(*engine, &model.graph, &options, network, err);
}

static void batches_are_plans_of_the_same_numbers(void **state)
{
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instance;
	struct fw_error err;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	model_dense(&model, 2);
	assert_int_equal(load(DIMS(4, 1), 2, &engine, &network, &err), FW_OK);
	assert_int_equal(seen.n_plans, 2);
	assert_true(seen.batches[0] == 4 && seen.batches[1] == 1);
	assert_int_equal(fw_nn_network_plan(network, 1)->batch, 1);
	assert_null(fw_nn_network_plan(network, 2));
	assert_int_equal(fw_nn_instance_open(network, &instance, &err), FW_OK);
	assert_int_equal(fw_nn_instance_launch(instance, 1, NULL, &err), FW_OK);
	assert_int_equal(seen.plan, 1);
	assert_int_equal(fw_nn_instance_launch(instance, 2, NULL, &err), FW_ERR_ARGUMENT);
	fw_nn_instance_close(instance);
	fw_nn_network_free(network);
	fw_nn_engine_close(engine);
	assert_true(seen.unloaded == 1 && seen.closed == 1);
	build_end(&model);
}

static void a_step_that_the_engine_cannot_run_is_named(void **state)
{
	struct fw_nn_engine *engine;
	struct fw_nn_network *network = NULL;
	struct fw_error err;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.refuses_pools = true;
	model_dense(&model, 2);
	assert_int_equal(load(DIMS(1), 1, &engine, &network, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "AveragePool"));
	assert_true(!network && !seen.n_plans && !seen.unloaded);
	fw_nn_engine_close(engine);
	assert_int_equal(load(DIMS(1, 1), 2, &engine, &network, &err), FW_ERR_UNSUPPORTED);
	fw_nn_engine_close(engine);
	seen.refuses_pools = false;
	assert_int_equal(load(DIMS(1, 1), 2, &engine, &network, &err), FW_ERR_ARGUMENT);
	fw_nn_engine_close(engine);
	build_end(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_name_is_refused),
		cmocka_unit_test(batches_are_plans_of_the_same_numbers),
		cmocka_unit_test(a_step_that_the_engine_cannot_run_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
