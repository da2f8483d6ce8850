#ifndef FW_PIPELINE_GPU_ARGS_H
#define FW_PIPELINE_GPU_ARGS_H
/*
 * What the kernels of the pipeline are given. Read by the C compiler, by nvcc and by NVRTC: no header, only types that are
 * the same for all of them. Addresses are of the GPU's memory.
 */

/* struct fw_image_plane and struct fw_gpu_picture; preprocess_gpu.c proves the layout. */
struct fw_kernel_plane {
	unsigned width, height, stride, offset;
};
struct fw_kernel_picture {
	unsigned long long cell;
	unsigned kind, width, height, source_width, source_height, scale_num, scale_den;
	unsigned orientation, n_planes, compressed_bytes;
	struct fw_kernel_plane planes[3];
	unsigned is_present, pad;
};

/* enum fw_image_kind */
#define FW_KERNEL_YCBCR  0
#define FW_KERNEL_GREY   1
#define FW_KERNEL_RGB    2
#define FW_KERNEL_TENSOR 3

/* One axis of a picture, as struct fw_axis; its windows and weights lie in the scratch. */
struct fw_kernel_axis {
	double scale, support;
	unsigned long long offset;
	unsigned n_pixels, n_taps, decoded;
	int position, step, pad;
};

/* A plane, checked. */
struct fw_kernel_source {
	unsigned long long data;
	unsigned width, height, stride;
	unsigned h_shift, v_shift, pad; /* log2 of the picture's samples for one of the plane */
};

/* What is known of a picture before its pixels are looked at. */
struct fw_kernel_plan {
	unsigned is_sound; /* else it becomes zeros */
	unsigned kind, is_interleaved, is_turned;
	struct fw_kernel_axis axes[2]; /* along a row, down a column */
	struct fw_kernel_source planes[3];
};

struct fw_preprocess_args {
	unsigned long long pictures; /* n struct fw_kernel_picture */
	unsigned long long plans;    /* n struct fw_kernel_plan */
	/* For each picture and axis: crop first samples; max_taps rows of crop weights. */
	unsigned long long firsts, weights;
	unsigned long long input;
	unsigned long long cell_bytes;
	unsigned resize, crop, max_taps;
	unsigned tile_rows;    /* of the crop, for one block */
	unsigned precision;    /* enum fw_nn_precision, of the input */
	unsigned pixel_stride; /* elements */
	unsigned is_packed;    /* pixels are four elements, aligned so that one store writes them */
	unsigned pad;
	float scale[3], shift[3]; /* input = level * scale + shift */
};

struct fw_top_args {
	unsigned long long scores, answers;
	unsigned long long row_step; /* elements from one image to the next */
	unsigned classes, top;
	unsigned pixels, pixel_stride; /* class k is channel k / pixels of pixel k % pixels */
	unsigned precision, are_probabilities;
};

/* struct fw_gpu_answer */
struct fw_kernel_answer {
	unsigned id;
	float probability;
};

#endif
