#ifndef FW_PIPELINE_PREPROCESS_AXIS_H
#define FW_PIPELINE_PREPROCESS_AXIS_H
/*
 * One axis of Resize and CenterCrop, in the picture as decoded: which resized pixels the crop needs, and from which
 * samples with which weights each is summed. The weights are PIL's for its antialiased bilinear filter.
 */
#include "pipeline/preprocess.h"

struct fw_axis {
	uint32_t n_pixels;   /* resized pixels that the crop shows */
	uint32_t position;   /* in the crop, of pixel 0 */
	int32_t step;        /* 1, or -1 where the orientation mirrors this axis */
	uint32_t begin, end; /* samples needed */
	/* Weights of each pixel, the same number for all so that loops over them are predicted; at most max_taps. */
	uint32_t n_taps, max_taps;
	uint32_t *first; /* the sample of a pixel's first weight; room for crop of them */
	float *weights;  /* room for max_taps for each pixel */
};

/* What the axis of a picture is, before and after. */
struct fw_axis_lengths {
	double source; /* of the source in decoded samples, a fraction where the decode was scaled */
	uint32_t decoded; /* samples */
	uint64_t resized;
	bool is_mirrored;
};

/* The most taps that a pixel needs if a resized pixel is at most `scale` decoded ones wide. */
uint32_t fw_axis_max_taps(double scale);

/* FW_ERR_ARGUMENT where a pixel needs more than axis->max_taps. */
fw_status fw_axis_plan(struct fw_axis *axis, const struct fw_axis_lengths *lengths, uint32_t crop,
		       struct fw_error *err);

#endif
