#ifndef FW_TUNE_RNG_H
#define FW_TUNE_RNG_H
/*
 * Random numbers that are the same on every machine for one seed: xoshiro256** (Blackman and Vigna, 2018), its state
 * filled by SplitMix64. Not for secrets. One thread.
 */
#include <stdint.h>

struct fw_tune_rng {
	uint64_t state[4];
};

void fw_tune_rng_seed(struct fw_tune_rng *rng, uint64_t seed);
uint64_t fw_tune_rng_next(struct fw_tune_rng *rng);
/* 0 to n - 1, each equally likely; 0 for n = 0. */
uint64_t fw_tune_rng_below(struct fw_tune_rng *rng, uint64_t n);
/* 0 to below 1. */
double fw_tune_rng_unit(struct fw_tune_rng *rng);

#endif
