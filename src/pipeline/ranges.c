/* NVTX ranges of the stages. */
#include "pipeline/ranges.h"

#if FW_PIPELINE_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

void fw_range_push(const char *name)
{
	nvtxRangePushA(name);
}

void fw_range_pop(void)
{
	nvtxRangePop();
}
#else
void fw_range_push(const char *name)
{
	(void)name;
}

void fw_range_pop(void)
{
}
#endif
