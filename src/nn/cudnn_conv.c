/*
 * Builds operation graphs, asks heuristics, makes plans. The order of the operations and the types are those that cuDNN's
 * precompiled engines match: z is always there, with the factor 0 where there is no residual; the bias is of the
 * tensors' type; what passes between the operations is fp32 and virtual.
 */
#include "nn/cudnn_conv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TYPE_HANDLE            0   /* CUDNN_TYPE_HANDLE */
#define ATTRIBUTE_GRAPH_HANDLE 800 /* of graph and plan: needed before cuDNN 9.8, allowed since */
#define ATTRIBUTE_PLAN_HANDLE  400
#define MAX_NOTES              16

/* Descriptors in the making: after a call that failed the later ones do nothing. */
struct making {
	const struct fw_cudnn *cudnn;
	void *descriptor;
	int result;
};

static void begin(struct making *m, int type)
{
	m->descriptor = NULL;
	if (!m->result)
		m->result = m->cudnn->descriptor_create(type, &m->descriptor);
}

static void set(struct making *m, int name, int type, int64_t count, const void *elements)
{
	if (!m->result)
		m->result = m->cudnn->set_attribute(m->descriptor, name, type, count, elements);
}

static void set_descriptor(struct making *m, int name, void *descriptor)
{
	set(m, name, FW_CUDNN_TYPE_DESCRIPTOR, 1, &descriptor);
}

static void set_int64(struct making *m, int name, int64_t value)
{
	set(m, name, FW_CUDNN_TYPE_INT64, 1, &value);
}

static void set_enum(struct making *m, int name, int type, int value)
{
	set(m, name, type, 1, &value);
}

/* The finished descriptor, or NULL. */
static void *finish(struct making *m)
{
	if (!m->result)
		m->result = m->cudnn->finalize(m->descriptor);
	if (m->result && m->descriptor) {
		m->cudnn->descriptor_destroy(m->descriptor);
		m->descriptor = NULL;
	}
	return m->descriptor;
}

/* The same, and parts owns it. */
static void *finish_part(struct making *m, struct fw_nn_parts *parts)
{
	void *part = finish(m);

	if (part)
		parts->items[parts->n++] = part;
	return part;
}

static void free_parts(const struct fw_cudnn *cudnn, struct fw_nn_parts *parts)
{
	while (parts->n)
		cudnn->descriptor_destroy(parts->items[--parts->n]);
}

static int data_type(enum fw_nn_precision precision)
{
	switch (precision) {
	case FW_NN_FP16: return FW_CUDNN_HALF;
	case FW_NN_BFLOAT16: return FW_CUDNN_BFLOAT16;
	case FW_NN_FP32: break;
	}
	return FW_CUDNN_FLOAT;
}

struct shape {
	int64_t dims[4], strides[4]; /* n c h w */
};

static struct shape nhwc(int64_t n, int64_t h, int64_t w, int64_t c, int64_t step)
{
	return (struct shape){ { n, c, h, w }, { h * w * step, 1, w * step, step } };
}

/* Numbers past FW_NN_N_UIDS are of virtual tensors. */
static void *tensor(struct making *m, struct fw_nn_conv *conv, int64_t uid, int type,
		    const struct shape *shape)
{
	const bool is_virtual = uid > FW_NN_N_UIDS;

	begin(m, FW_CUDNN_TENSOR);
	set_enum(m, FW_CUDNN_TENSOR_DATA_TYPE, FW_CUDNN_TYPE_DATA_TYPE, type);
	set(m, FW_CUDNN_TENSOR_DIMENSIONS, FW_CUDNN_TYPE_INT64, 4, shape->dims);
	set(m, FW_CUDNN_TENSOR_STRIDES, FW_CUDNN_TYPE_INT64, 4, shape->strides);
	set_int64(m, FW_CUDNN_TENSOR_UNIQUE_ID, uid);
	set_int64(m, FW_CUDNN_TENSOR_BYTE_ALIGNMENT, 16);
	set(m, FW_CUDNN_TENSOR_IS_VIRTUAL, FW_CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
	return finish_part(m, &conv->parts);
}

static void *convolution(struct making *m, struct fw_nn_conv *conv,
			 const struct fw_nn_window *window)
{
	const int64_t dilations[2] = { window->dilation_y, window->dilation_x };
	const int64_t strides[2] = { window->stride_y, window->stride_x };
	const int64_t before[2] = { window->pad_top, window->pad_left };
	const int64_t after[2] = { window->pad_bottom, window->pad_right };

	begin(m, FW_CUDNN_CONVOLUTION);
	set_enum(m, FW_CUDNN_CONVOLUTION_COMP_TYPE, FW_CUDNN_TYPE_DATA_TYPE, FW_CUDNN_FLOAT);
	set_enum(m, FW_CUDNN_CONVOLUTION_CONV_MODE, FW_CUDNN_TYPE_CONVOLUTION_MODE,
		 FW_CUDNN_CROSS_CORRELATION);
	set(m, FW_CUDNN_CONVOLUTION_DILATIONS, FW_CUDNN_TYPE_INT64, 2, dilations);
	set(m, FW_CUDNN_CONVOLUTION_FILTER_STRIDES, FW_CUDNN_TYPE_INT64, 2, strides);
	set(m, FW_CUDNN_CONVOLUTION_PRE_PADDINGS, FW_CUDNN_TYPE_INT64, 2, before);
	set(m, FW_CUDNN_CONVOLUTION_POST_PADDINGS, FW_CUDNN_TYPE_INT64, 2, after);
	set_int64(m, FW_CUDNN_CONVOLUTION_SPATIAL_DIMS, 2);
	return finish_part(m, &conv->parts);
}

static void *convolution_operation(struct making *m, struct fw_nn_conv *conv, void *description,
				   void *const tensors[3])
{
	const double alpha = 1, beta = 0;

	begin(m, FW_CUDNN_OPERATION_CONVOLUTION);
	set_descriptor(m, FW_CUDNN_CONVOLUTION_DESC, description);
	set_descriptor(m, FW_CUDNN_CONVOLUTION_X, tensors[0]);
	set_descriptor(m, FW_CUDNN_CONVOLUTION_W, tensors[1]);
	set_descriptor(m, FW_CUDNN_CONVOLUTION_Y, tensors[2]);
	set(m, FW_CUDNN_CONVOLUTION_ALPHA, FW_CUDNN_TYPE_DOUBLE, 1, &alpha);
	set(m, FW_CUDNN_CONVOLUTION_BETA, FW_CUDNN_TYPE_DOUBLE, 1, &beta);
	return finish_part(m, &conv->parts);
}

/* y = mode(x, factor * b); b NULL: of x alone. */
static void *pointwise(struct making *m, struct fw_nn_conv *conv, int mode, float factor,
		       void *const tensors[3])
{
	const float one = 1;
	void *description;

	begin(m, FW_CUDNN_POINTWISE);
	set_enum(m, FW_CUDNN_POINTWISE_MODE, FW_CUDNN_TYPE_POINTWISE_MODE, mode);
	set_enum(m, FW_CUDNN_POINTWISE_MATH_PREC, FW_CUDNN_TYPE_DATA_TYPE, FW_CUDNN_FLOAT);
	description = finish_part(m, &conv->parts);
	begin(m, FW_CUDNN_OPERATION_POINTWISE);
	set_descriptor(m, FW_CUDNN_POINTWISE_DESC, description);
	set_descriptor(m, FW_CUDNN_POINTWISE_X, tensors[0]);
	if (tensors[1])
		set_descriptor(m, FW_CUDNN_POINTWISE_B, tensors[1]);
	set_descriptor(m, FW_CUDNN_POINTWISE_Y, tensors[2]);
	set(m, FW_CUDNN_POINTWISE_ALPHA1, FW_CUDNN_TYPE_FLOAT, 1, &one);
	if (tensors[1])
		set(m, FW_CUDNN_POINTWISE_ALPHA2, FW_CUDNN_TYPE_FLOAT, 1, &factor);
	return finish_part(m, &conv->parts);
}

static void build(struct making *m, struct fw_nn_conv *conv, const struct fw_nn_problem *p)
{
	const int type = data_type(p->precision);
	const int64_t c = p->c / p->window.groups;
	const struct shape x = nhwc(p->n, p->h, p->w, p->c, p->x_step);
	const struct shape w = nhwc(p->k, p->window.r, p->window.s, c, c);
	const struct shape y = nhwc(p->n, p->out_h, p->out_w, p->k, p->y_step);
	const struct shape z =
		nhwc(p->n, p->out_h, p->out_w, p->k, p->z_step ? p->z_step : p->y_step);
	const struct shape bias = nhwc(1, 1, 1, p->k, p->k);
	const struct shape between = nhwc(p->n, p->out_h, p->out_w, p->k, p->k);
	void *tx = tensor(m, conv, FW_NN_UID_X, type, &x);
	void *tw = tensor(m, conv, FW_NN_UID_W, type, &w);
	void *ty = tensor(m, conv, FW_NN_UID_Y, type, &y);
	void *tz = tensor(m, conv, FW_NN_UID_Z, type, &z);
	void *tb = tensor(m, conv, FW_NN_UID_BIAS, type, &bias);
	void *v1 = tensor(m, conv, FW_NN_N_UIDS + 1, FW_CUDNN_FLOAT, &between);
	void *v2 = tensor(m, conv, FW_NN_N_UIDS + 2, FW_CUDNN_FLOAT, &between);
	void *last = p->relu ? tensor(m, conv, FW_NN_N_UIDS + 3, FW_CUDNN_FLOAT, &between) : ty;
	void *description = convolution(m, conv, &p->window), *operations[4];
	int64_t n = 3;

	operations[0] = convolution_operation(m, conv, description, (void *const[]){ tx, tw, v1 });
	operations[1] = pointwise(m, conv, FW_CUDNN_POINTWISE_ADD, p->z_step ? 1 : 0,
				  (void *const[]){ v1, tz, v2 });
	operations[2] =
		pointwise(m, conv, FW_CUDNN_POINTWISE_ADD, 1, (void *const[]){ v2, tb, last });
	if (p->relu)
		operations[n++] = pointwise(m, conv, FW_CUDNN_POINTWISE_RELU, 0,
					    (void *const[]){ last, NULL, ty });
	begin(m, FW_CUDNN_OPERATIONGRAPH);
	if (conv->gpu->cudnn_handle)
		set(m, ATTRIBUTE_GRAPH_HANDLE, TYPE_HANDLE, 1, &conv->gpu->cudnn_handle);
	set(m, FW_CUDNN_OPERATIONGRAPH_OPS, FW_CUDNN_TYPE_DESCRIPTOR, n, operations);
	conv->graph = finish_part(m, &conv->parts);
}

fw_status fw_nn_conv_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			  struct fw_nn_conv *conv, struct fw_error *err)
{
	struct making m = { .cudnn = &gpu->cudnn };

	*conv = (struct fw_nn_conv){ .gpu = gpu, .precision = problem->precision };
	build(&m, conv, problem);
	if (!m.result)
		return FW_OK;
	fw_cudnn_fail(&gpu->cudnn, m.result, "the operation graph", err);
	fw_nn_conv_close(conv);
	return FW_ERR_IO;
}

void fw_nn_conv_close(struct fw_nn_conv *conv)
{
	if (conv->gpu)
		free_parts(&conv->gpu->cudnn, &conv->parts);
	conv->graph = NULL;
}

void fw_nn_problem_key(const struct fw_nn_problem *p, char key[FW_NN_KEY_BYTES])
{
	const struct fw_nn_window *w = &p->window;

	snprintf(key, FW_NN_KEY_BYTES,
		 "%s_%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 ".%" PRId64 "_k%" PRId64
		 ".%" PRId64 ".%" PRId64 "_w%" PRId64 "x%" PRId64 "_s%" PRId64 "x%" PRId64
		 "_p%" PRId64 ".%" PRId64 ".%" PRId64 ".%" PRId64 "_d%" PRId64 "x%" PRId64
		 "_g%" PRId64 "%s",
		 fw_nn_precision_name(p->precision), p->n, p->h, p->w, p->c, p->x_step, p->k,
		 p->y_step, p->z_step, w->r, w->s, w->stride_y, w->stride_x, w->pad_top,
		 w->pad_left, w->pad_bottom, w->pad_right, w->dilation_y, w->dilation_x, w->groups,
		 p->relu ? "_relu" : "");
}

static bool has_note(const struct fw_cudnn *cudnn, void *engine, int attribute, int type, int note)
{
	int notes[MAX_NOTES];
	int64_t n = 0;

	if (cudnn->get_attribute(engine, attribute, type, MAX_NOTES, &n, notes))
		return false;
	for (int64_t i = 0; i < n && i < MAX_NOTES; i++)
		if (notes[i] == note)
			return true;
	return false;
}

/* Engines that need a compiler at run time, whose results differ from run to run, or that round more than asked. */
static bool is_wanted(const struct fw_cudnn *cudnn, void *engine, enum fw_nn_precision precision)
{
	static const int never[] = { FW_CUDNN_NOTE_NONDETERMINISTIC,
				     FW_CUDNN_NOTE_DOWN_CONVERT_INPUTS };
	static const int not_fp32[] = { FW_CUDNN_NOTE_TENSOR_CORE, FW_CUDNN_NOTE_FFT,
					FW_CUDNN_NOTE_WINOGRAD,
					FW_CUDNN_NOTE_REDUCED_PRECISION_REDUCTION };

	if (has_note(cudnn, engine, FW_CUDNN_ENGINE_BEHAVIOR_NOTE, FW_CUDNN_TYPE_BEHAVIOR_NOTE,
		     FW_CUDNN_NOTE_RUNTIME_COMPILATION))
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (has_note(cudnn, engine, FW_CUDNN_ENGINE_NUMERICAL_NOTE,
			     FW_CUDNN_TYPE_NUMERICAL_NOTE, never[i]))
			return false;
	for (unsigned i = 0; precision == FW_NN_FP32 && i < 4; i++)
		if (has_note(cudnn, engine, FW_CUDNN_ENGINE_NUMERICAL_NOTE,
			     FW_CUDNN_TYPE_NUMERICAL_NOTE, not_fp32[i]))
			return false;
	return true;
}

/* The settings of a proposed configuration; false: more of them than we store, or they cannot be read. */
static bool read_knobs(const struct fw_cudnn *cudnn, void *proposed, struct fw_nn_config *config)
{
	void *knobs[FW_NN_MAX_KNOBS] = { 0 };
	int64_t n = 0, made = 0, one;
	bool good = true;

	while (made < FW_NN_MAX_KNOBS &&
	       !cudnn->descriptor_create(FW_CUDNN_KNOB_CHOICE, &knobs[made]))
		made++;
	if (made < FW_NN_MAX_KNOBS ||
	    cudnn->get_attribute(proposed, FW_CUDNN_ENGINECFG_KNOB_CHOICES,
				 FW_CUDNN_TYPE_DESCRIPTOR, made, &n, knobs) ||
	    n < 0 || n > made)
		good = false;
	for (int64_t i = 0; good && i < n; i++) {
		int type = 0;

		good = !cudnn->get_attribute(knobs[i], FW_CUDNN_KNOB_CHOICE_KNOB_TYPE,
					     FW_CUDNN_TYPE_KNOB_TYPE, 1, &one, &type) &&
		       !cudnn->get_attribute(knobs[i], FW_CUDNN_KNOB_CHOICE_KNOB_VALUE,
					     FW_CUDNN_TYPE_INT64, 1, &one, &config->knobs[i].value);
		config->knobs[i].type = type;
	}
	config->n_knobs = good ? (uint32_t)n : 0;
	while (made)
		cudnn->descriptor_destroy(knobs[--made]);
	return good;
}

static bool read_config(const struct fw_cudnn *cudnn, void *proposed,
			enum fw_nn_precision precision, struct fw_nn_config *config)
{
	void *engine = NULL;
	int64_t one;
	bool good;

	if (cudnn->descriptor_create(FW_CUDNN_ENGINE, &engine))
		return false;
	good = !cudnn->get_attribute(proposed, FW_CUDNN_ENGINECFG_ENGINE, FW_CUDNN_TYPE_DESCRIPTOR,
				     1, &one, &engine) &&
	       !cudnn->get_attribute(engine, FW_CUDNN_ENGINE_GLOBAL_INDEX, FW_CUDNN_TYPE_INT64, 1,
				     &one, &config->engine) &&
	       is_wanted(cudnn, engine, precision) && read_knobs(cudnn, proposed, config);
	cudnn->descriptor_destroy(engine);
	return good;
}

static bool is_known(const struct fw_nn_config *configs, uint32_t n,
		     const struct fw_nn_config *config)
{
	for (uint32_t i = 0; i < n; i++) {
		bool same = configs[i].engine == config->engine &&
			    configs[i].n_knobs == config->n_knobs;

		for (uint32_t k = 0; same && k < config->n_knobs; k++)
			same = configs[i].knobs[k].type == config->knobs[k].type &&
			       configs[i].knobs[k].value == config->knobs[k].value;
		if (same)
			return true;
	}
	return false;
}

/* What one kind of heuristics proposes, appended to configs. */
static int ask(const struct fw_nn_conv *conv, int mode, struct fw_nn_config *configs, uint32_t *n)
{
	const struct fw_cudnn *cudnn = &conv->gpu->cudnn;
	struct making m = { .cudnn = cudnn };
	void *proposed[FW_NN_MAX_CONFIGS] = { 0 }, *heuristics;
	int64_t made = 0, count = 0;

	begin(&m, FW_CUDNN_ENGINEHEUR);
	set_descriptor(&m, FW_CUDNN_ENGINEHEUR_OPERATION_GRAPH, conv->graph);
	set_enum(&m, FW_CUDNN_ENGINEHEUR_MODE, FW_CUDNN_TYPE_HEUR_MODE, mode);
	if (conv->gpu->device_property)
		set_descriptor(&m, FW_CUDNN_ENGINEHEUR_DEVICEPROP, conv->gpu->device_property);
	heuristics = finish(&m);
	while (!m.result && made < FW_NN_MAX_CONFIGS) {
		m.result = cudnn->descriptor_create(FW_CUDNN_ENGINECFG, &proposed[made]);
		made += !m.result;
	}
	if (!m.result)
		m.result = cudnn->get_attribute(heuristics, FW_CUDNN_ENGINEHEUR_RESULTS,
						FW_CUDNN_TYPE_DESCRIPTOR, made, &count, proposed);
	for (int64_t i = 0; !m.result && i < count && i < made && *n < FW_NN_MAX_CONFIGS; i++)
		if (read_config(cudnn, proposed[i], conv->precision, &configs[*n]) &&
		    !is_known(configs, *n, &configs[*n]))
			++*n;
	while (made)
		cudnn->descriptor_destroy(proposed[--made]);
	if (heuristics)
		cudnn->descriptor_destroy(heuristics);
	return m.result;
}

fw_status fw_nn_conv_configs(const struct fw_nn_conv *conv, bool fallback,
			     struct fw_nn_config configs[FW_NN_MAX_CONFIGS], uint32_t *n,
			     struct fw_error *err)
{
	int result;

	*n = 0;
	result = ask(conv, fallback ? FW_CUDNN_HEUR_MODE_FALLBACK : FW_CUDNN_HEUR_MODE_A, configs,
		     n);
	/* The first kind refuses what it has no engine for. */
	return result && fallback
		       ? fw_cudnn_fail(&conv->gpu->cudnn, result, "cuDNN's heuristics", err)
		       : FW_OK;
}

/* The engine with its settings, made again from their numbers. */
static void *rebuild(struct making *m, const struct fw_nn_conv *conv,
		     const struct fw_nn_config *config, struct fw_nn_parts *parts)
{
	void *choices[FW_NN_MAX_KNOBS], *engine;

	begin(m, FW_CUDNN_ENGINE);
	set_descriptor(m, FW_CUDNN_ENGINE_OPERATION_GRAPH, conv->graph);
	set_int64(m, FW_CUDNN_ENGINE_GLOBAL_INDEX, config->engine);
	if (conv->gpu->device_property)
		set_descriptor(m, FW_CUDNN_ENGINE_DEVICEPROP, conv->gpu->device_property);
	engine = finish_part(m, parts);
	for (uint32_t i = 0; i < config->n_knobs; i++) {
		begin(m, FW_CUDNN_KNOB_CHOICE);
		set_enum(m, FW_CUDNN_KNOB_CHOICE_KNOB_TYPE, FW_CUDNN_TYPE_KNOB_TYPE,
			 config->knobs[i].type);
		set_int64(m, FW_CUDNN_KNOB_CHOICE_KNOB_VALUE, config->knobs[i].value);
		choices[i] = finish_part(m, parts);
	}
	begin(m, FW_CUDNN_ENGINECFG);
	set_descriptor(m, FW_CUDNN_ENGINECFG_ENGINE, engine);
	if (config->n_knobs)
		set(m, FW_CUDNN_ENGINECFG_KNOB_CHOICES, FW_CUDNN_TYPE_DESCRIPTOR, config->n_knobs,
		    choices);
	return finish_part(m, parts);
}

fw_status fw_nn_conv_plan_open(const struct fw_nn_conv *conv, const struct fw_nn_config *config,
			       struct fw_nn_conv_plan *plan, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = conv->gpu;
	struct making m = { .cudnn = &gpu->cudnn };
	int64_t bytes = 0, one;
	void *rebuilt;

	*plan = (struct fw_nn_conv_plan){ 0 };
	if (config->n_knobs > FW_NN_MAX_KNOBS)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "an engine with %u settings",
			       config->n_knobs);
	rebuilt = rebuild(&m, conv, config, &plan->parts);
	begin(&m, FW_CUDNN_EXECUTION_PLAN);
	if (gpu->cudnn_handle)
		set(&m, ATTRIBUTE_PLAN_HANDLE, TYPE_HANDLE, 1, &gpu->cudnn_handle);
	set_descriptor(&m, FW_CUDNN_EXECUTION_PLAN_ENGINE_CONFIG, rebuilt);
	if (gpu->device_property)
		set_descriptor(&m, FW_CUDNN_EXECUTION_PLAN_DEVICEPROP, gpu->device_property);
	plan->plan = finish_part(&m, &plan->parts);
	if (!m.result)
		m.result =
			gpu->cudnn.get_attribute(plan->plan, FW_CUDNN_EXECUTION_PLAN_WORKSPACE_SIZE,
						 FW_CUDNN_TYPE_INT64, 1, &one, &bytes);
	if (!m.result && bytes >= 0) {
		plan->workspace_bytes = (size_t)bytes;
		return FW_OK;
	}
	fw_cudnn_fail(&gpu->cudnn, m.result, "the plan of an engine", err);
	fw_nn_conv_plan_close(gpu, plan);
	if (err)
		err->code = FW_ERR_UNSUPPORTED;
	return FW_ERR_UNSUPPORTED;
}

void fw_nn_conv_plan_close(const struct fw_nn_gpu *gpu, struct fw_nn_conv_plan *plan)
{
	free_parts(&gpu->cudnn, &plan->parts);
	plan->plan = NULL;
}

fw_status fw_nn_conv_pack(const struct fw_nn_gpu *gpu, const struct fw_nn_addresses *addresses,
			  void **pack, struct fw_error *err)
{
	static const int64_t uids[FW_NN_N_UIDS] = { FW_NN_UID_X, FW_NN_UID_W, FW_NN_UID_Y,
						    FW_NN_UID_Z, FW_NN_UID_BIAS };
	/* With the factor 0 most engines do not read z; those that do must find as much memory as y has. */
	const uint64_t z = addresses->z ? addresses->z : addresses->y;
	void *const pointers[FW_NN_N_UIDS] = {
		(void *)(uintptr_t)addresses->x,    (void *)(uintptr_t)addresses->w,
		(void *)(uintptr_t)addresses->y,    (void *)(uintptr_t)z,
		(void *)(uintptr_t)addresses->bias,
	};
	void *const workspace = (void *)(uintptr_t)addresses->workspace;
	struct making m = { .cudnn = &gpu->cudnn };

	begin(&m, FW_CUDNN_VARIANT_PACK);
	set(&m, FW_CUDNN_VARIANT_PACK_UNIQUE_IDS, FW_CUDNN_TYPE_INT64, FW_NN_N_UIDS, uids);
	set(&m, FW_CUDNN_VARIANT_PACK_DATA_POINTERS, FW_CUDNN_TYPE_VOID_PTR, FW_NN_N_UIDS,
	    pointers);
	set(&m, FW_CUDNN_VARIANT_PACK_WORKSPACE, FW_CUDNN_TYPE_VOID_PTR, 1, &workspace);
	*pack = finish(&m);
	return m.result ? fw_cudnn_fail(&gpu->cudnn, m.result, "a variant pack", err) : FW_OK;
}
