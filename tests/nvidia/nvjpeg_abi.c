/* What src/gpu/nvjpeg.h declares against NVIDIA's own header: it compiles, or the build fails. */
#include "gpu/nvjpeg.h"

#include <nvjpeg.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(FW_NVJPEG_GPU_HYBRID, NVJPEG_BACKEND_GPU_HYBRID);
SAME(FW_NVJPEG_HARDWARE, NVJPEG_BACKEND_HARDWARE);
SAME(FW_NVJPEG_OUTPUT_YUV, NVJPEG_OUTPUT_YUV);
SAME(MAJOR_VERSION, 0);
SAME(MINOR_VERSION, 1);
SAME(sizeof(struct fw_nvjpeg_image), sizeof(nvjpegImage_t));
SAME(offsetof(struct fw_nvjpeg_image, pitch), offsetof(nvjpegImage_t, pitch));
SAME(sizeof(nvjpegStatus_t), sizeof(int));
SAME(sizeof(nvjpegBackend_t), sizeof(int));
SAME(sizeof(nvjpegOutputFormat_t), sizeof(int));

/* Each call with our types: the compiler compares them, but for the handles. */
int fw_nvjpeg_abi(nvjpegHandle_t handle, nvjpegJpegState_t state, nvjpegJpegStream_t header);
int fw_nvjpeg_abi(nvjpegHandle_t handle, nvjpegJpegState_t state, nvjpegJpegStream_t header)
{
	const unsigned char *const *bytes = NULL;
	const size_t *sizes = NULL;
	unsigned engines, cores;
	int value;

	return (int)nvjpegGetProperty(MAJOR_VERSION, &value) +
	       (int)nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, NULL, NULL, 0u, &handle) +
	       (int)nvjpegJpegStateCreate(handle, &state) +
	       (int)nvjpegJpegStreamCreate(handle, &header) +
	       (int)nvjpegJpegStreamParseHeader(handle, NULL, (size_t)0, header) +
	       (int)nvjpegDecodeBatchedInitialize(handle, state, 1, 1, NVJPEG_OUTPUT_YUV) +
	       (int)nvjpegDecodeBatched(handle, state, bytes, sizes, NULL, NULL) +
	       (int)nvjpegDecodeBatchedSupported(handle, header, &value) +
	       (int)nvjpegGetHardwareDecoderInfo(handle, &engines, &cores) +
	       (int)nvjpegJpegStreamDestroy(header) + (int)nvjpegJpegStateDestroy(state) +
	       (int)nvjpegDestroy(handle);
}
