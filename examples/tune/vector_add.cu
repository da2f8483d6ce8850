/*
 * No specification: fullwarp tune examples/tune/vector_add.cu --kernel vector_add --n 50000000
 * Memory is the limit here, so that most block sizes are equally fast, and fullwarp says so.
 */
__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}
