#include "tune/rng.h"

static uint64_t split_mix(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, unsigned n)
{
	return (x << n) | (x >> (64 - n));
}

void fw_tune_rng_seed(struct fw_tune_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->state[i] = split_mix(&seed);
}

uint64_t fw_tune_rng_next(struct fw_tune_rng *rng)
{
	uint64_t *s = rng->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t fw_tune_rng_below(struct fw_tune_rng *rng, uint64_t n)
{
	/* What lies under 2^64 mod n would make small results likelier: drawn again. */
	uint64_t uneven = n ? (0 - n) % n : 0, x;

	if (!n)
		return 0;
	do {
		x = fw_tune_rng_next(rng);
	} while (x < uneven);
	return x % n;
}

double fw_tune_rng_unit(struct fw_tune_rng *rng)
{
	return (double)(fw_tune_rng_next(rng) >> 11) * 0x1p-53;
}
