#ifndef FW_KERNELS_TOP_ROW_H
#define FW_KERNELS_TOP_ROW_H
/*
 * The best classes of one image by one block: each pass finds the best key below that of the pass before. A key holds the
 * score and, below it, the class, so that equal scores come in the order of their classes.
 */
#include "pipeline_device.h"

#define FW_TOP_THREADS 256u
#define FW_TOP_NONE    0xffffffffu

struct fw_top_memory {
	unsigned long long keys[FW_TOP_THREADS];
	float sums[FW_TOP_THREADS];
	unsigned is_broken; /* a score is not finite */
};

FW_DEVICE float fw_score_of(const struct fw_top_args *a, unsigned row, unsigned id)
{
	unsigned long long at = row * a->row_step;

	at += a->pixels == 1
		      ? id
		      : (unsigned long long)(id % a->pixels) * a->pixel_stride + id / a->pixels;
	return fw_element(a->scores, at, a->precision);
}

/* Ordered as the scores are; -0 is 0. Never 0 for a finite score. */
FW_DEVICE unsigned long long fw_key_of(float score, unsigned id)
{
	union fw_float_bits x;

	x.value = score == 0 ? 0 : score;
	x.bits = x.bits >> 31 ? ~x.bits : x.bits | 0x80000000u;
	return (unsigned long long)x.bits << 32 | ~id;
}

FW_DEVICE unsigned fw_key_id(unsigned long long key)
{
	return ~(unsigned)key;
}

FW_DEVICE int fw_is_finite(float score)
{
	union fw_float_bits x;

	x.value = score;
	return (x.bits & 0x7f800000) != 0x7f800000;
}

/* Phase 1: each thread's best key below `last`. */
FW_DEVICE void fw_top_scan(const struct fw_top_args *a, unsigned row, unsigned long long last,
			   unsigned thread, struct fw_top_memory *memory)
{
	unsigned long long best = 0;

	for (unsigned id = thread; id < a->classes; id += FW_TOP_THREADS) {
		float score = fw_score_of(a, row, id);
		unsigned long long key = fw_key_of(score, id);

		if (!fw_is_finite(score))
			memory->is_broken = 1;
		if (key < last && key > best)
			best = key;
	}
	memory->keys[thread] = best;
}

/* Phase 2, again with half the step until it is 1: keys[0] is the best. */
FW_DEVICE void fw_top_halve(unsigned step, unsigned thread, struct fw_top_memory *memory)
{
	if (thread < step && memory->keys[thread + step] > memory->keys[thread])
		memory->keys[thread] = memory->keys[thread + step];
}

/* What softmax divides by, likewise in two phases. */
FW_DEVICE void fw_top_add(const struct fw_top_args *a, unsigned row, float most, unsigned thread,
			  struct fw_top_memory *memory)
{
	float sum = 0;

	for (unsigned id = thread; id < a->classes; id += FW_TOP_THREADS)
		sum += expf(fw_score_of(a, row, id) - most);
	memory->sums[thread] = sum;
}

FW_DEVICE void fw_top_halve_sums(unsigned step, unsigned thread, struct fw_top_memory *memory)
{
	if (thread < step)
		memory->sums[thread] += memory->sums[thread + step];
}

FW_DEVICE void fw_top_answer(const struct fw_top_args *a, unsigned row, unsigned place, unsigned id,
			     float probability)
{
	struct fw_kernel_answer *answer =
		(struct fw_kernel_answer *)a->answers + (unsigned long long)row * a->top + place;

	answer->id = id;
	answer->probability = probability;
}

#endif
