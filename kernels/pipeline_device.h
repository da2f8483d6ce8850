#ifndef FW_KERNELS_PIPELINE_DEVICE_H
#define FW_KERNELS_PIPELINE_DEVICE_H
/*
 * What the pipeline's kernels are written in: C that nvcc, NVRTC and a C compiler take. The last runs them in loops, as
 * threads of a block that take turns (tests/unit), so that every phase between two barriers is a function of its own.
 * No product may be fused with a sum (--fmad=false): the results are those of the CPU's code, bit for bit.
 */
#include "pipeline/gpu_args.h"

#ifdef __CUDACC__
#define FW_DEVICE static __device__ __forceinline__
#else
#define FW_DEVICE static inline
#endif

#define FW_WARP 32u

FW_DEVICE unsigned fw_min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

union fw_float_bits {
	float value;
	unsigned bits;
};

/* To the bits of a half, rounded to nearest even. */
FW_DEVICE unsigned fw_half_of(float value)
{
#ifdef __CUDACC__
	unsigned short half;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
	return half;
#else
	union fw_float_bits x = { value };
	unsigned sign = x.bits >> 16 & 0x8000, magnitude = x.bits & 0x7fffffff;
	unsigned exponent = magnitude >> 23, fraction = (magnitude & 0x7fffff) | 0x800000;
	unsigned shift, half, rest;

	if (magnitude > 0x7f800000)
		return 0x7fff;
	if (exponent >= 143) /* 2^16 and more */
		return sign | 0x7c00;
	if (exponent < 102) /* below half of the least half */
		return sign;
	shift = exponent < 113 ? 126 - exponent : 13;
	half = (exponent < 113 ? 0 : (exponent - 113) << 10) + (fraction >> shift);
	rest = fraction & ((1u << shift) - 1);
	if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && half % 2))
		half++;
	return sign | half;
#endif
}

FW_DEVICE float fw_half_value(unsigned half)
{
#ifdef __CUDACC__
	float value;
	unsigned short bits = (unsigned short)half;

	asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
	return value;
#else
	unsigned exponent = half >> 10 & 31, fraction = half & 0x3ff;
	union fw_float_bits x;

	if (!exponent) {
		x.value = (float)fraction / 16777216; /* 2^24 */
		x.bits |= (half & 0x8000) << 16;
		return x.value;
	}
	exponent = exponent == 31 ? 255 : exponent + 112;
	x.bits = (half & 0x8000) << 16 | exponent << 23 | fraction << 13;
	return x.value;
#endif
}

FW_DEVICE unsigned fw_bfloat_of(float value)
{
	union fw_float_bits x;

	x.value = value;
	if ((x.bits & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (x.bits + 0x7fff + (x.bits >> 16 & 1)) >> 16;
}

/* The bits of a value in the type of enum fw_nn_precision. */
FW_DEVICE unsigned fw_narrow(float value, unsigned precision)
{
	union fw_float_bits x;

	if (precision == 1)
		return fw_half_of(value);
	if (precision == 2)
		return fw_bfloat_of(value);
	x.value = value;
	return x.bits;
}

FW_DEVICE float fw_element(unsigned long long data, unsigned long long i, unsigned precision)
{
	union fw_float_bits x;

	if (precision == 0)
		return ((const float *)data)[i];
	x.bits = ((const unsigned short *)data)[i];
	if (precision == 1)
		return fw_half_value(x.bits);
	x.bits <<= 16;
	return x.value;
}

#endif
