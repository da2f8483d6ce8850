#ifndef FW_PIPELINE_GPU_CHECK_H
#define FW_PIPELINE_GPU_CHECK_H
/* A worker's first batches: each prepared size twice, whole and with empty places, checked against what is known. */
#include "pipeline/samples.h"
#include "pipeline/worker_gpu.h"

/* A batch and room for its answers. */
struct fw_sample_run {
	struct fw_flow_batch batch;
	struct fw_error err; /* of its images */
	uint32_t *ids;
	float *probabilities;
};

fw_status fw_sample_run_open(const struct fw_classifier *c, struct fw_sample_run **run,
			     struct fw_error *err);
void fw_sample_run_close(struct fw_sample_run *run);
fw_status fw_sample_run_compute(struct fw_sample_run *run, struct fw_gpu_worker *worker,
				const struct fw_samples *samples, uint32_t n, uint32_t size,
				struct fw_error *err);

/*
 * FW_ERR_INTERNAL: a score is not finite or not the reference's, or an answer is not what the scores say. Where samples have no
 * scores, the first batch of one of each gives them.
 */
fw_status fw_gpu_check_worker(const struct fw_classifier *c, struct fw_gpu_worker *worker,
			      struct fw_samples *samples, struct fw_error *err);

/* How far a score may be from the reference, as a share of the largest of its row. */
float fw_gpu_tolerance(enum fw_nn_precision precision, bool are_probabilities);

#endif
