/* PNG pictures, whole and reduced. */
#include "image_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode_and_preprocess(data, size, 0);
	decode_and_preprocess(data, size, 12);
	return 0;
}
