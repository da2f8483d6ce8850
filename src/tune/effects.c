#include "tune/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	double log_sum;
	uint32_t n;
};

static int compare(const void *a, const void *b)
{
	const struct fw_tune_effect *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio > y->ratio ? -1 : 1;
	return x->param < y->param ? -1 : x->param > y->param;
}

/* False: fewer than two of its values were measured twice. */
static bool effect_of(const struct fw_tune_report *report, uint32_t param,
		      struct fw_tune_effect *effect)
{
	struct sums sums[FW_TUNE_MAX_VALUES] = { { 0, 0 } };
	double least = INFINITY, most = -INFINITY;
	uint32_t n = 0;

	for (size_t i = 0; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);
		uint16_t v = e->result.config.value[param];

		if (e->guide_s <= 0 || v >= FW_TUNE_MAX_VALUES)
			continue;
		sums[v].log_sum += log(e->guide_s);
		sums[v].n++;
	}
	*effect = (struct fw_tune_effect){ .param = param };
	for (uint32_t v = 0; v < FW_TUNE_MAX_VALUES; v++) {
		double mean = sums[v].n > 1 ? sums[v].log_sum / sums[v].n : 0;

		if (sums[v].n < 2)
			continue;
		n++;
		most = fmax(most, mean);
		if (mean < least) {
			least = mean;
			effect->fastest = v;
		}
	}
	effect->ratio = exp(most - least);
	return n > 1;
}

uint32_t fw_tune_effects(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
			 struct fw_tune_effect effects[FW_TUNE_MAX_PARAMS])
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t p = 0; p < spec->space.n_params; p++) {
		if (!effect_of(report, p, &effects[n]))
			continue;
		sum += log(effects[n].ratio);
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		effects[i].share = sum > 0 ? log(effects[i].ratio) / sum : -1;
	qsort(effects, n, sizeof(*effects), compare);
	return n;
}

uint32_t fw_tune_block_params(const struct fw_tune_spec *spec)
{
	const struct fw_tune_space *space = &spec->space;
	struct fw_tune_config preset = { 0 };
	struct fw_tune_launch base, launch;
	uint32_t params = 0;

	for (uint32_t p = 0; p < space->n_params; p++)
		preset.value[p] = (uint16_t)space->params[p].preset;
	if (fw_tune_spec_launch(spec, &preset, NULL, &base, NULL))
		return 0;
	for (uint32_t p = 0; p < space->n_params; p++)
		for (uint32_t v = 0; v < space->params[p].n_values; v++) {
			struct fw_tune_config config = preset;

			config.value[p] = (uint16_t)v;
			if (!fw_tune_spec_launch(spec, &config, NULL, &launch, NULL) &&
			    memcmp(launch.block, base.block, sizeof(base.block)))
				params |= UINT32_C(1) << p;
		}
	return params;
}

ptrdiff_t fw_tune_best_block(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
			     uint32_t *measured)
{
	uint32_t block = fw_tune_block_params(spec);
	const struct fw_tune_space *space = &spec->space;
	ptrdiff_t best = -1;

	*measured = 0;
	for (size_t i = 0; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);
		bool is_block = e->guide_s >= 0 && (ptrdiff_t)i != report->preset;

		for (uint32_t p = 0; is_block && p < space->n_params; p++)
			is_block = (block >> p & 1) ||
				   e->result.config.value[p] == space->params[p].preset;
		if (!is_block)
			continue;
		++*measured;
		if (best < 0 || e->guide_s < fw_tune_entry(report, (size_t)best)->guide_s)
			best = (ptrdiff_t)i;
	}
	return best;
}
