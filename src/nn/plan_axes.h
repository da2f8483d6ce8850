#ifndef FW_NN_PLAN_AXES_H
#define FW_NN_PLAN_AXES_H
/*
 * Values whose dimensions are no usual order of n, c, h, w: what transformers do to heads and tokens between two products.
 * Each dimension is a product of atoms, parts of the tensor's samples, pixels or channels, so that reshaping and
 * transposing move no element.
 */
#include "nn/planner.h"

#define FW_NN_MAX_ATOMS 12
#define FW_NN_MAX_OWED  16

enum fw_nn_atom_kind { FW_NN_ATOM_SAMPLE, FW_NN_ATOM_PIXEL, FW_NN_ATOM_CHANNEL };

struct fw_nn_atom {
	enum fw_nn_atom_kind kind;
	uint32_t dim; /* that it is a part of; ascending */
	int64_t size,
		step; /* step: samples, pixels or channels from one to the next; size 1 is left out */
};

/* What has become of it on the way to an attention. */
enum fw_nn_stage { FW_NN_STAGE_PLAIN, FW_NN_STAGE_SCORES, FW_NN_STAGE_SHARES };

/* Channels of a tensor, one head after the other. */
struct fw_nn_heads {
	uint32_t tensor;
	int64_t first;
};

struct fw_nn_axes {
	uint32_t rank, n_atoms;
	struct fw_nn_atom atoms[FW_NN_MAX_ATOMS];
	int64_t first_channel;
	enum fw_nn_stage stage;
	float scale;             /* that is still to be multiplied with */
	struct fw_nn_heads q, k; /* of scores and shares */
	int64_t heads, width;    /* of scores and shares: how many, channels of each */
	uint32_t n_owed, owed[FW_NN_MAX_OWED]; /* nodes that the coming attention stands for */
};

/* The atoms of a value in any layout. */
void fw_nn_axes_of(struct fw_nn_planner *p, uint32_t value, struct fw_nn_axes *axes);
/* The value has these axes of this tensor: in a usual layout if they are one. */
fw_status fw_nn_axes_place(struct fw_nn_planner *p, uint32_t value, uint32_t tensor,
			   struct fw_nn_axes *axes, struct fw_error *err);
/* Whether the last dimension is all channels of the tensor and no other one is: rows in any order. */
bool fw_nn_axes_are_rows(struct fw_nn_planner *p, uint32_t tensor, const struct fw_nn_axes *axes);
/* Transpose, Reshape, Slice, Gather, Split of channels: false: not without moving elements. */
fw_status fw_nn_axes_view(struct fw_nn_planner *p, uint32_t node, bool *is_view,
			  struct fw_error *err);

/* plan_attention.c */

/* MatMul of two computed values: scores, or the result of an attention. */
fw_status fw_nn_plan_heads(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
/* Softmax of scores; a constant multiplied with scores or heads. *is_done: it was that. */
fw_status fw_nn_plan_shares(struct fw_nn_planner *p, uint32_t node, bool *is_done,
			    struct fw_error *err);

/* plan_tokens.c */

fw_status fw_nn_plan_layer_norm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
/* Concat of a class token, or Add of positions. *is_done: it was that. */
fw_status fw_nn_plan_tokens(struct fw_nn_planner *p, uint32_t node, bool *is_done,
			    struct fw_error *err);
/* Gather of the first token. */
fw_status fw_nn_plan_first_token(struct fw_nn_planner *p, uint32_t node, bool *is_done,
				 struct fw_error *err);

#endif
