/*
 * The embedded source of the pipeline's kernels, compiled by a real NVRTC as a build without nvcc does it: every kernel that
 * is asked for is in the cubin. Skips (77) where there is no NVRTC.
 */
#include "gpu/nvrtc.h"
#include "pipeline/gpu_kernels.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	static const char *const options[] = { "-arch=sm_90", "-std=c++14", "-default-device",
					       "--fmad=false" };
	static const char *const names[] = { ".text.preprocess_plan", ".text.preprocess_tile",
					     ".text.top_classes" };
	const struct fw_nvrtc_job job = { .source = fw_pipeline_kernel_source,
					  .name = "pipeline_kernels.cu",
					  .options = options,
					  .n_options = 4 };
	struct fw_nvrtc_output output;
	struct fw_nvrtc nvrtc;
	struct fw_error err;
	int missing = 0;

	if (fw_nvrtc_open(&nvrtc, NULL, &err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	if (fw_nvrtc_compile(&nvrtc, &job, &output, &err)) {
		printf("%s\n", err.message);
		return 1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!memmem(output.cubin, output.cubin_bytes, names[i], strlen(names[i]))) {
			printf("%s is not in the cubin\n", names[i]);
			missing++;
		}
	fw_nvrtc_output_release(&output);
	fw_nvrtc_close(&nvrtc);
	return missing != 0;
}
