/* The CPU's engine, to ask what is right. */
#include "pipeline/reference.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fw_reference {
	const struct fw_nn_graph *graph;
	pthread_t thread;
	bool is_running;
	fw_status status;
	struct fw_error err;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instance;
};

static void *make_ready(void *argument)
{
	static const int64_t one = 1;
	struct fw_reference *r = argument;
	const struct fw_nn_engine_options engine = { .name = "onednn" };
	const struct fw_nn_network_options network = {
		.precision = FW_NN_FP32,
		.n_batches = 1,
		.batches = &one,
		.fuse = true,
	};

	r->status = fw_nn_engine_open(&engine, &r->engine, &r->err);
	if (!r->status)
		r->status = fw_nn_network_load(r->engine, r->graph, &network, &r->network, &r->err);
	if (!r->status)
		r->status = fw_nn_instance_open(r->network, &r->instance, &r->err);
	return NULL;
}

fw_status fw_reference_start(const struct fw_nn_graph *graph, struct fw_reference **reference,
			     struct fw_error *err)
{
	struct fw_reference *made = calloc(1, sizeof(*made));
	int code;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->graph = graph;
	code = pthread_create(&made->thread, NULL, make_ready, made);
	if (code) {
		free(made);
		return fw_fail(err, FW_ERR_IO, "cannot start a thread of the pipeline: %s",
			       strerror(code));
	}
	made->is_running = true;
	*reference = made;
	return FW_OK;
}

static void join(struct fw_reference *r)
{
	if (r->is_running)
		pthread_join(r->thread, NULL);
	r->is_running = false;
}

fw_status fw_reference_wait(struct fw_reference *r, struct fw_error *err)
{
	join(r);
	if (r->status && err)
		*err = r->err;
	return r->status;
}

static fw_status run(struct fw_reference *r, struct fw_preprocess_scratch *scratch,
		     const struct fw_reference_picture *picture, float *scores,
		     struct fw_error *err)
{
	struct fw_nn_io input;
	fw_status status = fw_nn_instance_io(r->instance, 1, &input, &(struct fw_nn_io){ 0 }, err);

	if (!status)
		status = fw_preprocess_cpu(scratch, picture->cell, picture->image, input.data,
					   (size_t)input.pixel_stride, err);
	if (!status)
		status = fw_nn_instance_launch(r->instance, 1, NULL, err);
	if (!status)
		status = fw_nn_instance_wait(r->instance, err);
	return status ? status : fw_nn_instance_read(r->instance, 1, scores, err);
}

fw_status fw_reference_score(struct fw_reference *r, const struct fw_reference_picture *picture,
			     float *scores, struct fw_error *err)
{
	struct fw_preprocess_scratch *scratch;
	fw_status status =
		fw_preprocess_open(picture->preprocess, picture->cell_bytes, &scratch, err);

	if (status)
		return status;
	status = run(r, scratch, picture, scores, err);
	fw_preprocess_close(scratch);
	return status;
}

void fw_reference_close(struct fw_reference *r)
{
	if (!r)
		return;
	join(r);
	fw_nn_instance_close(r->instance);
	fw_nn_network_free(r->network);
	fw_nn_engine_close(r->engine);
	free(r);
}
