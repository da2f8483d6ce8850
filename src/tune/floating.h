#ifndef FW_TUNE_FLOATING_H
#define FW_TUNE_FLOATING_H
/* Floating elements of a buffer as double, half and bfloat16 too, which C has no types for. */
#include "tune/spec.h"

static inline bool fw_tune_type_is_floating(enum fw_tune_type type)
{
	return type <= FW_TUNE_F64;
}

/* Of a floating type; bits: the element, zero-extended. */
double fw_tune_floating_value(enum fw_tune_type type, uint64_t bits);

/* Rounded to nearest, ties to even. */
uint16_t fw_tune_half_bits(double value);
uint16_t fw_tune_bfloat_bits(double value);

#endif
