/* Weights in the layouts that primitives want: packed once, shared by plans and instances. */
#include "nn/onednn_program.h"

#include <stdlib.h>

#define ALIGNMENT 64u /* a cache line: oneDNN loads whole ones */

static struct fw_onednn_packed *find(const struct fw_vec *packed, const struct fw_nn_weight *weight,
				     const dnnl_memory_desc_t *md)
{
	struct fw_onednn_packed *list = packed->data;

	for (size_t i = 0; i < packed->len; i++)
		if (fw_nn_weight_same(&list[i].key, weight) &&
		    dnnl_memory_desc_equal(&list[i].md, md))
			return &list[i];
	return NULL;
}

/* Runs one reorder now. oneDNN takes no const, and does not write to a source. */
static dnnl_status_t reorder(struct fw_onednn_network *network, const struct fw_onednn_arg *from,
			     const struct fw_onednn_arg *to, void *data)
{
	dnnl_engine_t cpu = network->engine->cpu;
	dnnl_primitive_desc_t description = NULL;
	dnnl_memory_t source = NULL, target = NULL;
	dnnl_primitive_t primitive = NULL;
	dnnl_status_t status;

	status = dnnl_reorder_primitive_desc_create(&description, &from->md, cpu, &to->md, cpu,
						    NULL);
	if (!status)
		status = dnnl_primitive_create(&primitive, description);
	if (!status)
		status = dnnl_memory_create(&source, &from->md, cpu, (void *)from->constant);
	if (!status)
		status = dnnl_memory_create(&target, &to->md, cpu, data);
	if (!status) {
		const dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, source },
						 { DNNL_ARG_TO, target } };

		status = dnnl_primitive_execute(primitive, network->stream, 2, args);
	}
	if (!status)
		status = dnnl_stream_wait(network->stream);
	dnnl_memory_destroy(source);
	dnnl_memory_destroy(target);
	dnnl_primitive_destroy(primitive);
	dnnl_primitive_desc_destroy(description);
	return status;
}

static fw_status pack_new(struct fw_onednn_builder *b, const struct fw_onednn_arg *from,
			  struct fw_onednn_packed *packed)
{
	size_t size = dnnl_memory_desc_get_size(&packed->md);
	struct fw_onednn_arg to = { .md = packed->md };

	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	packed->data = aligned_alloc(ALIGNMENT, size);
	if (!packed->data)
		return fw_fail_nomem(b->err, size);
	return fw_onednn_check(b, reorder(b->network, from, &to, packed->data), "packed weight");
}

fw_status fw_onednn_pack(struct fw_onednn_builder *b, const struct fw_nn_weight *weight,
			 const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *wanted,
			 const void **data)
{
	const struct fw_onednn_arg source = { .constant = weight->data, .md = *from };
	struct fw_onednn_packed *packed;
	fw_status status;

	*data = weight->data;
	if (dnnl_memory_desc_equal(from, wanted))
		return FW_OK;
	packed = find(&b->network->packed, weight, wanted);
	if (!packed) {
		packed = fw_vec_push(&b->network->packed);
		if (!packed)
			return fw_fail_nomem(b->err, sizeof(*packed));
		packed->key = *weight;
		packed->md = *wanted;
		status = pack_new(b, &source, packed);
		if (status)
			return status;
	}
	*data = packed->data;
	return FW_OK;
}

fw_status fw_onednn_vector(struct fw_onednn_builder *b, int arg, const struct fw_nn_weight *weight,
			   struct fw_onednn_arg *out)
{
	const dnnl_dims_t dims = { weight->k };

	*out = (struct fw_onednn_arg){
		.arg = arg,
		.place = FW_ONEDNN_CONSTANT,
		.constant = weight->data,
	};
	return fw_onednn_check(b, dnnl_memory_desc_init_by_tag(&out->md, 1, dims, dnnl_f32, dnnl_a),
			       "a vector");
}

void fw_onednn_packed_release(struct fw_vec *packed)
{
	struct fw_onednn_packed *list = packed->data;

	for (size_t i = 0; i < packed->len; i++)
		free(list[i].data);
	fw_vec_release(packed);
}
