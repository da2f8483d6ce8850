/* Conversions between double and the floating types of elements. */
#include "tune/floating.h"

#include <math.h>
#include <string.h>

static double half_value(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value;

	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else
		value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return bits & 0x8000 ? -value : value;
}

uint16_t fw_tune_half_bits(double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double magnitude = fabs(value);
	int exponent;

	if (isnan(value))
		return 0x7e00;
	if (magnitude >= 65520) /* halfway from the largest, 65504, to the next */
		return sign | 0x7c00;
	if (magnitude < 6.103515625e-5) /* 2^-14: below are multiples of 2^-24 */
		return sign | (uint16_t)nearbyint(ldexp(magnitude, 24));
	frexp(magnitude, &exponent);
	/* 1024 to 2048 steps; a carry into the exponent is just right. */
	return sign | (uint16_t)(((exponent + 14) << 10) +
				 (int)nearbyint(ldexp(magnitude, 11 - exponent)) - 1024);
}

uint16_t fw_tune_bfloat_bits(double value)
{
	float f = (float)value;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if (isnan(value))
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double fw_tune_floating_value(enum fw_tune_type type, uint64_t bits)
{
	uint32_t word = type == FW_TUNE_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
	double value;
	float f;

	if (type == FW_TUNE_F16)
		return half_value((uint16_t)bits);
	memcpy(&f, &word, sizeof(f));
	memcpy(&value, &bits, sizeof(value));
	return type == FW_TUNE_F64 ? value : (double)f;
}
