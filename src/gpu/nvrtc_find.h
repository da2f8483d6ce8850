#ifndef FW_GPU_NVRTC_FIND_H
#define FW_GPU_NVRTC_FIND_H
/* Where this machine may have a libnvrtc. */
#include "gpu/nvrtc.h"

/* The i-th library to try, best first; "" for a place that there is not. False: no more. */
bool fw_nvrtc_candidate(unsigned i, char candidate[FW_NVRTC_PATH_BYTES]);

#endif
