/* Any bytes as a source with a specification: read, listed, launched and compiled for; and as a kernel without one. */
#include "tune/options.h"
#include "tune/simple.h"
#include "tune/spec_item.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Few, so that a run is short; the real limit is only larger. */
#define TESTS 2000

static void use_config(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
		       const int64_t *sizes)
{
	struct fw_tune_options options;
	struct fw_tune_launch launch;
	struct fw_error err;
	uint64_t elements;
	int64_t value;

	if (!fw_tune_spec_launch(spec, config, sizes, &launch, &err) &&
	    (!launch.grid[0] ||
	     (uint64_t)launch.block[0] * launch.block[1] * launch.block[2] > 1024))
		abort();
	(void)fw_tune_spec_reference_launch(spec, config, sizes, &launch, &err);
	if (!fw_tune_options_make(spec, config, sizes, &options, &err))
		for (uint32_t i = 0; i < options.n; i++)
			if (strlen(options.items[i]) > (1 << 20))
				abort();
	fw_tune_options_release(&options);
	for (uint32_t i = 0; i < spec->n_args; i++) {
		(void)fw_tune_spec_scalar(spec, i, config, sizes, &value, &err);
		if (!fw_tune_spec_elements(spec, i, sizes, &elements, &err) && !elements)
			abort();
	}
}

static void use(struct fw_tune_spec *spec)
{
	struct fw_tune_config config;
	struct fw_tune_rng rng;

	fw_tune_rng_seed(&rng, 1);
	if (fw_tune_space_preset(&spec->space, &config))
		use_config(spec, &config, NULL);
	for (int i = 0; i < 3 && spec->space.is_listed; i++) {
		if (!fw_tune_space_random(&spec->space, &rng, &config) ||
		    !fw_tune_space_is_valid(&spec->space, &config))
			abort();
		use_config(spec, &config, NULL);
		for (uint32_t row = 0; row < spec->n_check_sizes; row++)
			use_config(spec, &config, spec->check_sizes + (size_t)row * spec->n_sets);
	}
}

/* What --init writes is a specification of the same space. */
static void init(const struct fw_tune_spec *spec)
{
	struct fw_str out = { 0 };
	struct fw_tune_spec again;
	struct fw_error err;

	if (fw_tune_init_write(spec, NULL, &out, &err))
		abort();
	fw_str_append(&out, spec->source, spec->source_bytes);
	if (!strstr(spec->source, "fullwarp:")) {
		if (fw_tune_spec_parse("init.cu", fw_str_text(&out), out.len, &again, &err) ||
		    again.space.n_valid != spec->space.n_valid)
			abort();
		fw_tune_spec_free(&again);
	}
	fw_str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_tune_simple simple = {
		.path = "a.cu", .text = (const char *)data, .bytes = size, .n = 100000
	};
	struct fw_tune_spec spec;
	struct fw_error err;

	if (size > 65536)
		return 0;
	if (!fw_tune_spec_parse_unsealed("dir/a.cu", (const char *)data, size, &spec, &err)) {
		spec.space.max_tests = TESTS;
		/* Of more combinations, a valid one would be looked for at length. */
		if (!fw_tune_space_seal(&spec.space, &err))
			use(&spec);
		fw_tune_spec_free(&spec);
	}
	if (!fw_tune_spec_simple_parse(&simple, &spec, &err)) {
		use(&spec);
		init(&spec);
		fw_tune_spec_free(&spec);
	}
	return 0;
}
