#ifndef FW_GPU_NVJPEG_H
#define FW_GPU_NVJPEG_H
/* nvJPEG (11 to 13), opened at run time: a JPEG's bytes to planes in the GPU's memory. */
#include "base/error.h"

#include <stddef.h>

/* nvjpegImage_t: planes of the GPU's memory and the bytes from one row to the next. */
struct fw_nvjpeg_image {
	unsigned char *channel[4];
	size_t pitch[4];
};

/* Entry points; an optional one may be NULL. Immutable after opening. */
struct fw_nvjpeg {
	void *handle;
	int major, minor;
#define FW_SYM(required, symbol, field, args) int(*field) args;
#include "gpu/nvjpeg.def"
#undef FW_SYM
};

/* Values of nvjpeg.h. */
enum fw_nvjpeg_value {
	FW_NVJPEG_GPU_HYBRID = 2, /* Huffman codes on the GPU in large batches, else on the CPU */
	FW_NVJPEG_HARDWARE = 3,   /* an engine of its own: A100, A30, H100, H200, Blackwell */
	FW_NVJPEG_OUTPUT_YUV = 1
};

/* library: a path, or NULL: libnvjpeg.so.13, .12, .11. FW_ERR_UNSUPPORTED where there is none. */
fw_status fw_nvjpeg_open(struct fw_nvjpeg *nvjpeg, const char *library, struct fw_error *err);
void fw_nvjpeg_close(struct fw_nvjpeg *nvjpeg);

/* Fills err with the call's name and nvJPEG's name of the status; returns FW_ERR_IO. */
fw_status fw_nvjpeg_fail(int status, const char *call, struct fw_error *err);

#endif
