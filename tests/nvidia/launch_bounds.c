/* Register caps that nvcc wrote into cubins against those that we predict: no difference allowed. */
#include "binary/binary.h"
#include "occupancy/advice.h"

#include <stdio.h>

static int compare(const struct fw_kernel *kernel)
{
	const struct fw_hw_limits *hw;
	unsigned threads, blocks, cap;

	if (sscanf(kernel->name, "bounds_%u_%u", &threads, &blocks) != 2 ||
	    fw_hw_limits_find((unsigned)kernel->target.cc, &hw, NULL))
		return 1;
	cap = fw_register_cap(hw, threads, blocks);
	if (kernel->register_cap == (int)cap)
		return 0;
	printf("sm_%d __launch_bounds__(%u, %u): nvcc %d, predicted %u\n", kernel->target.cc,
	       threads, blocks, kernel->register_cap, cap);
	return 1;
}

int main(int argc, char **argv)
{
	struct fw_binary *binary = NULL;
	struct fw_error err;
	int differences = 0;

	if (argc < 2 ||
	    fw_binary_open(&binary, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &err)) {
		printf("%s\n", argc < 2 ? "usage: nvidia_launch_bounds CUBIN..." : err.message);
		return 1;
	}
	for (size_t i = 0; i < binary->kernel_count; i++)
		differences += compare(&binary->kernels[i]);
	printf("%zu kernels, %d differences\n", binary->kernel_count, differences);
	differences += binary->kernel_count < 20;
	fw_binary_close(binary);
	return differences != 0;
}
