/*
 * The floor of what recording can cost: an injected library that asks CUPTI for kernel records and throws them
 * away, in the large buffers that CUPTI recommends. CUDA_INJECTION64_PATH=libfloor_inject.so PROGRAM.
 */
#include "gpu/cupti.h"

#include <stdlib.h>

#define BUFFER_BYTES (8u << 20)

int InitializeInjection(void);

static struct fw_cupti cupti;

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = malloc(BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	(void)valid_bytes;
	free(buffer);
}

static void at_exit(void)
{
	cupti.activity_flush_all(FW_CUPTI_FLUSH_FORCED);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	if (fw_cupti_open(&cupti, NULL))
		return 1;
	if (!cupti.activity_register_callbacks(request, complete) &&
	    !cupti.activity_enable(FW_CUPTI_CONCURRENT_KERNEL))
		atexit(at_exit);
	return 1;
}
