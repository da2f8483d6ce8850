#ifndef FW_GPU_CUPTI_H
#define FW_GPU_CUPTI_H
/*
 * CUPTI's activity API, opened at run time. Two copies of CUPTI in one process get in each other's way, so
 * the copy that the program has loaded, or would load, comes before all others.
 */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void fw_cupti_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void fw_cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				      size_t valid_bytes);
typedef uint64_t fw_cupti_timestamp(void);
typedef void fw_cupti_callback(void *user, int domain, uint32_t cbid, const void *data);

/* Values of cupti_activity.h and cupti_callbacks.h that we use; 0 is success. */
enum fw_cupti_kind {
	FW_CUPTI_MEMCPY = 1,
	FW_CUPTI_MEMSET = 2,
	FW_CUPTI_KERNEL = 3,
	FW_CUPTI_DRIVER = 4,
	FW_CUPTI_RUNTIME = 5,
	FW_CUPTI_DEVICE = 8,
	FW_CUPTI_CONTEXT = 9,
	FW_CUPTI_CONCURRENT_KERNEL = 10,
	FW_CUPTI_OVERHEAD = 17,
	FW_CUPTI_MEMCPY2 = 22, /* peer to peer */
	FW_CUPTI_MODULE = 27,
	FW_CUPTI_CUDA_EVENT = 36,
	FW_CUPTI_STREAM = 37,
	FW_CUPTI_SYNCHRONIZATION = 38,
	FW_CUPTI_EXTERNAL_CORRELATION = 39,
	FW_CUPTI_MEMORY2 = 49,
	FW_CUPTI_GRAPH_TRACE = 51
};

enum fw_cupti_domain { FW_CUPTI_DRIVER_API = 1, FW_CUPTI_RUNTIME_API = 2 };
enum fw_cupti_flush { FW_CUPTI_FLUSH_COMPLETE = 0, FW_CUPTI_FLUSH_FORCED = 1 };
enum fw_cupti_thread_id { FW_CUPTI_THREAD_ID_PTHREAD = 0, FW_CUPTI_THREAD_ID_SYSTEM = 1 };

#define FW_CUPTI_PATH_BYTES 1024

/* The library's calls; an optional one may be NULL. Immutable after opening. */
struct fw_cupti {
	void *handle;
	char path[FW_CUPTI_PATH_BYTES]; /* the file in use; "" if not known */
	bool was_loaded;                /* the program may have used it already */
#define FW_SYM(required, symbol, field, args) int(*field) args;
#include "gpu/cupti.def"
#undef FW_SYM
};

/*
 * Opens the first of: a libcupti in the process already; one in the folder of the CUDA runtime that is
 * loaded, or beside it as the wheels of PyTorch lay it out; one the loader finds by its name
 * (LD_LIBRARY_PATH); one of the toolkit in CUDA_HOME or /usr/local/cuda. FW_ERR_UNSUPPORTED with the
 * loader's words about the last where there is none.
 */
fw_status fw_cupti_open(struct fw_cupti *cupti, struct fw_error *err);

/* CUPTI's words for a result; static storage, never NULL. */
const char *fw_cupti_error_text(const struct fw_cupti *cupti, int result);

#endif
