#ifndef FW_SERVE_RANDOM_H
#define FW_SERVE_RANDOM_H
/* Random numbers that are the same on every machine for one seed: SplitMix64 (Steele, Lea, Flood, 2014). Not for secrets. */
#include <stdint.h>

/* *state is the seed at first. */
static inline uint64_t fw_random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* 0 to n - 1; n: not 0. Uneven by at most n / 2^64. */
static inline uint64_t fw_random_below(uint64_t *state, uint64_t n)
{
	return fw_random_next(state) % n;
}

/* 0 to below 1. */
static inline double fw_random_unit(uint64_t *state)
{
	return (double)(fw_random_next(state) >> 11) * 0x1p-53;
}

#endif
