__global__ void a(int *x); template <typename T> __global__ void b(T *x) {}
