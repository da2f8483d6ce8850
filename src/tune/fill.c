/* Fills buffers: random, zero, ones, sequence. */
#include "tune/fill.h"

#include "base/map.h"
#include "tune/element.h"
#include "tune/floating.h"

#include <math.h>
#include <string.h>

/* From low up to high; integers include both. */
static void store_random(const struct fw_tune_arg *arg, uint64_t bits, unsigned char *to)
{
	double unit = (double)(bits >> 11) * 0x1p-53,
	       value = arg->low + unit * (arg->high - arg->low);
	int64_t integer = 0;

	if (!fw_tune_type_is_floating(arg->type)) {
		value = floor(arg->low + unit * (arg->high - arg->low + 1));
		value = value > arg->high ? arg->high : value;
		/* Beyond 64 bits there is nothing to fill with. */
		if (value >= -0x1p63 && value < 0x1p63)
			integer = (int64_t)value;
		else if (value >= 0x1p63 && value < 0x1p64)
			integer = (int64_t)(uint64_t)value;
	}
	fw_tune_element_store(arg->type, value, integer, to);
}

void fw_tune_fill(const struct fw_tune_spec *spec, uint32_t index, uint64_t seed, uint64_t first,
		  uint64_t count, void *to)
{
	const struct fw_tune_arg *arg = &spec->args[index];
	uint64_t stream = fw_hash_u64(seed ^ fw_hash_u64(index + 1));
	uint32_t width = fw_tune_type_bytes(arg->type);
	unsigned char *at = to;

	if (arg->fill == FW_TUNE_ZERO || arg->fill == FW_TUNE_FILE) {
		memset(to, 0, count * width);
		return;
	}
	for (uint64_t i = 0; i < count; i++, at += width) {
		uint64_t n = first + i;

		if (arg->fill == FW_TUNE_RANDOM)
			store_random(arg, fw_hash_u64(stream ^ fw_hash_u64(n + 1)), at);
		else if (arg->fill == FW_TUNE_ONES)
			fw_tune_element_store(arg->type, 1, 1, at);
		else
			fw_tune_element_store(arg->type, (double)n, (int64_t)n, at);
	}
}
