#ifndef FW_NN_CUDNN_GEMM_H
#define FW_NN_CUDNN_GEMM_H
/*
 * A product with bias, residual and relu through cuBLASLt. Rows of x are pixels: 1x1 convolutions are products too. In
 * cuBLAS' column order it is y (k x rows) = w (c x k, transposed) times x (c x rows).
 */
#include "nn/cudnn_conv.h"

#define FW_NN_MAX_ALGOS     16
#define FW_NN_MAX_WORKSPACE ((size_t)64 << 20)

struct fw_nn_gemm {
	const struct fw_nn_gpu *gpu;
	void *desc, *w, *x, *z, *y;
	float beta;
};

/* Whether a problem is a product: one pixel's channels are one row. */
bool fw_nn_is_gemm(const struct fw_nn_problem *problem);

/* bias: address of k elements of the tensors' type. */
fw_status fw_nn_gemm_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			  uint64_t bias, struct fw_nn_gemm *gemm, struct fw_error *err);
void fw_nn_gemm_close(struct fw_nn_gemm *gemm);

/* Algorithms that cuBLASLt proposes, best first; *n may be 0. */
fw_status fw_nn_gemm_algos(const struct fw_nn_gemm *gemm,
			   struct fw_cublaslt_result results[FW_NN_MAX_ALGOS], uint32_t *n,
			   struct fw_error *err);

/* Whether a stored algorithm is one for this product. */
bool fw_nn_gemm_takes(const struct fw_nn_gemm *gemm, const struct fw_cublaslt_algo *algo);

struct fw_nn_gemm_run {
	const struct fw_cublaslt_algo *algo;
	struct fw_nn_addresses at; /* bias is not read: the descriptor holds it */
	size_t workspace_bytes;
	void *stream;
};
fw_status fw_nn_gemm_enqueue(const struct fw_nn_gemm *gemm, const struct fw_nn_gemm_run *run,
			     struct fw_error *err);

#endif
