#ifndef FW_NN_CUDNN_IMAGE_H
#define FW_NN_CUDNN_IMAGE_H
/* Our own kernels as the program holds them: machine code of the GPUs that nvcc was asked for, or the source alone. */
#include "nn/cudnn_gpu.h"

/* Of kernels/nn_*.cu, made by the build. */
extern const unsigned char fw_nn_fatbin[]; /* empty where the build had no nvcc */
extern const unsigned long fw_nn_fatbin_bytes;
extern const char fw_nn_kernel_source[];

fw_status fw_nn_image_load(const struct fw_nn_gpu *gpu, void **module, struct fw_error *err);

/* One line for people: how this build has its kernels. */
const char *fw_nn_image_kind(void);

#endif
