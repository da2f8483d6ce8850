#ifndef FW_TESTS_EMULATED_GPU_H
#define FW_TESTS_EMULATED_GPU_H
/*
 * kernels/preprocess.cu and top.cu without a GPU: the same functions, called by the threads of a block in turn, phase after
 * phase. What is written here is only what those two files hold between the calls.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "../../kernels/preprocess_tile.h"
#include "../../kernels/top_row.h"

#define FOR_THREADS(thread) for (unsigned thread = 0; thread < 256; thread++)

static inline void emulate_tile(const struct fw_preprocess_args *a, unsigned n, unsigned number,
				struct fw_tile_memory *memory)
{
	const struct fw_kernel_plan *plan = (const struct fw_kernel_plan *)a->plans + n;
	struct fw_tile tile;

	fw_tile_open(a, plan, n, number, &tile);
	FOR_THREADS(thread) fw_tile_surround(a, plan, &tile, thread);
	FOR_THREADS(thread) fw_tile_tensor(a, plan, &tile, thread);
	while (fw_tile_next(plan, &tile)) {
		for (unsigned from = 0; from < tile.rows; from += tile.group) {
			FOR_THREADS(thread) fw_tile_convert(plan, &tile, from, thread, memory);
			FOR_THREADS(thread) fw_tile_filter(a, plan, &tile, from, thread, memory);
		}
		FOR_THREADS(thread) fw_tile_write(a, plan, &tile, thread, memory);
	}
}

/* a: without plans, firsts and weights; false: no memory. */
static inline int emulate_preprocess(struct fw_preprocess_args *a, unsigned n_pictures)
{
	size_t axes = (size_t)n_pictures * 2 * a->crop;
	struct fw_kernel_plan *plans = calloc(n_pictures, sizeof(*plans));
	unsigned *firsts = malloc(axes * sizeof(*firsts));
	float *weights = malloc(axes * a->max_taps * sizeof(*weights));
	struct fw_tile_memory *memory = malloc(sizeof(*memory));
	int is_done = plans && firsts && weights && memory;

	a->plans = (uintptr_t)plans;
	a->firsts = (uintptr_t)firsts;
	a->weights = (uintptr_t)weights;
	for (unsigned n = 0; is_done && n < n_pictures; n++) {
		fw_plan_picture(a, n, &plans[n]);
		for (unsigned axis = 0; axis < 2; axis++)
			FOR_THREADS(thread) fw_plan_weights(a, &plans[n], n, axis, thread, 256);
		for (unsigned i = 0; i < (a->crop + a->tile_rows - 1) / a->tile_rows; i++)
			emulate_tile(a, n, i, memory);
	}
	free(plans);
	free(firsts);
	free(weights);
	free(memory);
	return is_done;
}

static inline unsigned long long emulate_best(const struct fw_top_args *a, unsigned row,
					      unsigned long long last, struct fw_top_memory *memory)
{
	FOR_THREADS(thread) fw_top_scan(a, row, last, thread, memory);
	for (unsigned step = FW_TOP_THREADS / 2; step; step /= 2)
		FOR_THREADS(thread) fw_top_halve(step, thread, memory);
	return memory->keys[0];
}

static inline void emulate_top(const struct fw_top_args *a, unsigned row)
{
	struct fw_top_memory memory;
	unsigned long long key = ~0ull;
	float most = 0, sum = 1, score;

	memory.is_broken = 0;
	for (unsigned place = 0; place < a->top; place++) {
		key = emulate_best(a, row, key, &memory);
		if (memory.is_broken) {
			for (unsigned i = 0; i < a->top; i++)
				fw_top_answer(a, row, i, FW_TOP_NONE, 0);
			return;
		}
		score = fw_score_of(a, row, fw_key_id(key));
		if (place == 0) {
			most = score;
			FOR_THREADS(thread) fw_top_add(a, row, most, thread, &memory);
			for (unsigned step = FW_TOP_THREADS / 2; step; step /= 2)
				FOR_THREADS(thread) fw_top_halve_sums(step, thread, &memory);
			sum = memory.sums[0];
		}
		fw_top_answer(a, row, place, fw_key_id(key),
			      a->are_probabilities ? score : expf(score - most) / sum);
	}
}

#endif
