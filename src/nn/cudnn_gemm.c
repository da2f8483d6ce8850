/* Makes cuBLASLt's descriptors, asks its heuristics, enqueues products. */
#include "nn/cudnn_gemm.h"

bool fw_nn_is_gemm(const struct fw_nn_problem *p)
{
	const struct fw_nn_window *w = &p->window;

	return w->r == 1 && w->s == 1 && w->stride_y == 1 && w->stride_x == 1 && !w->pad_top &&
	       !w->pad_left && !w->pad_bottom && !w->pad_right && w->groups == 1;
}

static int data_type(enum fw_nn_precision precision)
{
	switch (precision) {
	case FW_NN_FP16: return FW_CUBLASLT_REAL_16F;
	case FW_NN_BFLOAT16: return FW_CUBLASLT_REAL_16BF;
	case FW_NN_FP32: break;
	}
	return FW_CUBLASLT_REAL_32F;
}

/* Sums are fp32; FW_CUBLASLT_COMPUTE_32F does not use TF32 for fp32 tensors. */
static int describe(struct fw_nn_gemm *gemm, const struct fw_nn_problem *p, uint64_t bias)
{
	const struct fw_cublaslt *lt = &gemm->gpu->lt;
	const int type = data_type(p->precision), transposed = FW_CUBLASLT_OP_T;
	const int epilogue = FW_CUBLASLT_EPILOGUE_BIAS | (p->relu ? FW_CUBLASLT_EPILOGUE_RELU : 0);
	void *const address = (void *)(uintptr_t)bias;
	int result = lt->desc_create(&gemm->desc, FW_CUBLASLT_COMPUTE_32F, FW_CUBLASLT_REAL_32F);

	if (result) {
		gemm->desc = NULL;
		return result;
	}
	result = lt->desc_set(gemm->desc, FW_CUBLASLT_DESC_TRANSA, &transposed, sizeof(transposed));
	if (!result)
		result = lt->desc_set(gemm->desc, FW_CUBLASLT_DESC_EPILOGUE, &epilogue,
				      sizeof(epilogue));
	if (!result)
		result = lt->desc_set(gemm->desc, FW_CUBLASLT_DESC_BIAS_POINTER, &address,
				      sizeof(address));
	if (!result)
		result = lt->desc_set(gemm->desc, FW_CUBLASLT_DESC_BIAS_DATA_TYPE, &type,
				      sizeof(type));
	return result;
}

static int lay_out(struct fw_nn_gemm *gemm, const struct fw_nn_problem *p)
{
	const struct {
		void **layout;
		int64_t rows, columns, step;
	} rows[] = {
		{ &gemm->w, p->c, p->k, p->c },
		{ &gemm->x, p->c, p->n * p->h * p->w, p->x_step },
		{ &gemm->z, p->k, p->n * p->h * p->w, p->z_step ? p->z_step : p->y_step },
		{ &gemm->y, p->k, p->n * p->h * p->w, p->y_step },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int result = gemm->gpu->lt.layout_create(rows[i].layout, data_type(p->precision),
							 (uint64_t)rows[i].rows,
							 (uint64_t)rows[i].columns, rows[i].step);

		if (result) {
			*rows[i].layout = NULL;
			return result;
		}
	}
	return 0;
}

fw_status fw_nn_gemm_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			  uint64_t bias, struct fw_nn_gemm *gemm, struct fw_error *err)
{
	int result;

	*gemm = (struct fw_nn_gemm){ .gpu = gpu, .beta = problem->z_step ? 1.0f : 0.0f };
	result = describe(gemm, problem, bias);
	if (!result)
		result = lay_out(gemm, problem);
	if (!result)
		return FW_OK;
	fw_nn_gemm_close(gemm);
	return fw_cublaslt_fail(&gpu->lt, result, "the description of a product", err);
}

void fw_nn_gemm_close(struct fw_nn_gemm *gemm)
{
	void **const layouts[] = { &gemm->w, &gemm->x, &gemm->z, &gemm->y };

	if (gemm->desc)
		gemm->gpu->lt.desc_destroy(gemm->desc);
	gemm->desc = NULL;
	for (unsigned i = 0; i < 4; i++) {
		if (*layouts[i])
			gemm->gpu->lt.layout_destroy(*layouts[i]);
		*layouts[i] = NULL;
	}
}

fw_status fw_nn_gemm_algos(const struct fw_nn_gemm *gemm,
			   struct fw_cublaslt_result results[FW_NN_MAX_ALGOS], uint32_t *n,
			   struct fw_error *err)
{
	const struct fw_cublaslt *lt = &gemm->gpu->lt;
	const size_t workspace = FW_NN_MAX_WORKSPACE;
	void *preference = NULL;
	int count = 0, result = lt->preference_create(&preference);

	*n = 0;
	if (result)
		return fw_cublaslt_fail(lt, result, "cublasLtMatmulPreferenceCreate", err);
	result = lt->preference_set(preference, FW_CUBLASLT_PREF_MAX_WORKSPACE, &workspace,
				    sizeof(workspace));
	if (!result)
		result = lt->heuristic(gemm->gpu->lt_handle, gemm->desc, gemm->w, gemm->x, gemm->z,
				       gemm->y, preference, FW_NN_MAX_ALGOS, results, &count);
	lt->preference_destroy(preference);
	if (result)
		return fw_cublaslt_fail(lt, result, "cublasLtMatmulAlgoGetHeuristic", err);
	for (int i = 0; i < count && i < FW_NN_MAX_ALGOS; i++)
		if (!results[i].state && results[i].workspace_bytes <= FW_NN_MAX_WORKSPACE)
			results[(*n)++] = results[i];
	return FW_OK;
}

bool fw_nn_gemm_takes(const struct fw_nn_gemm *gemm, const struct fw_cublaslt_algo *algo)
{
	struct fw_cublaslt_result result = { 0 };

	return !gemm->gpu->lt.check(gemm->gpu->lt_handle, gemm->desc, gemm->w, gemm->x, gemm->z,
				    gemm->y, algo, &result) &&
	       !result.state && result.workspace_bytes <= FW_NN_MAX_WORKSPACE;
}

fw_status fw_nn_gemm_enqueue(const struct fw_nn_gemm *gemm, const struct fw_nn_gemm_run *run,
			     struct fw_error *err)
{
	const struct fw_cublaslt *lt = &gemm->gpu->lt;
	const float one = 1;
	const uint64_t z = run->at.z ? run->at.z : run->at.y;
	int result = lt->matmul(
		gemm->gpu->lt_handle, gemm->desc, &one, (const void *)(uintptr_t)run->at.w, gemm->w,
		(const void *)(uintptr_t)run->at.x, gemm->x, &gemm->beta,
		(const void *)(uintptr_t)z, gemm->z, (void *)(uintptr_t)run->at.y, gemm->y,
		run->algo, (void *)(uintptr_t)run->at.workspace, run->workspace_bytes, run->stream);

	return result ? fw_cublaslt_fail(lt, result, "cublasLtMatmul", err) : FW_OK;
}
