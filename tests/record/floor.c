/*
 * The least that a client of CUPTI can do: kernel records, looked at by kind and thrown away. What recording
 * costs is measured against this; it also shows that the stand-ins work by themselves.
 */
#include <cupti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)

int InitializeInjection(void);

static atomic_ulong kernels, others;

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)bytes;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			kernels++;
		else
			others++;
	}
	free(buffer);
}

static void finish(void)
{
	cuptiActivityFlushAll(1);
	if (getenv("FW_FLOOR_COUNT"))
		fprintf(stderr, "floor: %lu kernels, %lu others\n", kernels, others);
}

int InitializeInjection(void)
{
	if (cuptiActivityRegisterCallbacks(request, take) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return 0;
	/* The same records of a launch as a recording has. */
	if (getenv("FW_FLOOR_CALLS"))
		cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1);
	atexit(finish);
	return 1;
}
