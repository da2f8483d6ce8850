#ifndef FW_TUNE_EFFECTS_H
#define FW_TUNE_EFFECTS_H
/* What of the gain came from which parameter, as far as the configurations measured can tell. */
#include "tune/tune.h"

struct fw_tune_effect {
	uint32_t param;
	double ratio; /* of the mean times (geometric) at its slowest and its fastest value; 1: no effect */
	double share;     /* of the logarithms of all ratios; -1: there is no effect at all */
	uint32_t fastest; /* value */
};

/* By ratio, largest first; values that fewer than two configurations had are left out. Returns how many: up to n_params. */
uint32_t fw_tune_effects(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
			 struct fw_tune_effect effects[FW_TUNE_MAX_PARAMS]);

/* A bit for each parameter that changes the shape of the block. */
uint32_t fw_tune_block_params(const struct fw_tune_spec *spec);

/*
 * The fastest entry that differs from the default in block parameters only; -1: none but the default itself was measured.
 * measured: how many there are.
 */
ptrdiff_t fw_tune_best_block(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
			     uint32_t *measured);

#endif
