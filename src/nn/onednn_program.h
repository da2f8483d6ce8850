#ifndef FW_NN_ONEDNN_PROGRAM_H
#define FW_NN_ONEDNN_PROGRAM_H
/*
 * A plan as a list of oneDNN primitives. A program is made once at load and then immutable; what an instance adds is
 * memory: its arena (the plan's), its workspace (dense copies of parts of concatenations, scores of attention) and its
 * scratchpad (oneDNN's own).
 */
#include "base/vec.h"
#include "nn/engine.h"

#include <dnnl.h>

enum fw_onednn_place {
	FW_ONEDNN_ARENA,
	FW_ONEDNN_WORKSPACE,
	FW_ONEDNN_SCRATCHPAD,
	FW_ONEDNN_CONSTANT, /* of the network or its graph */
	FW_ONEDNN_N_PLACES
};

/* An operand: where it lies and how its elements are laid out there. */
struct fw_onednn_arg {
	int arg; /* DNNL_ARG_* */
	enum fw_onednn_place place;
	uint64_t offset;      /* bytes, from the place's start; constants have an address */
	const void *constant; /* only read */
	dnnl_memory_desc_t md;
};

#define FW_ONEDNN_MAX_ARGS 8

struct fw_onednn_call {
	dnnl_primitive_t primitive;
	uint32_t step, n_args;
	struct fw_onednn_arg args[FW_ONEDNN_MAX_ARGS];
};

struct fw_onednn_program {
	const struct fw_nn_plan *plan;
	struct fw_vec calls; /* struct fw_onednn_call */
};

/* A weight in the layout that a primitive wants, made once and shared by all plans and instances. */
struct fw_onednn_packed {
	struct fw_nn_weight key;
	dnnl_memory_desc_t md;
	void *data; /* NULL: the graph's own bytes serve */
};

struct fw_onednn_engine {
	dnnl_engine_t cpu;
	struct fw_nn_engine_options options;
};

struct fw_onednn_network {
	const struct fw_onednn_engine *engine;
	dnnl_stream_t stream;               /* for the packing at load */
	uint64_t bytes[FW_ONEDNN_N_PLACES]; /* that an instance needs */
	struct fw_vec packed;               /* struct fw_onednn_packed */
	uint32_t n_programs;
	struct fw_onednn_program programs[];
};

/* Makes the program of one plan. One thread. */
struct fw_onednn_builder {
	struct fw_onednn_network *network;
	struct fw_onednn_program *program;
	const struct fw_nn_plan *plan;
	const struct fw_nn_step *step;
	uint32_t step_number;
	dnnl_data_type_t type; /* of activations and weights */
	uint64_t workspace;    /* bytes of it that this step has taken */
	struct fw_error *err;
};

/* FW_OK, or an error that names the step's first node and oneDNN's status. */
fw_status fw_onednn_check(const struct fw_onednn_builder *b, dnnl_status_t status,
			  const char *what);

/* onednn_post_ops.c: what is fused behind a primitive. Always gives the user the scratchpad. */
struct fw_onednn_fused {
	bool has_sum; /* the residual lies in the output already */
	float scale;  /* of the result before all else; 0: none */
	const struct fw_nn_act *act;
};
fw_status fw_onednn_attr(struct fw_onednn_builder *b, const struct fw_onednn_fused *fused,
			 dnnl_primitive_attr_t *attr);
fw_status fw_onednn_describe(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
			     const struct fw_onednn_fused *fused,
			     dnnl_primitive_desc_t *description);

/* onednn_program.c */

fw_status fw_onednn_build(struct fw_onednn_builder *b);
void fw_onednn_program_release(struct fw_onednn_program *program);

/* Bytes of the workspace for this step. */
struct fw_onednn_arg fw_onednn_workspace(struct fw_onednn_builder *b, const dnnl_memory_desc_t *md);

/* The tensor as dimensions n, c, h, w, in place. */
fw_status fw_onednn_map(struct fw_onednn_builder *b, uint32_t tensor, struct fw_onednn_arg *arg);
/* The same as rows = n * h * w of c. */
fw_status fw_onednn_rows(struct fw_onednn_builder *b, uint32_t tensor, struct fw_onednn_arg *arg);

/*
 * oneDNN's fast code wants pixel_stride = c. The step's input (and second operand) in that form: copied into the
 * workspace if need be. The output: begin gives a place, end copies it to its own if it is not there yet.
 */
fw_status fw_onednn_dense_input(struct fw_onednn_builder *b, uint32_t tensor,
				struct fw_onednn_arg *arg);
fw_status fw_onednn_dense_output_begin(struct fw_onednn_builder *b, struct fw_onednn_arg *arg);
fw_status fw_onednn_dense_output_end(struct fw_onednn_builder *b, const struct fw_onednn_arg *arg);

/* A dense operand of n, c, h, w as rows of c. */
fw_status fw_onednn_as_rows(struct fw_onednn_builder *b, struct fw_onednn_arg *arg);

/* Appends a call; the scratchpad is added. Consumes description. */
fw_status fw_onednn_add(struct fw_onednn_builder *b, dnnl_primitive_desc_t description,
			const struct fw_onednn_arg *args, uint32_t n_args);
/* The same from an operation. */
fw_status fw_onednn_add_operation(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
				  const struct fw_onednn_fused *fused,
				  const struct fw_onednn_arg *args, uint32_t n_args);
fw_status fw_onednn_copy(struct fw_onednn_builder *b, const struct fw_onednn_arg *from,
			 const struct fw_onednn_arg *to);

/* onednn_weights.c */

/* weight, laid out as `from` in the graph, as `wanted`. A bias: from = wanted. */
fw_status fw_onednn_pack(struct fw_onednn_builder *b, const struct fw_nn_weight *weight,
			 const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *wanted,
			 const void **data);
/* A vector of fp32, as an operand. */
fw_status fw_onednn_vector(struct fw_onednn_builder *b, int arg, const struct fw_nn_weight *weight,
			   struct fw_onednn_arg *out);
void fw_onednn_packed_release(struct fw_vec *packed);

/* One function a kind of step, in the order of enum fw_nn_step_kind. */
fw_status fw_onednn_conv(struct fw_onednn_builder *b);
fw_status fw_onednn_gemm(struct fw_onednn_builder *b);
fw_status fw_onednn_pool(struct fw_onednn_builder *b);
fw_status fw_onednn_global_average(struct fw_onednn_builder *b);
fw_status fw_onednn_elementwise(struct fw_onednn_builder *b);
fw_status fw_onednn_softmax(struct fw_onednn_builder *b);
fw_status fw_onednn_layer_norm(struct fw_onednn_builder *b);
fw_status fw_onednn_attention(struct fw_onednn_builder *b);
fw_status fw_onednn_tokens(struct fw_onednn_builder *b);
fw_status fw_onednn_copy_step(struct fw_onednn_builder *b);

#endif
