#ifndef TUNE_SPACES_H
#define TUNE_SPACES_H
/*
 * Spaces with a known optimum, made by a cost model that behaves as kernels do: blocks and tiles that share registers,
 * warps to hide latency, coalescing, a last wave, spills as a cliff, and a hash as roughness. The numbers mean nothing.
 */
#include "tune/rng.h"
#include "tune/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MADE_PARAMS 8

struct made_space {
	struct fw_tune_space space;
	uint64_t seed;
	double weight[16]; /* how much this kernel cares about each effect */
	double best;       /* seconds of the optimum */
};

enum { BX, BY, TX, TY, UNROLL, VECTOR, STAGE, BOUNDS };

static const struct made_param {
	const char *name;
	int64_t numbers[18]; /* ends with -1 */
	uint32_t preset;
} made_params[MADE_PARAMS] = {
	{ "BX", { 8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512, -1 }, 2 },
	{ "BY", { 1, 2, 4, 8, 16, 32, -1 }, 3 },
	{ "TX", { 1, 2, 3, 4, 5, 6, 8, -1 }, 0 },
	{ "TY", { 1, 2, 3, 4, 6, 8, -1 }, 0 },
	{ "UNROLL", { 1, 2, 4, 8, -1 }, 0 },
	{ "VECTOR", { 1, 2, 4, -1 }, 0 },
	{ "STAGE", { 0, 1, -1 }, 0 },
	{ "BOUNDS", { 0, 1, 2, 4, -1 }, 0 },
};

static inline bool made_allows(const void *constraints, const int64_t *n, uint32_t n_bound)
{
	(void)constraints;
	if (n_bound < MADE_PARAMS)
		return true;
	return n[BX] * n[BY] <= 1024 && n[BX] * n[BY] % 32 == 0 && n[TX] % n[VECTOR] == 0;
}

static inline uint64_t made_hash(uint64_t x)
{
	struct fw_tune_rng rng;

	fw_tune_rng_seed(&rng, x);
	return fw_tune_rng_next(&rng);
}

/* Negative: fails. */
static inline double made_seconds(const struct made_space *made,
				  const struct fw_tune_config *config)
{
	const double *w = made->weight;
	uint64_t hash = made_hash(made->seed * 1000003 + fw_tune_space_key(&made->space, config));
	int64_t n[FW_TUNE_MAX_PARAMS];
	double threads, registers, smem, warps, blocks, work, ilp, waves, t;

	fw_tune_space_numbers(&made->space, config, n);
	if (hash % 1000 < 50)
		return -1;
	threads = (double)(n[BX] * n[BY]);
	work = (double)(n[TX] * n[TY]);
	registers = 18 + w[0] * 6 * work + w[1] * 3 * (double)n[UNROLL] + 4 * (double)n[VECTOR];
	smem = n[STAGE] ? threads * work * 4 * (1 + w[2]) : 0;
	if (smem > 220e3)
		return -1;
	t = 1;
	if (n[BOUNDS] && registers > 65536 / (threads * (double)n[BOUNDS])) {
		double over = registers - 65536 / (threads * (double)n[BOUNDS]);

		registers -= over;
		t *= 1 + over * 0.02;
	}
	if (registers > 255)
		t *= 1.5 + (registers - 255) * 0.01;
	registers = fmin(registers, 255);
	blocks = floor(fmin(fmin(65536 / (registers * threads), 2048 / threads),
			    smem > 0 ? 227e3 / smem : 32));
	if (blocks < 1)
		return -1;
	warps = blocks * threads / 32;
	ilp = 1 + w[3] * log2(work) + w[4] * log2((double)n[UNROLL]);
	t *= 1 + w[5] * 6 / (warps * ilp / 8 + 0.3);                      /* latency hidden */
	t *= 1 + w[6] * 1.5 / (double)(n[TX] < n[TY] ? n[TX] * 2 : work); /* loads reused */
	if (n[BX] * n[VECTOR] < 32)
		t *= 1 + w[7] * (32.0 / (double)(n[BX] * n[VECTOR]) - 1); /* coalescing */
	t *= n[STAGE] ? 1 + w[8] * 0.3 - w[9] * 0.4 * fmin(1, work / 8) : 1;
	t *= 1 + w[10] * fabs(log2((double)n[BX] / (double)n[BY]) - 8 * w[11] + 2) * 0.08;
	if (n[BX] % 32 && w[12] > 0.5)
		t *= 1.15; /* bank conflicts */
	waves = 1e6 * (0.5 + w[13]) / (threads * work * blocks * 132);
	t *= waves < 1 ? 1 / fmax(waves, 0.05) : ceil(waves) / waves;
	return 1e-3 * t * (1 + 0.02 * (double)(hash >> 40) / (double)(1 << 24));
}

/* Every second value of the longer parameters only, if the space is to be small. */
static inline void made_add(struct fw_tune_space *space, const struct made_param *from,
			    bool is_small)
{
	struct fw_tune_value values[18];
	struct fw_tune_param param = { .name = from->name, .values = values };
	char texts[18][24];
	uint32_t n = 0, step;

	while (from->numbers[n] >= 0)
		n++;
	step = is_small && n > 4 ? 2 : 1;
	for (uint32_t v = 0; v < n; v += step) {
		snprintf(texts[v], sizeof(texts[v]), "%lld", (long long)from->numbers[v]);
		values[param.n_values++] = (struct fw_tune_value){ texts[v], from->numbers[v] };
	}
	param.preset = from->preset / step;
	if (fw_tune_space_add(space, &param, NULL))
		abort();
}

/* About 10,000 configurations, as the recorded spaces of real kernels have, or 135,000. */
static inline void made_open(struct made_space *made, uint64_t seed, bool is_small)
{
	struct fw_tune_rng rng;

	*made = (struct made_space){ .seed = seed, .best = INFINITY };
	fw_tune_rng_seed(&rng, seed);
	for (int i = 0; i < 16; i++)
		made->weight[i] = fw_tune_rng_unit(&rng);
	for (uint32_t p = 0; p < MADE_PARAMS; p++)
		made_add(&made->space, &made_params[p], is_small);
	made->space.allows = made_allows;
	if (fw_tune_space_seal(&made->space, NULL))
		abort();
	for (uint64_t i = 0; i < made->space.n_valid; i++) {
		struct fw_tune_config config;
		double s;

		fw_tune_space_config(&made->space, made->space.keys[i], &config);
		s = made_seconds(made, &config);
		if (s > 0 && s < made->best)
			made->best = s;
	}
}

#endif
