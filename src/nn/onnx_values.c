/* The values of a graph by name, while it is read. */
#include "nn/onnx.h"

#include <string.h>

/* Names of one hash: more than two only in a file made for it. */
#define MAX_ALIKE 16

/* The place in the map of a name: its value, or where it goes; *taken says which. NULL: no room. */
static uint64_t *place_of(struct fw_onnx_reader *r, const char *name, bool *taken)
{
	uint64_t hash = fw_hash_bytes(name, strlen(name));

	for (uint64_t i = 0; i < MAX_ALIKE; i++) {
		bool inserted;
		uint64_t *place = fw_map_at(&r->names, hash, i, &inserted);

		*taken = place && !inserted;
		if (!*taken || !strcmp(fw_onnx_value(r, (uint32_t)*place)->name, name))
			return place;
	}
	*taken = false;
	return NULL;
}

fw_status fw_onnx_add_value(struct fw_onnx_reader *r, const char *name, uint32_t *value,
			    struct fw_error *err)
{
	uint64_t *place = NULL;
	struct fw_nn_value *v;
	bool taken = false;

	if (*name) {
		place = place_of(r, name, &taken);
		if (!place)
			return fw_fail(err, FW_ERR_NOMEM, "no room for the name \"%s\"", name);
		if (taken)
			return fw_fail(err, FW_ERR_FORMAT, "\"%s\" is made twice", name);
	}
	if (r->values.len >= FW_NN_NONE - 1)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "more than 2^32 values");
	v = fw_vec_push(&r->values);
	if (!v)
		return fw_fail_nomem(err, r->values.len * sizeof(*v));
	v->name = name;
	v->producer = FW_NN_NONE;
	*value = (uint32_t)(r->values.len - 1);
	if (place)
		*place = *value;
	return FW_OK;
}

uint32_t fw_onnx_find(const struct fw_onnx_reader *r, const char *name)
{
	uint64_t hash = fw_hash_bytes(name, strlen(name));

	for (uint64_t i = 0; i < MAX_ALIKE; i++) {
		const uint64_t *place = fw_map_find(&r->names, hash, i);

		if (!place)
			return FW_NN_NONE;
		if (!strcmp(fw_onnx_value(r, (uint32_t)*place)->name, name))
			return (uint32_t)*place;
	}
	return FW_NN_NONE;
}
