#ifndef FW_TUNE_RACE_H
#define FW_TUNE_RACE_H
/*
 * Which configuration is fastest, and which cannot be told from it: medians with 95 % intervals from order statistics,
 * which assume nothing of how times are spread.
 */
#include "tune/result.h"

/* Differences under this share are never told apart: two runs of one configuration differ by as much. */
#define FW_TUNE_EQUAL_SHARE 0.005

/*
 * The interval of a median at 95 % lies between the k-th smallest and the k-th largest of n samples; 0: n is too small
 * (under 6).
 */
uint32_t fw_tune_median_rank(uint32_t n);

/* Sets median_s, low_s and high_s from the samples; -1 where they are too few. */
void fw_tune_summarize(struct fw_tune_result *result);

/* Of a few samples of any kind; n > 0. Sorts them. */
double fw_tune_median(double *samples, uint32_t n);

/* Its interval overlaps that of the best: it may be as fast, or faster. Of few samples twice their spread stands for it. */
bool fw_tune_is_equal(const struct fw_tune_result *result, const struct fw_tune_result *best);

/* What a block holds on an SM: registers and shared memory, in bytes; the less, the cheaper. */
uint64_t fw_tune_block_bytes(const struct fw_tune_result *result, uint32_t block_threads);

/* A gain with its interval, from two medians with theirs: how many times faster b is than a; low -1: unknown. */
struct fw_tune_gain {
	double ratio, low, high;
};

struct fw_tune_gain fw_tune_gain_of(const struct fw_tune_result *a, const struct fw_tune_result *b);

#endif
