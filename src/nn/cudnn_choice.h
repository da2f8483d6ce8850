#ifndef FW_NN_CUDNN_CHOICE_H
#define FW_NN_CUDNN_CHOICE_H
/* Which engine solves a problem: cuDNN's or, for products, cuBLASLt's; measured on the GPU or taken from heuristics. */
#include "nn/cudnn_gemm.h"

struct fw_nn_choice {
	struct fw_nn_problem problem;
	char key[FW_NN_KEY_BYTES];
	bool is_gemm;
	struct fw_nn_config config;   /* of a convolution */
	struct fw_cublaslt_algo algo; /* of a product */
	size_t workspace_bytes;
	float us;               /* measured; negative: not measured */
	struct fw_nn_conv conv; /* of a convolution */
	struct fw_nn_conv_plan plan;
};

/* Memory and a stream to run engines with. */
struct fw_nn_trial {
	const struct fw_nn_gpu *gpu;
	void *stream, *start, *end;
	struct fw_nn_addresses at;
	size_t workspace_bytes;
	double until_s; /* CLOCK_MONOTONIC: nothing is measured after it */
	bool measures;  /* of this problem: the fastest is taken, else the first that runs right */
	uint32_t n_measured;
};

/* problems: those to come, which say how much memory is needed. */
fw_status fw_nn_trial_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problems,
			   uint32_t n, struct fw_nn_trial *trial, struct fw_error *err);
void fw_nn_trial_close(struct fw_nn_trial *trial);

/*
 * The choice has run right once, and is the fastest where there was time to measure. trial NULL, for planning without a GPU:
 * the heuristics' first, which has not run. FW_ERR_UNSUPPORTED: no engine solves it.
 */
fw_status fw_nn_choice_make(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			    struct fw_nn_trial *trial, struct fw_nn_choice *choice,
			    struct fw_error *err);

/* Makes the plan of a choice whose problem, is_gemm, config, algo and workspace_bytes are set. */
fw_status fw_nn_choice_open(const struct fw_nn_gpu *gpu, struct fw_nn_choice *choice,
			    struct fw_error *err);
void fw_nn_choice_close(const struct fw_nn_gpu *gpu, struct fw_nn_choice *choice);

double fw_nn_now_s(void);

#endif
