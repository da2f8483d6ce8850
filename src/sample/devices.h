#ifndef FW_SAMPLE_DEVICES_H
#define FW_SAMPLE_DEVICES_H
/* The GPUs of the machine and the processes on them, through NVML and GPM. */
#include "base/error.h"
#include "gpu/nvml.h"
#include "sample/counter_source.h"
#include "sample/values.h"

#include <stdint.h>

#define FW_SAMPLE_GPUS      64  /* more are counted, not shown */
#define FW_SAMPLE_PROCESSES 256 /* of all GPUs together */

#define FW_WHY_BYTES 256

struct fw_gpu_sample {
	unsigned index;
	struct fw_nvml_identity identity;
	int result; /* 0, or why the device does not answer, e.g. FW_NVML_GPU_IS_LOST */
	bool has_mig;
	bool has_reasons;
	uint64_t reasons;              /* FW_NVML_CLOCKS_*, if has_reasons */
	enum fw_counter_source source; /* of the counters; FW_COUNTERS_NVML: there are none */
	char why_source[FW_WHY_BYTES]; /* why not a better one; empty: it is the best */
	struct fw_value values[FW_GPU_VALUE_COUNT];
};

/* A process on a GPU; one that uses two GPUs has two entries. */
struct fw_process_sample {
	unsigned pid, gpu; /* index into the machine's GPUs */
	struct fw_value gpu_memory, gpu_busy;
};

/* What one reading found. */
struct fw_machine_sample {
	int result;    /* of NVML: 0, or why there is nothing */
	char why[512]; /* the same in words, with the loader's message */
	char driver[FW_NVML_NAME_BYTES];
	unsigned gpu_count, gpus_left_out;
	struct fw_gpu_sample gpus[FW_SAMPLE_GPUS];
	int processes_result; /* 0, or why the processes of a GPU could not be listed */
	unsigned process_count, processes_left_out;
	struct fw_process_sample processes[FW_SAMPLE_PROCESSES];
};

/* Holds NVML open, and opens it again after the driver went away or a GPU was lost. One thread. */
struct fw_devices;

/* library: NULL, libnvidia-ml.so.1. Succeeds without a driver too, which every reading looks for. */
fw_status fw_devices_open(struct fw_devices **devices, const char *library, struct fw_error *err);

/* now_ns: a steady clock. Counters are those of the time since the reading before. */
void fw_devices_read(struct fw_devices *devices, int64_t now_ns, struct fw_machine_sample *sample);

/* Where the counters of SMs and memory shall come from. */
struct fw_devices_counters {
	enum fw_counter_source source; /* AUTO: PM sampling, else GPM */
	bool spares_pm;      /* AUTO: GPM first, as PM sampling keeps profilers from the counters */
	const char *cupti;   /* NULL: libcupti is looked for */
	int64_t interval_ns; /* of PM samples */
};

/* From the next reading on; without this call it is GPM. The text is copied. */
fw_status fw_devices_set_counters(struct fw_devices *devices,
				  const struct fw_devices_counters *counters, struct fw_error *err);

/* Whether GPM, which costs most of a reading, is left out for a GPU whose counters come from elsewhere. */
void fw_devices_spare_gpm(struct fw_devices *devices, unsigned index, bool is_spared);

void fw_devices_close(struct fw_devices *devices);

#endif
