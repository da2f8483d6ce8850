#ifndef FW_DOCTOR_GPUS_H
#define FW_DOCTOR_GPUS_H
/* What NVML says of the GPUs, asked once; a check that needs it says why where it is missing. */
#include "base/error.h"
#include "gpu/nvml.h"

#include <stdbool.h>

#define FW_GPUS_MAX      64u
#define FW_GPU_PROCESSES 64u

struct fw_gpu {
	int result; /* of asking for it; the rest holds if 0 */
	struct fw_nvml_identity id;
	struct fw_nvml_state now;
	struct fw_nvml_process processes[FW_GPU_PROCESSES]; /* that compute */
	unsigned process_count;
	int process_result;
};

/* Immutable once asked. */
struct fw_gpus {
	bool was_asked;
	int result;    /* FW_NVML_SUCCESS: asked and answered */
	char why[512]; /* why not, otherwise */
	char driver[FW_NVML_NAME_BYTES];
	struct fw_nvml_figure cuda; /* newest CUDA of the driver, 13000 is 13.0 */
	unsigned count, read;       /* read: of which there are facts, at most FW_GPUS_MAX */
	struct fw_gpu *gpus;
};

/* library NULL: the driver's own. Release with fw_gpus_release. */
fw_status fw_gpus_ask(struct fw_gpus *gpus, const char *library, struct fw_error *err);
void fw_gpus_release(struct fw_gpus *gpus);

#endif
