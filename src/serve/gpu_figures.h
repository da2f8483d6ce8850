#ifndef FW_SERVE_GPU_FIGURES_H
#define FW_SERVE_GPU_FIGURES_H
/* How full the GPU is that the engine computes on, for /metrics: by NVML, and by GPM, which locks no profiler out. */
#include "gpu/cuda.h"
#include "metrics/openmetrics.h"
#include "sample/devices.h"

#include <pthread.h>

/* Any thread, but for opening and closing. */
struct fw_gpu_figures {
	pthread_mutex_t lock; /* guards all below */
	struct fw_devices *devices;
	struct fw_machine_sample *machine;
	char uuid[FW_CUDA_UUID_BYTES];
	int64_t read_ns;
};

/* The GPU that CUDA counts as this one: CUDA_VISIBLE_DEVICES makes its numbers others than NVML's. Empty: CUDA does not tell. */
void fw_gpu_find_uuid(unsigned device, char uuid[FW_CUDA_UUID_BYTES]);

/* library: NULL, NVML's usual one. Succeeds without a driver too; there is nothing to write then. */
fw_status fw_gpu_figures_open(struct fw_gpu_figures *figures, const char *uuid, const char *library,
			      struct fw_error *err);
/* Reads at most once a second, else writes what was read before. What is unknown is left out. */
void fw_gpu_figures_write(struct fw_gpu_figures *figures, int64_t now_ns,
			  struct fw_openmetrics *writer);
void fw_gpu_figures_close(struct fw_gpu_figures *figures);

#endif
