/* Nodes whose inputs are all constants are computed once, here. */
#include "nn/fold.h"

#include <math.h>
#include <string.h>

/* Larger results are left to be computed from their smaller inputs. */
#define MAX_BYTES ((size_t)256 << 20)

struct work {
	struct fw_nn_fold *f;
	const struct fw_nn_node *node;
	const struct fw_nn_shape *shape; /* of the result */
	size_t count, size;              /* elements of the result, bytes of one */
	void *out;
};

static const struct fw_nn_value *input(const struct work *w, uint32_t i)
{
	return fw_nn_fold_value(w->f, w->node->inputs[i]);
}

static const struct fw_nn_shape *input_shape(const struct work *w, uint32_t i)
{
	return &w->f->shapes[0][w->node->inputs[i]];
}

/* The distance between neighbours along each axis of a dense tensor. */
static void strides_of(const struct fw_nn_shape *shape, int64_t strides[FW_NN_MAX_RANK])
{
	int64_t n = 1;

	for (uint32_t i = shape->rank; i-- > 0; n *= shape->dims[i])
		strides[i] = n;
}

/* Moves index to the next element of shape in order and returns how far that moves along strides. */
static int64_t step(const struct fw_nn_shape *shape, int64_t index[FW_NN_MAX_RANK],
		    const int64_t strides[FW_NN_MAX_RANK])
{
	int64_t moved = 0;

	for (uint32_t i = shape->rank; i-- > 0;) {
		moved += strides[i];
		if (++index[i] < shape->dims[i])
			return moved;
		moved -= strides[i] * shape->dims[i];
		index[i] = 0;
	}
	return moved;
}

/* Copies the element at first, and those that strides lead to, in the order of the result. */
static void copy_along(const struct work *w, int64_t first, const int64_t strides[FW_NN_MAX_RANK])
{
	const char *from = input(w, 0)->data;
	int64_t index[FW_NN_MAX_RANK] = { 0 }, at = first;

	for (size_t i = 0; i < w->count; i++) {
		memcpy((char *)w->out + i * w->size, from + at * (int64_t)w->size, w->size);
		at += step(w->shape, index, strides);
	}
}

static bool transpose(const struct work *w)
{
	const struct fw_nn_attr *perm = fw_nn_attr_find(w->node, "perm");
	int64_t from[FW_NN_MAX_RANK], strides[FW_NN_MAX_RANK];

	strides_of(input_shape(w, 0), from);
	for (uint32_t i = 0; i < w->shape->rank; i++)
		strides[i] = from[perm ? (uint32_t)perm->ints[i] : w->shape->rank - 1 - i];
	copy_along(w, 0, strides);
	return true;
}

/* Strides along the result of an operand that broadcasts to it. */
static void broadcast_strides(const struct fw_nn_shape *x, const struct fw_nn_shape *result,
			      int64_t strides[FW_NN_MAX_RANK])
{
	int64_t dense[FW_NN_MAX_RANK];
	uint32_t ahead = result->rank - x->rank;

	strides_of(x, dense);
	for (uint32_t i = 0; i < result->rank; i++)
		strides[i] = i < ahead || x->dims[i - ahead] == 1 ? 0 : dense[i - ahead];
}

static bool expand(const struct work *w)
{
	int64_t strides[FW_NN_MAX_RANK];

	broadcast_strides(input_shape(w, 0), w->shape, strides);
	copy_along(w, 0, strides);
	return true;
}

static bool slice(const struct work *w)
{
	struct fw_nn_inference in = { w->f->graph, w->f->shapes[0], w->f->ints[0], NULL };
	int64_t strides[FW_NN_MAX_RANK], first = 0;
	struct fw_nn_cut cuts[FW_NN_MAX_RANK];

	if (fw_nn_slice_cuts(&in, w->node, cuts, NULL))
		return false;
	strides_of(input_shape(w, 0), strides);
	for (uint32_t i = 0; i < w->shape->rank; i++) {
		first += cuts[i].start * strides[i];
		strides[i] *= cuts[i].step;
	}
	copy_along(w, first, strides);
	return true;
}

/* Blocks of all axes behind `axis`, as often as there are elements before it. */
static bool gather(const struct work *w)
{
	const struct fw_nn_shape *x = input_shape(w, 0);
	struct fw_nn_ints list = w->f->ints[0][w->node->inputs[1]];
	size_t before = 1, block = w->size;
	char *out = w->out;
	uint32_t axis;

	if (!fw_nn_axis(fw_nn_attr_int(w->node, "axis", 0), x->rank, &axis))
		return false;
	for (uint32_t i = 0; i < axis; i++)
		before *= (size_t)x->dims[i];
	for (uint32_t i = axis + 1; i < x->rank; i++)
		block *= (size_t)x->dims[i];
	for (size_t i = 0; i < before; i++)
		for (uint32_t k = 0; k < list.n; k++, out += block) {
			int64_t at = list.data[k] < 0 ? list.data[k] + x->dims[axis] : list.data[k];

			memcpy(out,
			       (const char *)input(w, 0)->data +
				       (i * (size_t)x->dims[axis] + (size_t)at) * block,
			       block);
		}
	return true;
}

static bool concat(const struct work *w)
{
	size_t before = 1, row, done = 0;
	uint32_t axis;

	if (!fw_nn_axis(fw_nn_attr_int(w->node, "axis", 0), w->shape->rank, &axis))
		return false;
	for (uint32_t i = 0; i < axis; i++)
		before *= (size_t)w->shape->dims[i];
	row = before ? w->count * w->size / before : 0;
	for (uint32_t k = 0; k < w->node->n_inputs; k++) {
		size_t part = before ? input(w, k)->bytes / before : 0;

		for (size_t i = 0; i < before && part; i++)
			memcpy((char *)w->out + i * row + done,
			       (const char *)input(w, k)->data + i * part, part);
		done += part;
	}
	return true;
}

static bool compute(enum fw_nn_op op, float a, float b, float *out)
{
	switch (op) {
	case FW_NN_ADD: *out = a + b; return true;
	case FW_NN_SUB: *out = a - b; return true;
	case FW_NN_MUL: *out = a * b; return true;
	case FW_NN_DIV: *out = a / b; return true;
	case FW_NN_POW: *out = powf(a, b); return true;
	case FW_NN_SQRT: *out = sqrtf(a); return true;
	default: return false;
	}
}

/* Operators of one or two float operands. */
static bool arithmetic(const struct work *w)
{
	const float *a = input(w, 0)->data, *b = w->node->n_inputs > 1 ? input(w, 1)->data : NULL;
	int64_t along_a[FW_NN_MAX_RANK], along_b[FW_NN_MAX_RANK] = { 0 };
	int64_t index_a[FW_NN_MAX_RANK] = { 0 }, index_b[FW_NN_MAX_RANK] = { 0 };
	float *out = w->out;

	if (input(w, 0)->type != FW_NN_F32 || (b && input(w, 1)->type != FW_NN_F32))
		return false;
	broadcast_strides(input_shape(w, 0), w->shape, along_a);
	if (b)
		broadcast_strides(input_shape(w, 1), w->shape, along_b);
	for (size_t i = 0; i < w->count; i++) {
		if (!compute(w->node->op, *a, b ? *b : 0, &out[i]))
			return false;
		a += step(w->shape, index_a, along_a);
		if (b)
			b += step(w->shape, index_b, along_b);
	}
	return true;
}

static float from_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, bits;
	float x = (float)(h & 0x3ff);

	if (!exponent) {
		x *= 0x1p-24f;
		memcpy(&bits, &x, sizeof(bits));
	} else {
		bits = (exponent == 31 ? 255u : exponent + 112) << 23 | (uint32_t)(h & 0x3ff) << 13;
	}
	bits |= sign;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* One element of a type that float32 can be cast from. */
static float to_float(enum fw_nn_type type, const void *at)
{
	uint16_t half;
	uint32_t bits;
	float x;

	switch (type) {
	case FW_NN_F16: memcpy(&half, at, 2); return from_half(half);
	case FW_NN_BF16:
		memcpy(&half, at, 2);
		bits = (uint32_t)half << 16;
		memcpy(&x, &bits, 4);
		return x;
	case FW_NN_F64: return (float)*(const double *)at;
	case FW_NN_I64: return (float)*(const int64_t *)at;
	case FW_NN_I32: return (float)*(const int32_t *)at;
	case FW_NN_I8: return (float)*(const int8_t *)at;
	case FW_NN_F32: return *(const float *)at;
	default: return (float)*(const uint8_t *)at;
	}
}

static bool cast(const struct work *w)
{
	enum fw_nn_type from = input(w, 0)->type;
	const char *data = input(w, 0)->data;

	if (fw_nn_fold_value(w->f, w->node->outputs[0])->type != FW_NN_F32)
		return false;
	for (size_t i = 0; i < w->count; i++)
		((float *)w->out)[i] = to_float(from, data + i * fw_nn_type_bytes(from));
	return true;
}

static bool fill(const struct work *w)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(w->node, "value");
	const struct fw_nn_value *value = attr ? fw_nn_fold_value(w->f, attr->value) : NULL;

	if (attr && (attr->kind != FW_NN_ATTR_TENSOR || value->bytes != w->size))
		return false;
	for (size_t i = 0; value && i < w->count; i++)
		memcpy((char *)w->out + i * w->size, value->data, w->size);
	return true;
}

static bool copy(const struct work *w)
{
	memcpy(w->out, input(w, 0)->data, w->count * w->size);
	return true;
}

static bool evaluate(const struct work *w)
{
	switch (w->node->op) {
	case FW_NN_TRANSPOSE: return transpose(w);
	case FW_NN_EXPAND: return expand(w);
	case FW_NN_SLICE: return slice(w);
	case FW_NN_GATHER: return gather(w);
	case FW_NN_CONCAT: return concat(w);
	case FW_NN_ADD:
	case FW_NN_SUB:
	case FW_NN_MUL:
	case FW_NN_DIV:
	case FW_NN_POW:
	case FW_NN_SQRT: return arithmetic(w);
	case FW_NN_CAST: return cast(w);
	case FW_NN_CONSTANT_OF_SHAPE: return fill(w);
	case FW_NN_RESHAPE:
	case FW_NN_FLATTEN:
	case FW_NN_SQUEEZE:
	case FW_NN_UNSQUEEZE: return copy(w);
	default: return false;
	}
}

static bool has_constants_only(const struct fw_nn_fold *f, const struct fw_nn_node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++)
		if (node->inputs[i] != FW_NN_NONE && !fw_nn_fold_value(f, node->inputs[i])->data)
			return false;
	return node->n_inputs > 0 && node->n_outputs == 1;
}

static fw_status fold_node(struct fw_nn_fold *f, uint32_t i, struct fw_error *err)
{
	struct work w = { .f = f, .node = &f->graph->nodes[i] };
	struct fw_nn_value *v = fw_nn_fold_value(f, w.node->outputs[0]);
	size_t bytes;

	w.shape = &f->shapes[0][w.node->outputs[0]];
	w.count = (size_t)fw_nn_elements(w.shape);
	w.size = fw_nn_type_bytes(v->type);
	bytes = w.count * w.size;
	if (bytes > MAX_BYTES || bytes > f->left)
		return FW_OK;
	w.out = fw_arena_alloc(&f->graph->arena, bytes);
	if (!w.out)
		return fw_fail_nomem(err, bytes);
	f->left -= bytes;
	if (!evaluate(&w))
		return FW_OK;
	v->data = w.out;
	v->bytes = bytes;
	v->has_shape = true;
	v->rank = w.shape->rank;
	memcpy(v->dims, w.shape->dims, sizeof(v->dims));
	v->producer = FW_NN_NONE;
	f->dropped[i] = true;
	return FW_OK;
}

fw_status fw_nn_fold_constants(struct fw_nn_fold *f, struct fw_error *err)
{
	for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
		fw_status status = FW_OK;

		if (!f->dropped[i] && has_constants_only(f, &f->graph->nodes[i]))
			status = fold_node(f, i, err);
		if (status)
			return status;
	}
	return FW_OK;
}
