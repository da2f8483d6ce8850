/*
 * Points of a specification's space, for tests that compile or emulate them:
 *	tune_points SPEC COUNT SEED [SET=NUMBER...]
 * Prints the number of valid configurations, then the default one and COUNT at random, a JSON object a line: compiler
 * options, launch and arguments at these sizes. COUNT "all": every one.
 */
#include "tune/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const struct fw_error *err)
{
	fprintf(stderr, "tune_points: %s\n", err->message);
	exit(1);
}

static void check(fw_status status, const struct fw_error *err)
{
	if (status)
		fail(err);
}

static void print_list(const char *name, const uint32_t *items)
{
	printf(", \"%s\": [%u, %u, %u]", name, items[0], items[1], items[2]);
}

static void print_args(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
		       const int64_t *sizes)
{
	struct fw_error err = { 0 };

	printf(", \"args\": [");
	for (uint32_t i = 0; i < spec->n_args; i++) {
		const struct fw_tune_arg *arg = &spec->args[i];
		uint64_t elements = 0;
		int64_t value = 0;

		if (!arg->is_scalar)
			check(fw_tune_spec_elements(spec, i, sizes, &elements, &err), &err);
		else if (arg->type > FW_TUNE_F64)
			check(fw_tune_spec_scalar(spec, i, config, sizes, &value, &err), &err);
		printf("%s{\"name\": \"%s\", \"type\": \"%s\", \"elements\": %" PRIu64
		       ", \"integer\": %" PRId64 ", \"real\": %.17g, \"fill\": %d, \"low\": %.17g, "
		       "\"high\": %.17g, \"output\": %d, \"inout\": %d, \"rel\": %.17g, \"abs\": "
		       "%.17g}",
		       i ? ", " : "", arg->name, fw_tune_type_name(arg->type), elements, value,
		       arg->real, arg->fill, arg->low, arg->high, arg->is_output, arg->is_inout,
		       arg->rel, arg->abs);
	}
	printf("]");
}

static void print_point(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			const int64_t *sizes)
{
	struct fw_tune_options options;
	struct fw_tune_launch launch;
	struct fw_error err = { 0 };

	check(fw_tune_options_make(spec, config, sizes, &options, &err), &err);
	check(fw_tune_spec_launch(spec, config, sizes, &launch, &err), &err);
	printf("{\"key\": %" PRIu64 ", \"kernel\": \"%s\", \"options\": [",
	       fw_tune_space_key(&spec->space, config), options.kernel);
	for (uint32_t i = 0; i < options.n; i++)
		printf("%s\"%s\"", i ? ", " : "", options.items[i]);
	printf("]");
	print_list("grid", launch.grid);
	print_list("block", launch.block);
	printf(", \"smem\": %u", launch.dynamic_smem);
	print_args(spec, config, sizes);
	printf("}\n");
	fw_tune_options_release(&options);
}

static void take_size(const struct fw_tune_spec *spec, const char *text, int64_t *sizes)
{
	const char *equals = strchr(text, '=');

	for (uint32_t i = 0; equals && i < spec->n_sets; i++) {
		const char *name = spec->sets[i].name;

		if (strlen(name) == (size_t)(equals - text) &&
		    !strncmp(name, text, (size_t)(equals - text))) {
			sizes[i] = strtoll(equals + 1, NULL, 10);
			return;
		}
	}
	fprintf(stderr, "tune_points: %s: no such set\n", text);
	exit(2);
}

int main(int argc, char **argv)
{
	int64_t sizes[FW_TUNE_MAX_SETS];
	struct fw_tune_config config;
	struct fw_tune_spec spec;
	struct fw_error err = { 0 };
	struct fw_tune_rng rng;

	if (argc < 4)
		return 2;
	check(fw_tune_spec_read(argv[1], &spec, &err), &err);
	for (uint32_t i = 0; i < spec.n_sets; i++)
		sizes[i] = spec.sets[i].number;
	for (int i = 4; i < argc; i++)
		take_size(&spec, argv[i], sizes);
	printf("%" PRIu64 "\n", spec.space.n_valid);
	if (fw_tune_space_preset(&spec.space, &config))
		print_point(&spec, &config, sizes);
	if (!strcmp(argv[2], "all")) {
		for (uint64_t i = 0; i < spec.space.n_valid; i++) {
			fw_tune_space_config(&spec.space, spec.space.keys[i], &config);
			print_point(&spec, &config, sizes);
		}
	}
	fw_tune_rng_seed(&rng, strtoull(argv[3], NULL, 10));
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
		fw_tune_space_random(&spec.space, &rng, &config);
		print_point(&spec, &config, sizes);
	}
	fw_tune_spec_free(&spec);
	return 0;
}
