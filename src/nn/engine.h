#ifndef FW_NN_ENGINE_H
#define FW_NN_ENGINE_H
/*
 * One interface for every engine. A network holds the plans of its batch sizes and the weights, shared; an instance
 * owns an arena and runs one batch at a time. Nothing allocates after an instance is open. An engine and a network may be
 * used by several threads; an instance by one at a time.
 */
#include "nn/plan.h"

struct fw_nn_engine;
struct fw_nn_network;
struct fw_nn_instance;

struct fw_nn_engine_options {
	const char *name;      /* "onednn" or "cudnn" */
	unsigned device;       /* CUDA ordinal */
	const char *cache_dir; /* of autotuned engine choices; NULL: none */
	double autotune_s;     /* budget for each batch size; 0: heuristics only */
	void (*say)(
		void *user,
		const char *
			text); /* what a user should know (cache ignored, unfused fallback); may be NULL */
	void *user;
};

struct fw_nn_network_options {
	enum fw_nn_precision precision;
	uint32_t n_batches;
	const int64_t *batches;
	bool fuse;
	bool graph; /* capture a CUDA graph per batch size */
};

/* Memory of an instance's input or output: on the GPU for cudnn, of the host for onednn. */
struct fw_nn_io {
	void *data;
	size_t bytes;
	enum fw_nn_precision precision;
	int64_t n, h, w, c,
		pixel_stride; /* elements; channels from c to pixel_stride must be zero in the input */
};

/* FW_ERR_UNSUPPORTED: not built in, or its libraries or hardware are not there; the message names them. */
fw_status fw_nn_engine_open(const struct fw_nn_engine_options *options,
			    struct fw_nn_engine **engine, struct fw_error *err);
void fw_nn_engine_close(struct fw_nn_engine *engine);
bool fw_nn_engine_is_built_in(const char *name);

/* graph must outlive the network. */
fw_status fw_nn_network_load(struct fw_nn_engine *engine, const struct fw_nn_graph *graph,
			     const struct fw_nn_network_options *options,
			     struct fw_nn_network **network, struct fw_error *err);
void fw_nn_network_free(struct fw_nn_network *network);
const struct fw_nn_plan *fw_nn_network_plan(const struct fw_nn_network *network, int64_t batch);
/* What the engine measured for a step when it chose how to run it, in microseconds; negative: it was not measured. */
float fw_nn_network_step_us(const struct fw_nn_network *network, int64_t batch, uint32_t step);
/* Host memory that each instance takes for its tensors, all batch sizes together; 0: the engine cannot tell. */
uint64_t fw_nn_network_instance_bytes(const struct fw_nn_network *network);
/* Memory of the GPU, for the weights and for each instance; both 0 with an engine for the CPU. */
void fw_nn_network_gpu_bytes(const struct fw_nn_network *network, uint64_t *weights,
			     uint64_t *instance);

fw_status fw_nn_instance_open(struct fw_nn_network *network, struct fw_nn_instance **instance,
			      struct fw_error *err);
void fw_nn_instance_close(struct fw_nn_instance *instance);

/* batch must be one of the network's. */
fw_status fw_nn_instance_io(struct fw_nn_instance *instance, int64_t batch, struct fw_nn_io *input,
			    struct fw_nn_io *output, struct fw_error *err);

/* Runs what lies in the input; stream: a CUstream, NULL: the instance's own. On the GPU it returns at once. */
fw_status fw_nn_instance_launch(struct fw_nn_instance *instance, int64_t batch, void *stream,
				struct fw_error *err);
/* Waits for the last launch. */
fw_status fw_nn_instance_wait(struct fw_nn_instance *instance, struct fw_error *err);

/* Copies fp32 host data in (NCHW, as ONNX has it) and out (n x c), converted; for tests and tools. */
fw_status fw_nn_instance_write(struct fw_nn_instance *instance, int64_t batch, const float *nchw,
			       struct fw_error *err);
fw_status fw_nn_instance_read(struct fw_nn_instance *instance, int64_t batch, float *out,
			      struct fw_error *err);

/* What an engine implements; engines.def names them. */
struct fw_nn_engine_class {
	const char *name;
	fw_status (*open)(const struct fw_nn_engine_options *options, void **engine,
			  struct fw_error *err);
	void (*close)(void *engine);
	fw_status (*load)(void *engine, const struct fw_nn_plan *const *plans, uint32_t n_plans,
			  const struct fw_nn_network_options *options, void **network,
			  struct fw_error *err);
	void (*unload)(void *network);
	float (*step_us)(void *network, uint32_t plan,
			 uint32_t step);                 /* NULL: it measures nothing */
	uint64_t (*instance_bytes)(const void *network); /* NULL: not known */
	void (*gpu_bytes)(const void *network, uint64_t *weights,
			  uint64_t *instance); /* NULL: none */
	fw_status (*instance_open)(void *network, void **instance, struct fw_error *err);
	void (*instance_close)(void *instance);
	fw_status (*io)(void *instance, uint32_t plan, struct fw_nn_io *input,
			struct fw_nn_io *output, struct fw_error *err);
	fw_status (*launch)(void *instance, uint32_t plan, void *stream, struct fw_error *err);
	fw_status (*wait)(void *instance, struct fw_error *err);
	fw_status (*write)(void *instance, uint32_t plan, const float *nchw, struct fw_error *err);
	fw_status (*read)(void *instance, uint32_t plan, float *out, struct fw_error *err);
	/* What the planner must know before it plans: see struct fw_nn_plan_options. */
	int64_t channel_multiple;
	bool concat_in_place, residual_in_place;
	bool (*takes)(const struct fw_nn_step *step,
		      const struct fw_nn_plan *plan); /* NULL: every step kind */
};

/* An engine that no table names: for tests. */
fw_status fw_nn_engine_open_class(const struct fw_nn_engine_class *class,
				  const struct fw_nn_engine_options *options,
				  struct fw_nn_engine **engine, struct fw_error *err);

#endif
