/* Elements made from numbers, and told in words. */
#include "tune/element.h"

#include "tune/compare.h"
#include "tune/floating.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fw_tune_element_store(enum fw_tune_type type, double value, int64_t integer, void *to)
{
	float f = (float)value;
	uint16_t half;

	switch (type) {
	case FW_TUNE_F16:
		half = fw_tune_half_bits(value);
		memcpy(to, &half, 2);
		return;
	case FW_TUNE_BF16:
		half = fw_tune_bfloat_bits(value);
		memcpy(to, &half, 2);
		return;
	case FW_TUNE_F32: memcpy(to, &f, 4); return;
	case FW_TUNE_F64: memcpy(to, &value, 8); return;
	default: memcpy(to, &integer, fw_tune_type_bytes(type)); return;
	}
}

static bool is_poison(const unsigned char *element, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++)
		if (element[i] != FW_TUNE_POISON)
			return false;
	return true;
}

void fw_tune_element_text(enum fw_tune_type type, const void *element, char *text, size_t bytes)
{
	uint32_t width = fw_tune_type_bytes(type), shift = 64 - 8 * width;
	uint64_t bits = 0;

	memcpy(&bits, element, width);
	if (fw_tune_type_is_floating(type) && is_poison(element, width))
		snprintf(text, bytes, "nothing written");
	else if (fw_tune_type_is_floating(type))
		snprintf(text, bytes, "%.9g", fw_tune_floating_value(type, bits));
	else if (type == FW_TUNE_I8 || type == FW_TUNE_I16 || type == FW_TUNE_I32 ||
		 type == FW_TUNE_I64)
		snprintf(text, bytes, "%" PRId64, (int64_t)(bits << shift) >> shift);
	else
		snprintf(text, bytes, "%" PRIu64, bits);
}
