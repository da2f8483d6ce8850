#include "nn_script.h"

#include "gpu/cublaslt.h"

EXPORT size_t cublasLtGetVersion(void)
{
	return 130100;
}
EXPORT const char *cublasLtGetStatusName(int status)
{
	return status ? "CUBLAS_STATUS_FAKE" : "CUBLAS_STATUS_SUCCESS";
}
EXPORT int cublasLtCreate(void **handle)
{
	return make("cublasLtCreate", handle);
}
EXPORT int cublasLtDestroy(void *handle)
{
	return drop(handle);
}
EXPORT int cublasLtMatmulDescCreate(void **desc, int compute_type, int scale_type)
{
	(void)compute_type;
	(void)scale_type;
	return make("cublasLtMatmulDescCreate", desc);
}
EXPORT int cublasLtMatmulDescDestroy(void *desc)
{
	return drop(desc);
}
EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t size)
{
	(void)desc;
	(void)attribute;
	(void)value;
	(void)size;
	return 0;
}
EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
				      int64_t ld)
{
	(void)type;
	(void)columns;
	*layout = NULL;
	return ld < (int64_t)rows ? 7 : make("cublasLtMatrixLayoutCreate", layout);
}
EXPORT int cublasLtMatrixLayoutDestroy(void *layout)
{
	return drop(layout);
}
EXPORT int cublasLtMatmulPreferenceCreate(void **preference)
{
	return make("cublasLtMatmulPreferenceCreate", preference);
}
EXPORT int cublasLtMatmulPreferenceDestroy(void *preference)
{
	return drop(preference);
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
						size_t size)
{
	(void)preference;
	(void)attribute;
	(void)value;
	(void)size;
	return 0;
}
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c,
					  void *d, void *preference, int wanted,
					  struct fw_cublaslt_result *results, int *count)
{
	(void)handle;
	(void)desc;
	(void)preference;
	memset(results, 0, sizeof(*results));
	*count = wanted > 0 && a && b && c && d;
	return result_of("cublasLtMatmulAlgoGetHeuristic");
}
EXPORT int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
			  void *a_layout, const void *b, void *b_layout, const void *beta,
			  const void *c, void *c_layout, void *d, void *d_layout, const void *algo,
			  void *workspace, size_t workspace_bytes, void *stream)
{
	(void)handle;
	(void)desc;
	(void)workspace;
	(void)workspace_bytes;
	counts.executes++;
	if (!alpha || !beta || !a || !b || !c || !d || !a_layout || !b_layout || !c_layout ||
	    !d_layout || !algo || !stream)
		return 7;
	return result_of("cublasLtMatmul");
}
EXPORT int cublasLtMatmulAlgoCheck(void *handle, void *desc, void *a, void *b, void *c, void *d,
				   const void *algo, struct fw_cublaslt_result *result)
{
	(void)handle;
	(void)desc;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)algo;
	memset(result, 0, sizeof(*result));
	return result_of("cublasLtMatmulAlgoCheck");
}
