/* Launches kernels/top.cu. */
#include "pipeline/top_gpu.h"

#include "pipeline/gpu_args.h"
#include "pipeline/gpu_kernels.h"

#include <stdlib.h>

#define THREADS 256u /* of kernels/top_row.h */

_Static_assert(sizeof(struct fw_gpu_answer) == sizeof(struct fw_kernel_answer), "answers");

struct fw_top_gpu {
	const struct fw_cuda *cuda;
	void *module, *function;
};

fw_status fw_top_gpu_open(const struct fw_cuda *cuda, struct fw_top_gpu **made,
			  struct fw_error *err)
{
	struct fw_top_gpu *t;
	fw_status status;

	*made = NULL;
	if (!cuda->launch_kernel)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "the driver has no cuLaunchKernel");
	t = calloc(1, sizeof(*t));
	if (!t)
		return fw_fail_nomem(err, sizeof(*t));
	t->cuda = cuda;
	status = fw_gpu_kernels_load(cuda, &t->module, err);
	if (!status)
		status = fw_gpu_kernels_find(cuda, t->module, "top_classes", &t->function, err);
	if (status) {
		fw_top_gpu_close(t);
		return status;
	}
	*made = t;
	return FW_OK;
}

void fw_top_gpu_close(struct fw_top_gpu *t)
{
	if (!t)
		return;
	if (t->module)
		t->cuda->module_unload(t->module);
	free(t);
}

static fw_status check(const struct fw_nn_io *scores, const struct fw_top_gpu_rows *rows,
		       struct fw_error *err)
{
	int64_t pixels = scores->h * scores->w;

	if (!rows->n || (int64_t)rows->n > scores->n || rows->n > INT32_MAX ||
	    rows->classes != pixels * scores->c || scores->c > scores->pixel_stride ||
	    scores->precision > 2)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%u rows of %u classes of an output of %lld x %lld x %lld x %lld",
			       rows->n, rows->classes, (long long)scores->n, (long long)scores->h,
			       (long long)scores->w, (long long)scores->c);
	if (!rows->top || rows->top > rows->classes)
		return fw_fail(err, FW_ERR_ARGUMENT, "the best %u of %u classes", rows->top,
			       rows->classes);
	return FW_OK;
}

fw_status fw_top_gpu_launch(struct fw_top_gpu *t, const struct fw_nn_io *scores,
			    const struct fw_top_gpu_rows *rows, uint64_t answers, void *stream,
			    struct fw_error *err)
{
	struct fw_top_args a;
	void *parameters[] = { &a };
	fw_status status = check(scores, rows, err);

	if (status)
		return status;
	a = (struct fw_top_args){
		.scores = (uintptr_t)scores->data,
		.answers = answers,
		.row_step = (uint64_t)(scores->h * scores->w * scores->pixel_stride),
		.classes = rows->classes,
		.top = rows->top,
		.pixels = (unsigned)(scores->h * scores->w),
		.pixel_stride = (unsigned)scores->pixel_stride,
		.precision = scores->precision,
		.are_probabilities = rows->are_probabilities,
	};
	return fw_gpu_kernels_check(t->cuda,
				    t->cuda->launch_kernel(t->function, rows->n, 1, 1, THREADS, 1,
							   1, 0, stream, parameters, NULL),
				    "launching top_classes", err);
}
