/* Any bytes as a file of stored engine choices, as they are and with a true checksum: a result or an error. */
#include "nn/cudnn_cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *text, size_t size)
{
	struct fw_nn_cache cache;
	struct fw_error err;

	if (fw_nn_cache_parse(text, size, "GPU", &cache, &err))
		return;
	for (uint32_t i = 0; i < cache.n; i++)
		if (!fw_nn_cache_find(&cache, cache.entries[i].key))
			abort();
	fw_nn_cache_release(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *sealed = malloc(size + 16);

	parse((const char *)data, size);
	if (!sealed)
		return 0;
	if (size)
		memcpy(sealed, data, size);
	snprintf(sealed + size, 16, "end %08lx\n", crc32_z(0, data, size));
	parse(sealed, size + 13);
	free(sealed);
	return 0;
}
