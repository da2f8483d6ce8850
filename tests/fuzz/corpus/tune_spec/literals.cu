const char *s = "__global__ void k(int *a);\""; char c = '\''; // \
__global__ void z(int *a);
/* __global__ */ __global__ void k(int *step, int set);