#ifndef FW_NN_PLANNER_H
#define FW_NN_PLANNER_H
/*
 * The planner at work. It goes over the nodes once, in order; a node that no step has taken yet starts one, and takes
 * what it can fuse. Then concatenations are placed, results go in place, buffers get offsets. One thread.
 */
#include "base/vec.h"
#include "nn/plan.h"

/* Nodes of a graph: bounds the time that the placing of buffers takes, which grows with their square. */
#define FW_NN_MAX_NODES 20000

/* How the axes of a value lie in its tensor (n, h, w, c). */
enum fw_nn_layout {
	FW_NN_MAP,     /* [n, c, h, w] */
	FW_NN_LAST,    /* [n, c], [n, h, c] (tokens), [n, h, w, c] */
	FW_NN_COLUMNS, /* [n, c, h * w] */
	FW_NN_FLAT,    /* [n, c * h * w], more than one pixel */
	FW_NN_AXES     /* any other: plan_axes.h */
};

struct fw_nn_place {
	uint32_t tensor; /* FW_NN_NONE: not computed yet */
	enum fw_nn_layout layout;
	const struct fw_nn_axes *axes; /* of FW_NN_AXES */
};

struct fw_nn_draft_tensor {
	const char *name;
	int64_t n, h, w, c, padded_c;
	uint32_t
		parent; /* the tensor that it is a part or a view of; FW_NN_NONE: it has its own memory */
	int64_t shift;     /* from the parent's first element to its own */
	int64_t pixels;    /* from one of its pixels to the next in pixels of the parent */
	uint32_t producer; /* step */
	bool dense;        /* somebody needs pixel_stride = c */
	bool is_fixed;     /* the plan's input or output */
};

struct fw_nn_draft_step {
	struct fw_nn_step step;
	uint32_t node; /* that started it */
	bool is_dropped;
};

struct fw_nn_planner {
	const struct fw_nn_graph *graph;
	const struct fw_nn_plan_options *options;
	struct fw_nn_plan *plan;
	struct fw_arena scratch;
	struct fw_nn_shape *shapes; /* of the graph's values */
	struct fw_nn_place *places; /* of the graph's values */
	uint32_t *uses;             /* of a value: by nodes, and as the graph's output */
	uint32_t *first_use,
		*users;        /* users[first_use[v] .. first_use[v + 1]): nodes that read v */
	uint32_t *node_step;   /* FW_NN_NONE: not taken yet */
	struct fw_vec steps;   /* struct fw_nn_draft_step */
	struct fw_vec tensors; /* struct fw_nn_draft_tensor */
	struct fw_vec concats; /* struct fw_nn_draft_concat */
};

/* A concatenation: one copy step a part, in order, until fw_nn_place_concats. */
struct fw_nn_draft_concat {
	uint32_t output, first_step, n_steps;
};

static inline struct fw_nn_draft_tensor *fw_nn_draft(struct fw_nn_planner *p, uint32_t tensor)
{
	return &((struct fw_nn_draft_tensor *)p->tensors.data)[tensor];
}

static inline struct fw_nn_draft_step *fw_nn_draft_step(struct fw_nn_planner *p, uint32_t step)
{
	return &((struct fw_nn_draft_step *)p->steps.data)[step];
}

/* FW_ERR_UNSUPPORTED with the node's name and operator before the reason. */
fw_status fw_nn_refuse(const struct fw_nn_planner *p, uint32_t node, struct fw_error *err,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* plan_values.c: where values lie, and what constants hold. */

/* A new tensor in the shape that a value has under a layout; the value lies there from now on. */
fw_status fw_nn_place_new(struct fw_nn_planner *p, uint32_t value, enum fw_nn_layout layout,
			  struct fw_error *err);
/* A tensor of the size of `like` in memory of its own; of value (FW_NN_NONE: of the same name). */
struct fw_nn_draft_tensor fw_nn_draft_like(struct fw_nn_planner *p, uint32_t like, uint32_t value);
/* The same as a view of `base`. */
struct fw_nn_draft_tensor fw_nn_draft_view(struct fw_nn_planner *p, uint32_t base, uint32_t value);
/* A tensor of n x h x w x c elements. */
fw_status fw_nn_tensor_new(struct fw_nn_planner *p, const struct fw_nn_draft_tensor *draft,
			   uint32_t *tensor, struct fw_error *err);
bool fw_nn_same_shape(const struct fw_nn_planner *p, uint32_t a, uint32_t b);
bool fw_nn_is_constant(const struct fw_nn_planner *p, uint32_t value);
/* The elements of an fp32 constant, if it has so many; else NULL. */
const float *fw_nn_floats(const struct fw_nn_planner *p, uint32_t value, int64_t count);
bool fw_nn_is_scalar(const struct fw_nn_planner *p, uint32_t value, float *scalar);
/* A scalar constant within 1e-4 of x, relative. */
bool fw_nn_is_about(const struct fw_nn_planner *p, uint32_t value, float x);
/* One float a channel from a constant that broadcasts over all else; false: it does not. */
bool fw_nn_channel_floats(const struct fw_nn_planner *p, uint32_t value,
			  const struct fw_nn_place *place, float *out);
/* The input of a node as a tensor of the given layout; FW_NN_FLAT is copied where [n, c] is asked for. */
fw_status fw_nn_operand(struct fw_nn_planner *p, uint32_t node, uint32_t input,
			enum fw_nn_layout layout, uint32_t *tensor, struct fw_error *err);
/* Integers of an attribute or, from a later opset on, of a constant input; false: neither is there. */
bool fw_nn_ints(const struct fw_nn_planner *p, const struct fw_nn_node *node, const char *attr,
		uint32_t input, uint32_t *n, const int64_t **ints);

/* plan_fuse.c: what follows a step and becomes a part of it. */

struct fw_nn_match {
	struct fw_nn_act act;
	uint32_t value; /* the result */
	uint32_t n_nodes, nodes[8];
};
/* An activation of value that begins with node `first` (FW_NN_NONE: any, and nothing else may read value). */
bool fw_nn_match_act(const struct fw_nn_planner *p, uint32_t value, uint32_t first,
		     struct fw_nn_match *match);
/* Adds residual and activation to the step, if there are any; *value moves to the last result. */
void fw_nn_fuse_after(struct fw_nn_planner *p, uint32_t step, uint32_t *value);
/* The only reader of a value that nothing else needs, or FW_NN_NONE. */
uint32_t fw_nn_only_user(const struct fw_nn_planner *p, uint32_t value);
/* The other input of a node with two. */
uint32_t fw_nn_other_input(const struct fw_nn_node *node, uint32_t value);

/* A step that begins with node and reads tensor input. */
fw_status fw_nn_step_new(struct fw_nn_planner *p, uint32_t node, enum fw_nn_step_kind kind,
			 uint32_t input, uint32_t *step, struct fw_error *err);
/* The step's result is value, in a new tensor. */
fw_status fw_nn_step_result(struct fw_nn_planner *p, uint32_t step, uint32_t value,
			    enum fw_nn_layout layout, struct fw_error *err);

/* The same, in a tensor of the size of `like` and in its layout. */
fw_status fw_nn_step_result_like(struct fw_nn_planner *p, uint32_t step, uint32_t value,
				 struct fw_nn_place like, struct fw_error *err);
/* value is (n, h, w, c) elements of tensor base, from element shift on, every pixels-th pixel. */
fw_status fw_nn_alias(struct fw_nn_planner *p, uint32_t value, enum fw_nn_layout layout,
		      const struct fw_nn_draft_tensor *view, struct fw_error *err);
/* The tensor that a tensor is a part of, itself if of none. */
uint32_t fw_nn_root(struct fw_nn_planner *p, uint32_t tensor);
/* A constant made by the planner for a node, two at most (which: 0 or 1); in the plan's arena. */
float *fw_nn_derive(struct fw_nn_planner *p, uint32_t node, unsigned which, int64_t count,
		    struct fw_nn_weight *weight);

/* One function a kind of node: starts the step of an untaken node. */
fw_status fw_nn_plan_conv(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_gemm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_pool(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_mean(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_elementwise(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_batch_norm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_softmax(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_view(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);
fw_status fw_nn_plan_concat(struct fw_nn_planner *p, uint32_t node, struct fw_error *err);

/* plan_concat.c: the tensors side by side in a new one, which its producers may write into; copies until then. */
fw_status fw_nn_concat_new(struct fw_nn_planner *p, uint32_t node, uint32_t n,
			   const uint32_t *tensors, uint32_t *output, struct fw_error *err);
/* Drops the copies of concatenations that their producers can write in place. */
void fw_nn_place_concats(struct fw_nn_planner *p);

/* plan_memory.c: results in place, liveness, offsets; fills the plan's tensors. */
fw_status fw_nn_place_buffers(struct fw_nn_planner *p, struct fw_error *err);

/* plan_cost.c: FLOPs and bytes of each step and of the plan. */
fw_status fw_nn_plan_cost(struct fw_nn_plan *plan, struct fw_error *err);

/* A span of memory that is alive from a step to a step, both included. */
struct fw_nn_interval {
	uint64_t bytes, offset; /* offset: the result, 256-byte aligned */
	uint32_t first, last;
};
/* Offsets such that no two intervals that live at once overlap. The arena's size; UINT64_MAX: memory is out. */
uint64_t fw_nn_pack_intervals(struct fw_nn_interval *intervals, uint32_t n,
			      struct fw_arena *scratch);

#endif
