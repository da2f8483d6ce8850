/* Any bytes as a file of stored engine choices: a result or an error, and every key found again. */
#include "nn/cudnn_cache.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_nn_cache cache;
	struct fw_error err;

	if (fw_nn_cache_parse((const char *)data, size, "GPU", &cache, &err))
		return 0;
	for (uint32_t i = 0; i < cache.n; i++)
		if (!fw_nn_cache_find(&cache, cache.entries[i].key))
			abort();
	fw_nn_cache_release(&cache);
	return 0;
}
