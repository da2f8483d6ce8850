#include <x.h>
/* c */ __global__ void __launch_bounds__(256, 2) vector_add(const float *__restrict__ a, float4 const *b, half *c = 0, bool d[], int n)
{ }
