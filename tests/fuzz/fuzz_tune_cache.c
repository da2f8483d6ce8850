/* Any bytes as a tuning cache, and as a recorded space of any of the formats. */
#include "tune/cache.h"
#include "tune/recorded.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fw_tune_conditions conditions = { .l2 = "warm", .gpu = "H200", .kernel = "k" };

static void read_as_cache(const char *text, size_t size, const struct fw_tune_space *space)
{
	const struct fw_tune_cache_options options = { .space = space, .conditions = &conditions };
	struct fw_tune_cache *cache;

	if (fw_tune_cache_open(&options, &cache, NULL))
		return;
	fw_tune_cache_read_text(cache, text, size, NULL);
	fw_tune_cache_close(cache, NULL);
}

static void read_as_space(const char *text, size_t size)
{
	struct fw_tune_search_options options = { .strategy = "genetic", .budget = 30 };
	struct fw_tune_recorded recorded;
	double fraction;

	if (fw_tune_recorded_parse("file", text, size, &recorded, NULL))
		return;
	if (fw_tune_simulate(&recorded, &options, &fraction, NULL) || fraction < 0 || fraction > 1)
		abort();
	fw_tune_recorded_free(&recorded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fw_tune_value values[] = { { "1", 1 }, { "2", 2 } };
	const struct fw_tune_param param = { .name = "A", .n_values = 2, .values = values };
	struct fw_tune_space space = { 0 };
	char *text =
		malloc(size ? size : 1); /* of just that size, so that a byte too many is found */

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	read_as_space(text, size);
	if (!fw_tune_space_add(&space, &param, NULL) && !fw_tune_space_seal(&space, NULL))
		read_as_cache(text, size, &space);
	fw_tune_space_free(&space);
	free(text);
	return 0;
}
