/* Kernel names -> what they compute. Sources of the patterns: names in the recorded traces. */
#include "rules/kernel_kind.h"

#include <stddef.h>
#include <string.h>

/* Names are looked at up to here: what tells lies in front, and a name may be very long. */
#define NAME_BYTES 512

static void lower(char *to, const char *name)
{
	size_t i = 0;

	for (; name[i] && i + 1 < NAME_BYTES; i++)
		to[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
	to[i] = '\0';
}

static int has_any(const char *name, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name, parts[i]))
			return 1;
	return 0;
}

#define HAS(name, parts) has_any(name, parts, sizeof(parts) / sizeof(parts[0]))

enum fw_matrix_kind fw_matrix_kind(const char *name)
{
	static const char *const matrix[] = { "gemm",     "xmma",     "scudnn",        "nvjet",
					      "fprop",    "dgrad",    "wgrad",         "winograd",
					      "convolve", "cutlass_", "conv2d_grouped" };
	static const char *const not_matrix[] = { "splitkreduce", "nchwtonhwc", "nhwctonchw" };
	static const char *const narrow[] = { "f16",   "fp16",  "half",  "hgemm",  "h884",
					      "h1688", "s884",  "int8",  "s8_",    "e4m3",
					      "e5m2",  "fp8",   "i8i8",  "bfloat", "nvjet_hs",
					      "_hsh_", "_tst_", "_hss_", "_tss_" };
	static const char *const tf32[] = { "tf32", "tensorop_s1688", "_sss_" };
	static const char *const fp32[] = { "sgemm",         "scudnn",     "f32f32_f32f32",
					    "simt",          "winograd",   "convolve",
					    "_engine<float", "gemm<float", "gemmsn",
					    "<float, float" };
	char text[NAME_BYTES];

	lower(text, name);
	if (!HAS(text, matrix) || HAS(text, not_matrix))
		return FW_MATRIX_NONE;
	if (HAS(text, narrow))
		return FW_MATRIX_NARROW;
	if (HAS(text, tf32))
		return FW_MATRIX_TF32;
	return HAS(text, fp32) ? FW_MATRIX_FP32 : FW_MATRIX_NONE;
}

int fw_is_elementwise(const char *name)
{
	static const char *const parts[] = { "elementwise",          "pointwise", "triton_poi",
					     "vectorized",           "catarray",  "bn_fw_inf",
					     "batch_norm_transform", "threshold" };
	char text[NAME_BYTES];

	lower(text, name);
	return HAS(text, parts);
}
