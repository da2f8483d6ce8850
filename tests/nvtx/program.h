#ifndef TESTS_NVTX_PROGRAM_H
#define TESTS_NVTX_PROGRAM_H
/* A second instance of NVTX's headers in the same program. */
void second_instance(void);
#endif
