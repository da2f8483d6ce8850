#ifndef FW_RULES_KERNEL_KIND_H
#define FW_RULES_KERNEL_KIND_H
/* What the names of the libraries' kernels say: matrix work and its precision, elementwise work. */

enum fw_matrix_kind {
	FW_MATRIX_NONE,  /* no matrix product or convolution, or an unknown one */
	FW_MATRIX_FP32,  /* fp32 on the ordinary cores */
	FW_MATRIX_TF32,  /* fp32 data on tensor cores */
	FW_MATRIX_NARROW /* half, bfloat16 or narrower */
};

/* NVIDIA's libraries and Triton; other names are FW_MATRIX_NONE. Any bytes are accepted. */
enum fw_matrix_kind fw_matrix_kind(const char *name);

/* True for kernels that read and write each element once: candidates for fusion. */
int fw_is_elementwise(const char *name);

#endif
