/* Holds what the kernels of kernels/preprocess.cu need on the GPU, and launches them. */
#include "pipeline/preprocess_gpu.h"

#include "pipeline/gpu_args.h"
#include "pipeline/gpu_kernels.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of kernels/preprocess_tile.h. */
#define TILE_THREADS 256u
#define MAX_TAPS     1024u
#define PLAN_THREADS 256u
#define ALIGNMENT    256u
/* What one grid may have in its second axis. */
#define MAX_BATCH 65535u

#define SAME(ours, its, field)                                                                     \
	_Static_assert(offsetof(ours, its) == offsetof(struct fw_kernel_picture, field), #field)
SAME(struct fw_gpu_picture, cell, cell);
SAME(struct fw_gpu_picture, image.kind, kind);
SAME(struct fw_gpu_picture, image.width, width);
SAME(struct fw_gpu_picture, image.height, height);
SAME(struct fw_gpu_picture, image.source_width, source_width);
SAME(struct fw_gpu_picture, image.source_height, source_height);
SAME(struct fw_gpu_picture, image.scale_num, scale_num);
SAME(struct fw_gpu_picture, image.scale_den, scale_den);
SAME(struct fw_gpu_picture, image.orientation, orientation);
SAME(struct fw_gpu_picture, image.n_planes, n_planes);
SAME(struct fw_gpu_picture, image.compressed_bytes, compressed_bytes);
SAME(struct fw_gpu_picture, image.planes[0].height, planes[0].height);
SAME(struct fw_gpu_picture, image.planes[0].stride, planes[0].stride);
SAME(struct fw_gpu_picture, image.planes[2].offset, planes[2].offset);
SAME(struct fw_gpu_picture, is_present, is_present);
_Static_assert(sizeof(struct fw_gpu_picture) == sizeof(struct fw_kernel_picture), "size");
_Static_assert(FW_IMAGE_YCBCR == FW_KERNEL_YCBCR && FW_IMAGE_GREY == FW_KERNEL_GREY &&
		       FW_IMAGE_RGB == FW_KERNEL_RGB && FW_IMAGE_TENSOR == FW_KERNEL_TENSOR,
	       "kinds");
_Static_assert(FW_NN_FP32 == 0 && FW_NN_FP16 == 1 && FW_NN_BFLOAT16 == 2, "fw_narrow");

struct fw_preprocess_gpu {
	const struct fw_cuda *cuda;
	void *module, *plan, *tile;
	uint64_t memory;
	size_t bytes;
	uint32_t max_batch, tile_rows;
	struct fw_preprocess_args args; /* without what each launch adds */
};

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static fw_status allocate(struct fw_preprocess_gpu *p, struct fw_error *err)
{
	struct fw_preprocess_args *a = &p->args;
	uint64_t axes = (uint64_t)p->max_batch * 2 * a->crop;
	uint64_t plans = round_up((uint64_t)p->max_batch * sizeof(struct fw_kernel_plan));
	uint64_t firsts = round_up(axes * sizeof(unsigned));
	uint64_t weights = round_up(axes * a->max_taps * sizeof(float));
	fw_status status;

	p->bytes = plans + firsts + weights;
	status = fw_gpu_kernels_check(p->cuda, p->cuda->mem_alloc(&p->memory, p->bytes),
				      "cuMemAlloc", err);
	if (status) {
		p->memory = 0;
		fw_error_prefix(err, "%zu bytes of GPU memory for preprocessing", p->bytes);
		return status;
	}
	a->plans = p->memory;
	a->firsts = a->plans + plans;
	a->weights = a->firsts + firsts;
	return FW_OK;
}

static fw_status load(struct fw_preprocess_gpu *p, struct fw_error *err)
{
	fw_status status = fw_gpu_kernels_load(p->cuda, &p->module, err);

	if (!status)
		status = fw_gpu_kernels_find(p->cuda, p->module, "preprocess_plan", &p->plan, err);
	if (!status)
		status = fw_gpu_kernels_find(p->cuda, p->module, "preprocess_tile", &p->tile, err);
	return status ? status : allocate(p, err);
}

static fw_status check(const struct fw_cuda *cuda, uint32_t max_batch, uint32_t max_taps,
		       struct fw_error *err)
{
	if (!cuda->mem_alloc || !cuda->mem_free || !cuda->launch_kernel)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the driver lacks calls that preprocessing needs");
	if (!max_batch || max_batch > MAX_BATCH)
		return fw_fail(err, FW_ERR_ARGUMENT, "a batch of %u pictures: from 1 to %u",
			       max_batch, MAX_BATCH);
	if (max_taps > MAX_TAPS)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "pictures of up to %u times the wanted size: the GPU reduces them "
			       "by at most %u; give smaller cells or a larger resize",
			       max_taps / 2, MAX_TAPS / 2);
	return FW_OK;
}

fw_status fw_preprocess_gpu_open(const struct fw_cuda *cuda, const struct fw_preprocess *preprocess,
				 uint32_t max_batch, size_t cell_bytes,
				 struct fw_preprocess_gpu **made, struct fw_error *err)
{
	struct fw_preprocess_gpu *p;
	uint32_t max_taps;
	fw_status status = fw_preprocess_check(preprocess, cell_bytes, &max_taps, err);

	*made = NULL;
	if (status || (status = check(cuda, max_batch, max_taps, err)))
		return status;
	p = calloc(1, sizeof(*p));
	if (!p)
		return fw_fail_nomem(err, sizeof(*p));
	p->cuda = cuda;
	p->max_batch = max_batch;
	p->args.cell_bytes = cell_bytes;
	p->args.resize = preprocess->resize;
	p->args.crop = preprocess->crop;
	p->args.max_taps = max_taps;
	fw_preprocess_scale(preprocess, p->args.scale, p->args.shift);
	status = load(p, err);
	if (status) {
		fw_preprocess_gpu_close(p);
		return status;
	}
	*made = p;
	return FW_OK;
}

void fw_preprocess_gpu_close(struct fw_preprocess_gpu *p)
{
	if (!p)
		return;
	if (p->memory)
		p->cuda->mem_free(p->memory);
	if (p->module)
		p->cuda->module_unload(p->module);
	free(p);
}

size_t fw_preprocess_gpu_bytes(const struct fw_preprocess_gpu *p)
{
	return p->bytes;
}

void fw_preprocess_gpu_set_tile(struct fw_preprocess_gpu *p, uint32_t rows)
{
	p->tile_rows = rows;
}

/* Many small tiles keep a GPU busy with few pictures; larger ones do less twice. */
static uint32_t tile_rows_for(const struct fw_preprocess_gpu *p, uint32_t n)
{
	if (p->tile_rows)
		return p->tile_rows;
	/* The fastest of 1 to 32 on an H200, for pictures of 500 x 375 and of 1920 x 1080. */
	return n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
}

static fw_status check_input(const struct fw_preprocess_gpu *p, uint32_t n,
			     const struct fw_nn_io *input, struct fw_error *err)
{
	if (!n || n > p->max_batch || (int64_t)n > input->n)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%u pictures for an input of %lld, opened for %u", n,
			       (long long)input->n, p->max_batch);
	if (input->h != p->args.crop || input->w != p->args.crop || input->c != 3 ||
	    input->pixel_stride < 3 || input->pixel_stride > 64 || input->precision > 2)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "an input of %lld x %lld pixels of %lld in %lld for a crop of %u",
			       (long long)input->h, (long long)input->w, (long long)input->c,
			       (long long)input->pixel_stride, p->args.crop);
	return FW_OK;
}

fw_status fw_preprocess_gpu_launch(struct fw_preprocess_gpu *p, uint64_t pictures, uint32_t n,
				   const struct fw_nn_io *input, void *stream, struct fw_error *err)
{
	struct fw_preprocess_args a = p->args;
	void *parameters[] = { &a };
	fw_status status = check_input(p, n, input, err);

	if (status)
		return status;
	a.pictures = pictures;
	a.input = (uintptr_t)input->data;
	a.tile_rows = tile_rows_for(p, n);
	a.precision = input->precision;
	a.pixel_stride = (unsigned)input->pixel_stride;
	a.is_packed = a.pixel_stride == 4 && a.input % sizeof(uint64_t) == 0;
	status = fw_gpu_kernels_check(p->cuda,
				      p->cuda->launch_kernel(p->plan, 2, n, 1, PLAN_THREADS, 1, 1,
							     0, stream, parameters, NULL),
				      "launching preprocess_plan", err);
	if (status)
		return status;
	return fw_gpu_kernels_check(
		p->cuda,
		p->cuda->launch_kernel(p->tile, (a.crop + a.tile_rows - 1) / a.tile_rows, n, 1,
				       TILE_THREADS, 1, 1, 0, stream, parameters, NULL),
		"launching preprocess_tile", err);
}
