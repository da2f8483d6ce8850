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

static void weigh(struct fw_axis *axis, uint32_t i, double centre, double support)
{
	struct fw_axis_pixel *pixel = &axis->pixels[i];
	float *weights = axis->weights + (size_t)i * axis->max_taps;
	double total = 0;

	for (uint32_t t = 0; t < pixel->n_taps; t++)
		total += triangle((t + (double)pixel->first - centre + 0.5) / support);
	for (uint32_t t = 0; t < pixel->n_taps; t++) {
		double w = triangle((t + (double)pixel->first - centre + 0.5) / support);
		weights[t] =
			(float)(floor((total > 0 ? w / total : 0) * WEIGHT_ONE + 0.5) / WEIGHT_ONE);
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
	axis->begin = lengths->decoded;
	axis->end = 0;
	for (uint32_t i = 0; i < axis->n_pixels; i++) {
		double centre = ((double)(offset + i) + 0.5) * scale;
		double low = floor(centre - support + 0.5), high = floor(centre + support + 0.5);
		double last = lengths->decoded - 1.0;
		/* At least one sample, also where a scaled source ends a fraction before the last one. */
		uint32_t first = low < 0 ? 0 : (uint32_t)fmin(low, last);
		uint32_t end = (uint32_t)fmin(fmax(high, first + 1.0), last + 1);
		axis->pixels[i] = (struct fw_axis_pixel){ first, end - first };
		weigh(axis, i, centre, support);
		if (first < axis->begin)
			axis->begin = first;
		if (end > axis->end)
			axis->end = end;
	}
	return FW_OK;
}
