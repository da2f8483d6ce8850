#ifndef FW_GPU_NVRTC_H
#define FW_GPU_NVRTC_H
/* NVRTC, NVIDIA's run-time compiler, opened at run time: CUDA C++ in, cubin out. No toolkit is needed to build. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define FW_NVRTC_PATH_BYTES 1024
#define FW_NVRTC_MAX_NAMES  4
#define FW_NVRTC_MAX_LOG    ((size_t)256 << 10) /* bytes of a log that are kept, the first ones */
#define FW_NVRTC_MAX_CUBIN  ((size_t)128 << 20)

/* The library's calls. Immutable after opening. */
struct fw_nvrtc {
	void *handle;
	char path[FW_NVRTC_PATH_BYTES]; /* the file in use; "" if not known */
	int major, minor;
#define FW_SYM(required, symbol, result, field, args) result(*field) args;
#include "gpu/nvrtc.def"
#undef FW_SYM
};

/*
 * Opens library; NULL: the first of libnvrtc.so.13 and .12 that the loader finds by its name (LD_LIBRARY_PATH), in the
 * toolkit of CUDA_HOME, CUDA_PATH or /usr/local/cuda, or in the wheels of the Python of VIRTUAL_ENV or PATH.
 * FW_ERR_UNSUPPORTED with the loader's words where there is none.
 */
fw_status fw_nvrtc_open(struct fw_nvrtc *nvrtc, const char *library, struct fw_error *err);
void fw_nvrtc_close(struct fw_nvrtc *nvrtc);

/* The folder of CUDA's own headers that belongs to an open library, or a toolkit's; false: none found. */
bool fw_nvrtc_include_folder(const struct fw_nvrtc *nvrtc, char folder[FW_NVRTC_PATH_BYTES]);

struct fw_nvrtc_job {
	const char *source, *name; /* name: for messages */
	const char *const *options;
	unsigned n_options;
	const char *names[FW_NVRTC_MAX_NAMES]; /* kernels whose names in the cubin are asked for */
	unsigned n_names;
};

struct fw_nvrtc_output {
	void *cubin; /* owned, as all below */
	size_t cubin_bytes;
	char *log;                         /* cut at FW_NVRTC_MAX_LOG; never NULL on success */
	char *lowered[FW_NVRTC_MAX_NAMES]; /* mangled */
};

/* FW_ERR_FORMAT: the source does not compile; the message is the first error of the log. */
fw_status fw_nvrtc_compile(const struct fw_nvrtc *nvrtc, const struct fw_nvrtc_job *job,
			   struct fw_nvrtc_output *output, struct fw_error *err);
void fw_nvrtc_output_release(struct fw_nvrtc_output *output);

#endif
