/* A library with an instance of NVTX's headers of its own, as PyTorch has several. */
#include "program.h"

#include <nvtx3/nvToolsExt.h>

__attribute__((visibility("default"))) void second_instance(void);

void second_instance(void)
{
	nvtxRangePushA("second instance");
	nvtxRangePop();
}
