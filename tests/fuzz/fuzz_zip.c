/* Wheels: zip archives with stored and deflated members. */
#include "binary_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_and_walk(data, size);
	return 0;
}
