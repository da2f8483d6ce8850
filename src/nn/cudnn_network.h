#ifndef FW_NN_CUDNN_NETWORK_H
#define FW_NN_CUDNN_NETWORK_H
/* A loaded network: for each plan the operations that run, with weights and engines chosen. Immutable once loaded. */
#include "nn/kernel_args.h"
#include "nn/cudnn_choice.h"
#include "nn/cudnn_weights.h"

/* A launch of one of our kernels. Addresses of tensors in args are offsets in the arena. */
struct fw_nn_launch {
	void *function;
	unsigned grid[3], block[3];
	struct fw_kernel_args args;
};

struct fw_nn_operation {
	uint32_t step; /* of the program */
	uint32_t
		start_beside; /* the operation that is started on the second stream after this one; or FW_NN_NONE */
	bool is_beside; /* runs on the second stream */
	bool joins;     /* waits for the second stream first */
	bool is_kernel;
	struct fw_nn_launch launch;
	/* Of the rest: offsets in the arena, except w and bias, which are addresses; z FW_NN_NO_OFFSET: none. */
	struct fw_nn_problem problem;
	struct fw_nn_addresses at;
	const struct fw_nn_choice *choice;
	struct fw_nn_gemm gemm; /* if the choice is one */
};
#define FW_NN_NO_OFFSET UINT64_MAX

struct fw_nn_program {
	const struct fw_nn_plan *plan;
	struct fw_nn_tensor *tensors; /* the plan's, at the places where this engine puts them */
	struct fw_nn_step *steps;     /* the plan's, of which some pairs have changed places */
	uint32_t *planned;            /* for each step, which one of the plan it is */
	uint64_t arena_bytes;
	bool is_small; /* no two buffers share memory, so that independent operations may run side by side */
	struct fw_vec operations; /* struct fw_nn_operation */
};

struct fw_nn_gpu_network {
	struct fw_nn_gpu *gpu;
	enum fw_nn_precision precision;
	bool graph;
	struct fw_nn_weights weights;
	uint32_t n_programs;
	struct fw_nn_program *programs;
	uint32_t n_choices;
	struct fw_nn_choice **choices;
	uint64_t arena_bytes;
	size_t workspace_bytes, workspace_beside_bytes, staging_bytes;
	/* Activations that no engine fuses: how many layers of each kind, and the first. */
	struct fw_nn_unfused {
		uint32_t layers;
		const char *node;
	} unfused[FW_NN_ACT_TANH + 1];
};

/* Turns a plan's steps into operations, with weights on the GPU; choices are made later. */
fw_status fw_nn_program_build(struct fw_nn_gpu_network *network, struct fw_nn_program *program,
			      struct fw_error *err);

/* Gives steps and tensors of a program their order and places; a small network gets memory for each buffer alone. */
fw_status fw_nn_program_place(struct fw_nn_program *program, struct fw_error *err);
/* Which operations of a small network run beside others: the downsampling of a residual block, for one. */
void fw_nn_program_schedule(struct fw_nn_program *program);

/* One kernel's launch for one item per thread. FW_ERR_UNSUPPORTED: more items than 32 bits count. */
fw_status fw_nn_launch_items(struct fw_nn_launch *launch, int64_t items, struct fw_error *err);

/* A tensor as a kernel sees it, at an offset in the arena. */
struct fw_kernel_tensor fw_nn_kernel_tensor(const struct fw_nn_tensor *tensor);

/* The functions of the engine's class. */
fw_status fw_nn_gpu_network_load(void *engine, const struct fw_nn_plan *const *plans, uint32_t n,
				 const struct fw_nn_network_options *options, void **network,
				 struct fw_error *err);
float fw_nn_gpu_network_step_us(void *network, uint32_t plan, uint32_t step);
void fw_nn_gpu_network_bytes(const void *network, uint64_t *weights, uint64_t *instance);
void fw_nn_gpu_network_unload(void *network);
fw_status fw_nn_gpu_instance_open(void *network, void **instance, struct fw_error *err);
void fw_nn_gpu_instance_close(void *instance);
fw_status fw_nn_gpu_instance_io(void *instance, uint32_t plan, struct fw_nn_io *input,
				struct fw_nn_io *output, struct fw_error *err);
fw_status fw_nn_gpu_instance_launch(void *instance, uint32_t plan, void *stream,
				    struct fw_error *err);
fw_status fw_nn_gpu_instance_wait(void *instance, struct fw_error *err);
fw_status fw_nn_gpu_instance_write(void *instance, uint32_t plan, const float *nchw,
				   struct fw_error *err);
fw_status fw_nn_gpu_instance_read(void *instance, uint32_t plan, float *out, struct fw_error *err);

#endif
