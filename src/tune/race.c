#include "tune/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t fw_tune_median_rank(uint32_t n)
{
	/* P(fewer than k of n samples lie below the median) <= 2.5 %: the binomial distribution of n and 1/2. */
	double probability = pow(0.5, n), sum = 0;
	uint32_t k = 0;

	if (n > 1000) /* 2^-n would vanish; the normal distribution is as good there */
		return (uint32_t)fmax(0, floor((n - 1.96 * sqrt(n)) / 2));
	while (k < n / 2) {
		sum += probability;
		if (sum > 0.025)
			break;
		probability *= (double)(n - k) / (k + 1);
		k++;
	}
	return k;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double fw_tune_median(double *samples, uint32_t n)
{
	qsort(samples, n, sizeof(*samples), compare);
	return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

void fw_tune_summarize(struct fw_tune_result *result)
{
	double sorted[FW_TUNE_MAX_SAMPLES];
	uint32_t n =
		result->n_samples < FW_TUNE_MAX_SAMPLES ? result->n_samples : FW_TUNE_MAX_SAMPLES;
	uint32_t rank = fw_tune_median_rank(n);

	result->median_s = result->low_s = result->high_s = -1;
	if (!n)
		return;
	memcpy(sorted, result->samples_s, n * sizeof(*sorted));
	result->median_s = fw_tune_median(sorted, n);
	if (rank) {
		result->low_s = sorted[rank - 1];
		result->high_s = sorted[n - rank];
	}
}

/* The interval, or for few samples their median and twice their spread. */
static void bounds(const struct fw_tune_result *r, double *low, double *high)
{
	double least = INFINITY, most = 0;

	*low = r->low_s;
	*high = r->high_s;
	if (r->low_s >= 0)
		return;
	for (uint32_t i = 0; i < r->n_samples && i < FW_TUNE_MAX_SAMPLES; i++) {
		least = fmin(least, r->samples_s[i]);
		most = fmax(most, r->samples_s[i]);
	}
	*low = r->median_s - 2 * (r->median_s - least);
	*high = r->median_s + 2 * (most - r->median_s);
}

bool fw_tune_is_equal(const struct fw_tune_result *result, const struct fw_tune_result *best)
{
	double low, high, best_low, best_high;

	bounds(result, &low, &high);
	bounds(best, &best_low, &best_high);
	return low <= best_high || result->median_s <= best->median_s * (1 + FW_TUNE_EQUAL_SHARE);
}

uint64_t fw_tune_block_bytes(const struct fw_tune_result *result, uint32_t block_threads)
{
	return (uint64_t)result->registers * 4 * block_threads + result->static_smem +
	       result->dynamic_smem;
}

struct fw_tune_gain fw_tune_gain_of(const struct fw_tune_result *a, const struct fw_tune_result *b)
{
	struct fw_tune_gain gain = { a->median_s / b->median_s, -1, -1 };

	if (a->low_s > 0 && b->low_s > 0) {
		gain.low = a->low_s / b->high_s;
		gain.high = a->high_s / b->low_s;
	}
	return gain;
}
