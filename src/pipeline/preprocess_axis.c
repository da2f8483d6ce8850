/* Resize and CenterCrop along one axis: windows and weights, as torchvision and PIL compute them. */
#include "pipeline/preprocess_axis.h"

#include <math.h>

/* PIL keeps weights as integers of this many bits behind the point; a float holds them exactly. */
#define WEIGHT_ONE 4194304.0 /* 2^22 */

uint32_t fw_axis_max_taps(double scale)
{
	return (uint32_t)ceil(scale > 1 ? scale : 1) * 2 + 1;
}

/* round() of Python: half to even. */
static uint64_t half_to_even(uint64_t twice)
{
	uint64_t half = twice / 2;

	return twice % 2 && half % 2 ? half + 1 : half;
}

static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

/* PIL's weights of one pixel; those of samples outside its triangle are 0. */
static void weigh(struct fw_axis *axis, uint32_t i, double centre, double support)
{
	float *weights = axis->weights + (size_t)i * axis->max_taps;
	double from = (double)axis->first[i] - centre + 0.5, total = 0;

	for (uint32_t t = 0; t < axis->n_taps; t++)
		total += triangle((from + t) / support);
	for (uint32_t t = 0; t < axis->n_taps; t++) {
		double w = total > 0 ? triangle((from + t) / support) / total : 0;
		weights[t] = (float)(floor(w * WEIGHT_ONE + 0.5) / WEIGHT_ONE);
	}
}

fw_status fw_axis_plan(struct fw_axis *axis, const struct fw_axis_lengths *lengths, uint32_t crop,
		       struct fw_error *err)
{
	bool is_cropped = lengths->resized >= crop;
	uint64_t offset = is_cropped ? half_to_even(lengths->resized - crop) : 0;
	uint32_t pad = is_cropped ? 0 : (crop - (uint32_t)lengths->resized) / 2;
	double scale = lengths->source / (double)lengths->resized;
	double support = scale > 1 ? scale : 1;

	axis->n_pixels = is_cropped ? crop : (uint32_t)lengths->resized;
	axis->step = lengths->is_mirrored ? -1 : 1;
	axis->position = pad + (lengths->is_mirrored ? axis->n_pixels - 1 : 0);
	if (lengths->is_mirrored)
		offset = lengths->resized - offset - axis->n_pixels;
	if (fw_axis_max_taps(scale) > axis->max_taps)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the picture is %g times the wanted size, more than its cell holds",
			       scale);
	axis->n_taps = (uint32_t)fmin(ceil(2 * support), lengths->decoded);
	for (uint32_t i = 0; i < axis->n_pixels; i++) {
		double centre = ((double)(offset + i) + 0.5) * scale;
		double low = floor(centre - support + 0.5);
		axis->first[i] =
			(uint32_t)fmax(0, fmin(low, (double)lengths->decoded - axis->n_taps));
		weigh(axis, i, centre, support);
	}
	axis->begin = axis->first[0];
	axis->end = axis->first[axis->n_pixels - 1] + axis->n_taps;
	return FW_OK;
}
