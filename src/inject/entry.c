/* What the CUDA driver calls in the library named by CUDA_INJECTION64_PATH, when a program starts CUDA. */
#include "inject/entry.h"

#include "inject/recorder.h"

int InitializeInjection(void)
{
	if (fw_recorder_start())
		fw_recorder_attach_cuda();
	/* 1 is success; a program that cannot be recorded runs on all the same. */
	return 1;
}
