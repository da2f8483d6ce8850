#ifndef FW_TESTS_BINARY_WALK_H
#define FW_TESTS_BINARY_WALK_H

/* What the fuzz targets of binaries do with a result: look at all of it. */
#include "binary/binary.h"

#include <stdlib.h>
#include <string.h>

static inline void walk_binary(const struct fw_binary *binary)
{
	enum fw_load *load = calloc(binary->image_count + 1, sizeof(*load));
	size_t len = 0;

	if (!load)
		return;
	fw_binary_choose(binary, 90, load);
	for (size_t i = 0; i < binary->kernel_count; i++)
		len += strlen(binary->kernels[i].name);
	for (size_t i = 0; i < binary->instances; i++)
		len += binary->kernels[binary->kernel_of_image[i]].copies;
	for (size_t i = 0; i < binary->image_count; i++)
		len += strlen(binary->images[i].source);
	for (size_t i = 0; i < binary->problem_count; i++)
		len += strlen(binary->problems[i].message);
	/* Never true; keeps the loops. */
	if (len == SIZE_MAX)
		abort();
	free(load);
}

/* As a file of that name, small images only, so that no input takes long for a good reason. */
static inline void open_and_walk(const uint8_t *data, size_t size)
{
	const struct fw_binary_options options = {
		.threads = 1,
		.max_unpacked = 1 << 16,
		.max_member = 1 << 16,
	};
	struct fw_binary *binary;

	if (fw_binary_open_bytes(&binary, data, size, "fuzz", &options, NULL) == FW_OK)
		walk_binary(binary);
	fw_binary_close(binary);
}

#endif
