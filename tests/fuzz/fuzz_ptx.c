/* PTX text, whatever it begins with. */
#include "binary/reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_reader reader = { .found = FW_VEC(struct fw_found), .slots = FW_VEC(uint32_t) };
	struct fw_image image = { .kind = FW_IMAGE_PTX };

	fw_ptx_read(&reader, &image, (struct fw_span){ data, size }, NULL);
	fw_vec_release(&reader.found);
	fw_vec_release(&reader.slots);
	fw_arena_release(&reader.arena);
	return 0;
}
