/* What the readers of cubins and of PTX share: a worker's results. */
#include "binary/reader.h"

struct fw_found *fw_reader_add(struct fw_reader *reader, const struct fw_image *image)
{
	struct fw_found *found = fw_vec_push(&reader->found);

	if (!found)
		return NULL;
	found->kernel = (struct fw_kernel){
		.target = image->target,
		.kind = image->kind,
		.copies = 1,
		.is_provisional = image->is_relocatable,
		.registers = FW_UNKNOWN,
		.register_cap = FW_UNKNOWN,
		.min_blocks = FW_UNKNOWN,
		.static_smem = FW_UNKNOWN,
		.uses_dynamic_smem = FW_UNKNOWN,
		.barriers = FW_UNKNOWN,
		.max_threads = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
		.required_threads = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
		.cluster = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
		.max_cluster_rank = FW_UNKNOWN,
		.stack = FW_UNKNOWN,
		.frame = FW_UNKNOWN,
		.spill_instructions = FW_UNKNOWN,
		.setmaxnreg = FW_UNKNOWN,
		.tcgen05 = FW_UNKNOWN,
		.vrc = FW_UNKNOWN,
	};
	return found;
}

const char *fw_reader_name(struct fw_reader *reader, const char *name, size_t len)
{
	return reader->copies_names ? fw_arena_strndup(&reader->arena, name, len) : name;
}
