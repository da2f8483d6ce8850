#ifndef FW_KERNELS_PREPROCESS_PLAN_H
#define FW_KERNELS_PREPROCESS_PLAN_H
/*
 * A picture's description to what its pixels need: checked planes, the windows and the weights of both axes. The sums are
 * those of src/pipeline/preprocess.c and preprocess_axis.c, in the same order.
 */
#include "pipeline_device.h"

#define FW_WEIGHT_ONE 4194304.0 /* 2^22, as PIL keeps weights */

/* Log2 of the ratio of a plane to the picture along one axis: 0 to 2; 3: none of them. */
FW_DEVICE unsigned fw_shift_of(unsigned full, unsigned part)
{
	unsigned shift = 0;

	while (shift < 3 && (((unsigned long long)full + (1u << shift) - 1) >> shift) != part)
		shift++;
	return shift;
}

FW_DEVICE int fw_is_scale_sound(unsigned source, const struct fw_kernel_picture *p,
				unsigned decoded)
{
	return source && p->scale_num && p->scale_den &&
	       ((unsigned long long)source * p->scale_num + p->scale_den - 1) / p->scale_den ==
		       decoded;
}

/* Nothing outside the cell will be read. */
FW_DEVICE int fw_is_plane_sound(const struct fw_kernel_plane *plane, unsigned sample_bytes,
				unsigned long long cell_bytes)
{
	return (unsigned long long)plane->width * sample_bytes <= plane->stride &&
	       plane->offset + (unsigned long long)plane->stride * plane->height <= cell_bytes;
}

FW_DEVICE int fw_is_tensor_sound(const struct fw_preprocess_args *a,
				 const struct fw_kernel_picture *p)
{
	int is_sound = p->n_planes == 3 && p->cell % sizeof(float) == 0;

	for (int i = 0; i < 3; i++)
		is_sound = is_sound && p->planes[i].width == a->crop &&
			   p->planes[i].height == a->crop &&
			   p->planes[i].offset % sizeof(float) == 0 &&
			   p->planes[i].stride == a->crop * sizeof(float) &&
			   fw_is_plane_sound(&p->planes[i], sizeof(float), a->cell_bytes);
	return is_sound;
}

FW_DEVICE int fw_is_picture_sound(const struct fw_preprocess_args *a,
				  const struct fw_kernel_picture *p)
{
	unsigned is_interleaved = p->kind == FW_KERNEL_RGB && p->n_planes == 1;
	unsigned wanted = p->kind == FW_KERNEL_GREY || is_interleaved ? 1 : 3;

	if (!p->is_present || p->compressed_bytes || p->kind > FW_KERNEL_TENSOR)
		return 0;
	if (p->kind == FW_KERNEL_TENSOR)
		return fw_is_tensor_sound(a, p);
	if (p->n_planes != wanted || !p->width || !p->height || p->orientation < 1 ||
	    p->orientation > 8 || !fw_is_scale_sound(p->source_width, p, p->width) ||
	    !fw_is_scale_sound(p->source_height, p, p->height))
		return 0;
	for (unsigned i = 0; i < wanted; i++)
		if (!fw_is_plane_sound(&p->planes[i], is_interleaved ? 3 : 1, a->cell_bytes) ||
		    fw_shift_of(p->width, p->planes[i].width) > 2 ||
		    fw_shift_of(p->height, p->planes[i].height) > 2)
			return 0;
	return p->planes[0].width == p->width && p->planes[0].height == p->height;
}

/* round() of Python: half to even. */
FW_DEVICE unsigned long long fw_half_to_even(unsigned long long twice)
{
	unsigned long long half = twice / 2;

	return twice % 2 && half % 2 ? half + 1 : half;
}

/* 0: a pixel would need more weights than there is room for. */
FW_DEVICE int fw_axis_of(const struct fw_preprocess_args *a, unsigned long long resized,
			 double source, int is_mirrored, struct fw_kernel_axis *axis)
{
	int is_cropped = resized >= a->crop;
	unsigned long long offset = is_cropped ? fw_half_to_even(resized - a->crop) : 0;
	unsigned pad = is_cropped ? 0 : (a->crop - (unsigned)resized) / 2;
	double scale = source / (double)resized, support = scale > 1 ? scale : 1;

	axis->n_pixels = is_cropped ? a->crop : (unsigned)resized;
	axis->step = is_mirrored ? -1 : 1;
	axis->position = (int)(pad + (is_mirrored ? axis->n_pixels - 1 : 0));
	axis->offset = is_mirrored ? resized - offset - axis->n_pixels : offset;
	axis->scale = scale;
	axis->support = support;
	axis->n_taps = (unsigned)fmin(ceil(2 * support), (double)axis->decoded);
	return ceil(support) * 2 + 1 <= a->max_taps;
}

/* torchvision: int(size * long / short) for the longer side. */
FW_DEVICE unsigned long long fw_resized_length(unsigned length, unsigned other, unsigned resize)
{
	return length <= other ? resize : (unsigned long long)resize * length / other;
}

FW_DEVICE int fw_plan_axes(const struct fw_preprocess_args *a, const struct fw_kernel_picture *p,
			   struct fw_kernel_plan *plan)
{
	unsigned o = p->orientation, width = p->source_width, height = p->source_height;
	double ratio = (double)p->scale_num / p->scale_den;

	plan->is_turned = o >= 5;
	plan->axes[0].decoded = p->width;
	plan->axes[1].decoded = p->height;
	return fw_axis_of(a, fw_resized_length(width, height, a->resize), width * ratio,
			  o == 2 || o == 3 || o == 7 || o == 8, &plan->axes[0]) &&
	       fw_axis_of(a, fw_resized_length(height, width, a->resize), height * ratio,
			  o == 3 || o == 4 || o == 6 || o == 7, &plan->axes[1]);
}

/* By one thread for each picture. */
FW_DEVICE void fw_plan_picture(const struct fw_preprocess_args *a, unsigned n,
			       struct fw_kernel_plan *plan)
{
	const struct fw_kernel_picture *p = (const struct fw_kernel_picture *)a->pictures + n;

	plan->is_sound = 0;
	if (!fw_is_picture_sound(a, p))
		return;
	plan->kind = p->kind;
	plan->is_interleaved = p->kind == FW_KERNEL_RGB && p->n_planes == 1;
	for (unsigned i = 0; i < p->n_planes; i++) {
		struct fw_kernel_source *source = &plan->planes[i];

		source->data = p->cell + p->planes[i].offset;
		source->width = p->planes[i].width;
		source->height = p->planes[i].height;
		source->stride = p->planes[i].stride;
		source->h_shift = fw_shift_of(p->width, source->width);
		source->v_shift = fw_shift_of(p->height, source->height);
	}
	plan->is_sound = p->kind == FW_KERNEL_TENSOR || fw_plan_axes(a, p, plan);
}

FW_DEVICE unsigned *fw_firsts_of(const struct fw_preprocess_args *a, unsigned n, unsigned axis)
{
	return (unsigned *)a->firsts + ((unsigned long long)n * 2 + axis) * a->crop;
}

FW_DEVICE float *fw_weights_of(const struct fw_preprocess_args *a, unsigned n, unsigned axis)
{
	return (float *)a->weights + ((unsigned long long)n * 2 + axis) * a->max_taps * a->crop;
}

FW_DEVICE double fw_triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

/* Weights of one pixel, crop apart; those of samples outside its triangle are 0. */
FW_DEVICE void fw_weigh(const struct fw_preprocess_args *a, const struct fw_kernel_axis *axis,
			double from, float *weights)
{
	double total = 0;

	for (unsigned t = 0; t < axis->n_taps; t++)
		total += fw_triangle((from + t) / axis->support);
	for (unsigned t = 0; t < axis->n_taps; t++) {
		double w = total > 0 ? fw_triangle((from + t) / axis->support) / total : 0;

		weights[(unsigned long long)t * a->crop] =
			(float)(floor(w * FW_WEIGHT_ONE + 0.5) / FW_WEIGHT_ONE);
	}
}

/* Windows and weights of one axis, by all threads of a block. */
FW_DEVICE void fw_plan_weights(const struct fw_preprocess_args *a,
			       const struct fw_kernel_plan *plan, unsigned n, unsigned axis_number,
			       unsigned thread, unsigned threads)
{
	const struct fw_kernel_axis *axis = &plan->axes[axis_number];
	unsigned *firsts = fw_firsts_of(a, n, axis_number);
	float *weights = fw_weights_of(a, n, axis_number);

	if (!plan->is_sound || plan->kind == FW_KERNEL_TENSOR)
		return;
	for (unsigned i = thread; i < axis->n_pixels; i += threads) {
		double centre = ((double)(axis->offset + i) + 0.5) * axis->scale;
		double low = floor(centre - axis->support + 0.5);
		unsigned first =
			(unsigned)fmax(0.0, fmin(low, (double)axis->decoded - axis->n_taps));

		firsts[i] = first;
		fw_weigh(a, axis, (double)first - centre + 0.5, weights + i);
	}
}

#endif
