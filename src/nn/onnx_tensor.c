/* The tensors of an ONNX file, in any of its storage forms, become constants. */
#include "nn/onnx.h"

#include "nn/mapping.h"

#include <errno.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is little-endian");

/* Elements of a constant: keeps every product of sizes far inside 64 bits. */
#define MAX_ELEMENTS ((int64_t)1 << 40)

bool fw_onnx_type(int32_t type, enum fw_nn_type *out)
{
	switch (type) {
	case FW_ONNX_FLOAT: *out = FW_NN_F32; return true;
	case FW_ONNX_UINT8: *out = FW_NN_U8; return true;
	case FW_ONNX_INT8: *out = FW_NN_I8; return true;
	case FW_ONNX_INT32: *out = FW_NN_I32; return true;
	case FW_ONNX_INT64: *out = FW_NN_I64; return true;
	case FW_ONNX_BOOL: *out = FW_NN_BOOL; return true;
	case FW_ONNX_FLOAT16: *out = FW_NN_F16; return true;
	case FW_ONNX_DOUBLE: *out = FW_NN_F64; return true;
	case FW_ONNX_BFLOAT16: *out = FW_NN_BF16; return true;
	default: return false;
	}
}

/* A number of an entry of external_data: decimal, nothing else; absent: fallback. */
static fw_status read_entry(const Fw__Onnx__Tensor *tensor, const char *key, uint64_t fallback,
			    uint64_t *out, struct fw_error *err)
{
	*out = fallback;
	for (size_t i = 0; i < tensor->n_external_data; i++) {
		const Fw__Onnx__Entry *entry = tensor->external_data[i];
		char *end;

		if (!entry->key || strcmp(entry->key, key))
			continue;
		errno = 0;
		*out = entry->value ? strtoull(entry->value, &end, 10) : 0;
		if (!entry->value || *entry->value < '0' || *entry->value > '9' || *end || errno)
			return fw_fail(err, FW_ERR_FORMAT, "%s \"%.40s\" is no number", key,
				       entry->value ? entry->value : "");
	}
	return FW_OK;
}

static const char *location_of(const Fw__Onnx__Tensor *tensor)
{
	const char *location = NULL;

	for (size_t i = 0; i < tensor->n_external_data; i++)
		if (tensor->external_data[i]->key &&
		    !strcmp(tensor->external_data[i]->key, "location"))
			location = tensor->external_data[i]->value;
	return location ? location : "";
}

/* Data in a file of their own; they live as long as the graph. */
static fw_status read_external(struct fw_onnx_reader *r, const Fw__Onnx__Tensor *tensor,
			       const struct fw_nn_value *value, const void **data,
			       struct fw_error *err)
{
	const char *location = location_of(tensor);
	const struct fw_file *file;
	uint64_t offset, length;
	fw_status status;

	if (!r->folder)
		return fw_fail(err, FW_ERR_FORMAT,
			       "tensor %s: its data lie in another file, and there is no folder",
			       value->name);
	status = read_entry(tensor, "offset", 0, &offset, err);
	if (!status)
		status = read_entry(tensor, "length", value->bytes, &length, err);
	if (!status)
		status = fw_nn_mapping_open(r->graph, r->folder, location, &file, err);
	if (status) {
		fw_error_prefix(err, "tensor %s", value->name);
		return status;
	}
	if (length != value->bytes || offset > file->size || file->size - offset < length)
		return fw_fail(err, FW_ERR_FORMAT,
			       "tensor %s: %zu bytes; external data \"%s\" of %zu bytes give it "
			       "%llu at offset %llu",
			       value->name, value->bytes, location, file->size,
			       (unsigned long long)length, (unsigned long long)offset);
	*data = file->data + offset;
	return FW_OK;
}

static size_t n_numbers(const Fw__Onnx__Tensor *t, enum fw_nn_type type)
{
	switch (type) {
	case FW_NN_F32: return t->n_float_data;
	case FW_NN_F64: return t->n_double_data;
	case FW_NN_I64: return t->n_int64_data;
	default: return t->n_int32_data;
	}
}

/* One number of int32_data, which holds every type of 32 bits or fewer; false: it is too large for the type. */
static bool narrow(int32_t x, enum fw_nn_type type, void *out)
{
	uint8_t byte = (uint8_t)x;
	uint16_t half = (uint16_t)x;

	switch (type) {
	case FW_NN_I32: memcpy(out, &x, 4); return true;
	case FW_NN_F16:
	case FW_NN_BF16: memcpy(out, &half, 2); return x >= 0 && x <= UINT16_MAX;
	case FW_NN_I8: memcpy(out, &byte, 1); return x >= INT8_MIN && x <= INT8_MAX;
	case FW_NN_U8: memcpy(out, &byte, 1); return x >= 0 && x <= UINT8_MAX;
	default: memcpy(out, &byte, 1); return x == 0 || x == 1;
	}
}

/* The numbers of a tensor that has no raw_data. */
static fw_status read_numbers(struct fw_onnx_reader *r, const Fw__Onnx__Tensor *t, size_t count,
			      struct fw_nn_value *value, struct fw_error *err)
{
	size_t size = fw_nn_type_bytes(value->type);
	unsigned char *out;

	if (n_numbers(t, value->type) != count)
		return fw_fail(err, FW_ERR_FORMAT, "tensor %s: %zu numbers for %zu elements",
			       value->name, n_numbers(t, value->type), count);
	switch (value->type) {
	case FW_NN_F32: value->data = t->float_data; break;
	case FW_NN_F64: value->data = t->double_data; break;
	case FW_NN_I64: value->data = t->int64_data; break;
	default:
		value->data = out = fw_arena_array(&r->graph->arena, count, size);
		if (!out)
			return fw_fail_nomem(err, value->bytes);
		for (size_t i = 0; i < count; i++)
			if (!narrow(t->int32_data[i], value->type, out + i * size))
				return fw_fail(err, FW_ERR_FORMAT,
					       "tensor %s: element %zu: %d does not fit its type",
					       value->name, i, t->int32_data[i]);
	}
	return FW_OK;
}

/* Bytes as they lie in a file: borrowed where they are aligned for their type. */
static fw_status borrow(struct fw_onnx_reader *r, const void *data, struct fw_nn_value *value,
			struct fw_error *err)
{
	void *copy;

	value->data = data;
	if (!((uintptr_t)data % fw_nn_type_bytes(value->type)) || !value->bytes)
		return FW_OK;
	copy = fw_arena_alloc(&r->graph->arena, value->bytes);
	if (!copy)
		return fw_fail_nomem(err, value->bytes);
	value->data = memcpy(copy, data, value->bytes);
	return FW_OK;
}

static fw_status read_content(struct fw_onnx_reader *r, const Fw__Onnx__Tensor *tensor,
			      size_t count, struct fw_nn_value *value, struct fw_error *err)
{
	const void *data = NULL;
	fw_status status = FW_OK;

	if (tensor->data_location == 1) {
		status = read_external(r, tensor, value, &data, err);
		return status ? status : borrow(r, data, value, err);
	}
	if (!tensor->has_raw_data)
		status = read_numbers(r, tensor, count, value, err);
	else if (tensor->raw_data.len != value->bytes)
		return fw_fail(err, FW_ERR_FORMAT, "tensor %s: %zu bytes; its shape takes %zu",
			       value->name, tensor->raw_data.len, value->bytes);
	else
		status = borrow(r, tensor->raw_data.data, value, err);
	if (!status && !value->data) /* of no elements: still a constant */
		value->data = fw_arena_alloc(&r->graph->arena, 1);
	return !status && !value->data ? fw_fail_nomem(err, 1) : status;
}

static fw_status read_shape(const Fw__Onnx__Tensor *tensor, struct fw_nn_value *value,
			    int64_t *count, struct fw_error *err)
{
	*count = 1;
	if (tensor->n_dims > FW_NN_MAX_RANK)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "tensor %s: %zu dimensions; at most %d are read", value->name,
			       tensor->n_dims, FW_NN_MAX_RANK);
	for (size_t i = 0; i < tensor->n_dims; i++) {
		int64_t dim = tensor->dims[i];

		if (dim < 0 || (dim && *count > MAX_ELEMENTS / dim))
			return fw_fail(err, FW_ERR_FORMAT, "tensor %s: dimension %zu is %lld",
				       value->name, i, (long long)dim);
		*count *= dim;
		value->dims[i] = dim;
	}
	value->rank = (uint32_t)tensor->n_dims;
	value->has_shape = true;
	return FW_OK;
}

fw_status fw_onnx_add_tensor(struct fw_onnx_reader *r, const Fw__Onnx__Tensor *tensor,
			     const char *name, uint32_t *value, struct fw_error *err)
{
	struct fw_nn_value *v;
	fw_status status = fw_onnx_add_value(r, name, value, err);
	int64_t count;

	if (status)
		return status;
	v = fw_onnx_value(r, *value);
	if (!fw_onnx_type(tensor->data_type, &v->type))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "tensor %s: element type %d is not read",
			       name, tensor->data_type);
	status = read_shape(tensor, v, &count, err);
	if (status)
		return status;
	v->bytes = (size_t)count * fw_nn_type_bytes(v->type);
	if (v->bytes > r->left)
		return fw_fail(err, FW_ERR_NOMEM, "tensor %s: %zu bytes; %zu are left of the limit",
			       name, v->bytes, r->left);
	r->left -= v->bytes;
	return read_content(r, tensor, (size_t)count, v, err);
}
