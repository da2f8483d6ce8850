/* Kernels whose names hold their launch bounds; some ask for more blocks than an SM can hold. */
#define KERNEL(threads, blocks)                                                                    \
	extern "C" __global__ void __launch_bounds__(threads, blocks)                              \
		bounds_##threads##_##blocks(float *p)                                              \
	{                                                                                          \
		p[threadIdx.x] += 1;                                                               \
	}

KERNEL(256, 4)
KERNEL(384, 1)
KERNEL(160, 2)
KERNEL(192, 3)
KERNEL(224, 3)
KERNEL(128, 8)
KERNEL(96, 5)
KERNEL(320, 3)
KERNEL(64, 16)
KERNEL(33, 7)
KERNEL(33, 20)
KERNEL(33, 24)
KERNEL(65, 20)
KERNEL(97, 14)
KERNEL(512, 3)
KERNEL(640, 3)
KERNEL(1024, 1)
KERNEL(1024, 2)
KERNEL(32, 32)
KERNEL(64, 1)
