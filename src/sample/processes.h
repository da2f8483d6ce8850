#ifndef FW_SAMPLE_PROCESSES_H
#define FW_SAMPLE_PROCESSES_H
/* The processes on one GPU, as NVML lists them, with what can be believed of their samples. */
#include "sample/devices.h"

/* A part of real time: samples of it count; older ones, which the driver hands out too, do not. */
struct fw_sample_span {
	uint64_t since_us, now_us;
};

/* Adds the processes of the device, number `gpu` in sample, to it. */
void fw_processes_read(const struct fw_nvml *nvml, void *device, unsigned gpu,
		       struct fw_sample_span span, struct fw_machine_sample *sample);

#endif
