/*
 * The embedded source of our kernels, compiled by a real NVRTC as a build without nvcc does it at first use: every kernel
 * that the engine asks for is in the cubin. Skips (77) where there is no NVRTC.
 */
#include "gpu/nvrtc.h"
#include "nn/cudnn_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool contains(const struct fw_nvrtc_output *output, const char *name)
{
	return memmem(output->cubin, output->cubin_bytes, name, strlen(name)) != NULL;
}

static int check(const struct fw_nvrtc_output *output, const char *name, int vector, int scalar)
{
	static const char *const types[] = { "f32", "f16", "bf16" };
	char text[64];
	int missing = 0;

	for (int i = 0; i < 6; i++) {
		if (!(i < 3 ? vector : scalar))
			continue;
		snprintf(text, sizeof(text), ".text.%s_%s%s", name, types[i % 3], i < 3 ? "v" : "");
		if (!contains(output, text)) {
			printf("%s is not in the cubin\n", text);
			missing++;
		}
	}
	return missing;
}

int main(void)
{
	static const char *const options[] = { "-arch=sm_90", "-std=c++14", "-default-device",
					       "--device-debug" };
	const struct fw_nvrtc_job job = { .source = fw_nn_kernel_source,
					  .name = "nn_kernels.cu",
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
#define FW_NN_KERNEL(id, name, vector, scalar) missing += check(&output, name, vector, scalar);
#include "nn/cudnn_kernels.def"
#undef FW_NN_KERNEL
	fw_nvrtc_output_release(&output);
	fw_nvrtc_close(&nvrtc);
	printf("%d kernels are missing\n", missing);
	return missing != 0;
}
