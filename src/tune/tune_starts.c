/* Configurations that are worth asking first: the block sizes that serve most kernels. */
#include "tune/tune_run.h"

/* Configurations looked at for one number of threads. */
#define TRIES_MAX 20000

static bool has_threads(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			uint32_t threads)
{
	struct fw_tune_launch launch;

	return fw_tune_space_is_valid(&spec->space, config) &&
	       !fw_tune_spec_launch(spec, config, NULL, &launch, NULL) &&
	       (uint64_t)launch.block[0] * launch.block[1] * launch.block[2] == threads;
}

struct looked_for {
	const struct fw_tune_spec *spec;
	uint32_t threads;
	unsigned tries;
	struct fw_tune_config *config; /* the default where nothing is tried */
};

/* Parameter p at each of its values, else as config is. */
static bool try_values(struct looked_for *f, uint32_t p)
{
	uint16_t kept = f->config->value[p];

	for (uint32_t v = 0; v < f->spec->space.params[p].n_values && f->tries < TRIES_MAX; v++) {
		f->config->value[p] = (uint16_t)v;
		f->tries++;
		if (has_threads(f->spec, f->config, f->threads))
			return true;
	}
	f->config->value[p] = kept;
	return false;
}

/* One value changed, or two. */
static bool find(struct looked_for *f)
{
	const struct fw_tune_space *space = &f->spec->space;

	for (uint32_t p = 0; p < space->n_params; p++)
		if (try_values(f, p))
			return true;
	for (uint32_t p = 0; p < space->n_params; p++) {
		uint16_t kept = f->config->value[p];

		for (uint32_t v = 0; v < space->params[p].n_values; v++) {
			f->config->value[p] = (uint16_t)v;
			for (uint32_t q = p + 1; q < space->n_params; q++)
				if (try_values(f, q))
					return true;
		}
		f->config->value[p] = kept;
	}
	return false;
}

uint32_t fw_tune_starts(const struct fw_tune_spec *spec,
			struct fw_tune_config starts[FW_TUNE_MAX_STARTS])
{
	static const uint32_t threads[] = { 128, 256 };
	struct fw_tune_config preset = { 0 };
	uint32_t n = 0;

	for (uint32_t p = 0; p < spec->space.n_params; p++)
		preset.value[p] = (uint16_t)spec->space.params[p].preset;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct looked_for f = { spec, threads[i], 0, &starts[n] };

		starts[n] = preset;
		if (!has_threads(spec, &preset, threads[i]) && find(&f))
			n++;
	}
	return n;
}
