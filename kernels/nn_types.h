/* Loads, stores and activations. Arithmetic is done in fp32 whatever the tensors' type is. */
#include "nn/kernel_args.h"

#define MINUS_INFINITY __int_as_float(0xff800000)

struct f16 {
	unsigned short bits;
};
struct bf16 {
	unsigned short bits;
};

__device__ __forceinline__ float widen(float x)
{
	return x;
}
__device__ __forceinline__ float widen(f16 x)
{
	float f;

	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
	return f;
}
__device__ __forceinline__ float widen(bf16 x)
{
	return __uint_as_float((unsigned)x.bits << 16);
}
__device__ __forceinline__ void narrow(float f, float &x)
{
	x = f;
}
__device__ __forceinline__ void narrow(float f, f16 &x)
{
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x.bits) : "f"(f));
}
__device__ __forceinline__ void narrow(float f, bf16 &x)
{
#if __CUDA_ARCH__ >= 800
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x.bits) : "f"(f));
#else
	unsigned u = __float_as_uint(f);

	if (f != f)
		x.bits = 0x7fff;
	else
		x.bits = (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
#endif
}

/* Elements that one thread moves at once: 16 bytes, or one element where channels or addresses are not multiples. */
template <typename T, bool VECTOR> struct lanes {
	static const int count = VECTOR ? 16 / (int)sizeof(T) : 1;
};

template <typename T, int V> union pack {
	uint4 raw;
	T item[V];
};

template <typename T, int V> __device__ __forceinline__ void load(const T *from, float (&to)[V])
{
	if (V == 1) {
		to[0] = widen(from[0]);
	} else {
		pack<T, V> p;

		p.raw = *reinterpret_cast<const uint4 *>(from);
#pragma unroll
		for (int i = 0; i < V; i++)
			to[i] = widen(p.item[i]);
	}
}

template <typename T, int V> __device__ __forceinline__ void store(T *to, const float (&from)[V])
{
	if (V == 1) {
		narrow(from[0], to[0]);
	} else {
		pack<T, V> p;

#pragma unroll
		for (int i = 0; i < V; i++)
			narrow(from[i], p.item[i]);
		*reinterpret_cast<uint4 *>(to) = p.raw;
	}
}

/* Comparisons are written so that a NaN passes through. */
__device__ __forceinline__ float at_most(float x, float high)
{
	return x > high ? high : x;
}
__device__ __forceinline__ float at_least(float x, float low)
{
	return x < low ? low : x;
}

/* Not inlined: eight copies of every curve in every kernel would be megabytes of code. */
__device__ __noinline__ float curve(float x, int act, float alpha, float beta)
{
	switch (act) {
	case 2: return 1.0f / (1.0f + expf(-x));
	case 3: return at_most(at_least(alpha * x + beta, 0.0f), 1.0f);
	case 4: return x * at_most(at_least(x * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
	case 5: return x / (1.0f + expf(-x));
	case 6: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
	case 7: return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
	case 8: return tanhf(x);
	default: return x;
	}
}

/* By the number of enum fw_nn_activation. */
__device__ __forceinline__ float activate(float x, const fw_kernel_args &a)
{
	if (a.act == 0)
		return x;
	if (a.act == 1)
		return at_most(at_least(x, a.low), a.high);
	return curve(x, a.act, a.alpha, a.beta);
}

template <typename T>
__device__ __forceinline__ T *address(const fw_kernel_tensor &t, int n, int pixel, int c)
{
	return reinterpret_cast<T *>(t.data) + n * t.sample_step + (long long)pixel * t.pixel_step + c;
}

/* Each kernel in three types, in a form that moves 16 bytes at once and one that moves elements. */
#define NN_KERNEL(name)                                                                            \
	extern "C" __global__ void name##_f32v(const fw_kernel_args a)                             \
	{                                                                                          \
		name<float, true>(a);                                                              \
	}                                                                                          \
	extern "C" __global__ void name##_f16v(const fw_kernel_args a)                             \
	{                                                                                          \
		name<f16, true>(a);                                                                \
	}                                                                                          \
	extern "C" __global__ void name##_bf16v(const fw_kernel_args a)                            \
	{                                                                                          \
		name<bf16, true>(a);                                                               \
	}                                                                                          \
	NN_KERNEL_SCALAR(name)

#define NN_KERNEL_SCALAR(name)                                                                     \
	extern "C" __global__ void name##_f32(const fw_kernel_args a)                              \
	{                                                                                          \
		name<float, false>(a);                                                             \
	}                                                                                          \
	extern "C" __global__ void name##_f16(const fw_kernel_args a)                              \
	{                                                                                          \
		name<f16, false>(a);                                                               \
	}                                                                                          \
	extern "C" __global__ void name##_bf16(const fw_kernel_args a)                             \
	{                                                                                          \
		name<bf16, false>(a);                                                              \
	}
