#ifndef FW_GPU_CUBLASLT_H
#define FW_GPU_CUBLASLT_H
/* cuBLASLt (13 or 12), opened at run time. */
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct fw_cublaslt_algo { /* cublasLtMatmulAlgo_t: opaque, may be stored and used by the same version */
	uint64_t data[8];
};

struct fw_cublaslt_result { /* cublasLtMatmulHeuristicResult_t */
	struct fw_cublaslt_algo algo;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

/* Entry points; immutable after opening. */
struct fw_cublaslt {
	void *handle;
	size_t version;
#define FW_SYM(required, symbol, result, field, args) result(*field) args;
#include "gpu/cublaslt.def"
#undef FW_SYM
};

/* Values of cublasLt.h, cublas_api.h and library_types.h. */
enum fw_cublaslt_value {
	FW_CUBLASLT_COMPUTE_32F = 68,
	FW_CUBLASLT_REAL_32F = 0,
	FW_CUBLASLT_REAL_16F = 2,
	FW_CUBLASLT_REAL_16BF = 14,
	FW_CUBLASLT_OP_T = 1,
	FW_CUBLASLT_DESC_TRANSA = 3,
	FW_CUBLASLT_DESC_EPILOGUE = 7,
	FW_CUBLASLT_DESC_BIAS_POINTER = 8,
	FW_CUBLASLT_DESC_BIAS_DATA_TYPE = 26,
	FW_CUBLASLT_PREF_MAX_WORKSPACE = 1,
	FW_CUBLASLT_EPILOGUE_RELU = 2,
	FW_CUBLASLT_EPILOGUE_BIAS = 4
};

/* library: a path, or NULL: libcublasLt.so.13, then .so.12. FW_ERR_UNSUPPORTED where there is none. */
fw_status fw_cublaslt_open(struct fw_cublaslt *lt, const char *library, struct fw_error *err);
void fw_cublaslt_close(struct fw_cublaslt *lt);

/* Fills err with the call's name and cuBLAS' name of the result; returns FW_ERR_IO. */
fw_status fw_cublaslt_fail(const struct fw_cublaslt *lt, int result, const char *call,
			   struct fw_error *err);

#endif
