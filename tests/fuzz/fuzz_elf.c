/* ELF files: cubins, and host files with fatbins in their sections. */
#include "binary_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_and_walk(data, size);
	return 0;
}
