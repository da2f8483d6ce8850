#ifndef FW_PIPELINE_GPU_TIMING_H
#define FW_PIPELINE_GPU_TIMING_H
/* How fast workers are, side by side, on samples. */
#include "pipeline/gpu_check.h"

struct fw_gpu_trial {
	uint32_t workers, size;
	bool spins;      /* they asked whether a batch is done again and again; else they slept */
	double images_s; /* of all workers together */
	double batch_ms; /* of a worker, from the first copy to the answers */
	double cores;    /* that all workers together kept busy */
};

/* Each worker in a thread of its own for a few hundredths of a second. Fills trial's figures. */
fw_status fw_gpu_time(const struct fw_classifier *c, struct fw_gpu_worker *const *workers,
		      const struct fw_samples *samples, struct fw_gpu_trial *trial,
		      struct fw_error *err);

/* The fewest workers whose rate is within 3 % of the best, of trials of the same size; 0: there is none. */
uint32_t fw_gpu_fewest(const struct fw_gpu_trial *trials, uint32_t n, uint32_t size);

#endif
