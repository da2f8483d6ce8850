#ifndef FW_NN_KERNEL_ARGS_H
#define FW_NN_KERNEL_ARGS_H
/*
 * What a kernel of the model engine is given, by value. Read by the C compiler, by nvcc and by NVRTC: no header, only
 * types that are the same for all of them. Steps and counts are of elements.
 */
struct fw_kernel_tensor {
	unsigned long long data;
	long long sample_step; /* from one sample to the next; 0: the same for all */
	int n, h, w, c;
	int pixel_step; /* 0: one pixel for all (squeeze and excite) */
	int padded_c;   /* channels from c on are written as zero */
};

struct fw_kernel_args {
	struct fw_kernel_tensor input, second, output;
	unsigned long long weight, bias; /* of the tensors' type; bias 0: none */
	int r, s, stride_y, stride_x, pad_top, pad_left, dilation_y, dilation_x;
	int counts_padding, heads;
	int act;       /* enum fw_nn_activation */
	int operation; /* enum fw_nn_elementwise */
	float low, high, alpha, beta;
	float input_high; /* the input is read as min(x, input_high): the clip that its writer left out */
	float epsilon, scale;
};

#endif
