#ifndef FW_PIPELINE_WORKER_GPU_H
#define FW_PIPELINE_WORKER_GPU_H
/*
 * One compute instance on a GPU: its own activations, memory for the images of a batch, two streams, and a CUDA graph for
 * each batch size. One thread at a time. A batch is copied, computed and read back before fw_gpu_worker_compute returns;
 * several workers overlap the copies of one with the network of another.
 */
#include "pipeline/classifier_parts.h"
#include "pipeline/gpu.h"
#include "pipeline/top_gpu.h"

struct fw_gpu_worker;

/* Allocates and captures everything: nothing is allocated later. classifier and gpu must outlive it. */
fw_status fw_gpu_worker_open(const struct fw_classifier *classifier, struct fw_gpu *gpu,
			     struct fw_gpu_worker **worker, struct fw_error *err);
void fw_gpu_worker_close(struct fw_gpu_worker *worker);

/* As compute of struct fw_flow_work. FW_ERR_IO: the GPU failed, now or before. */
fw_status fw_gpu_worker_compute(struct fw_gpu_worker *worker, struct fw_flow_batch *batch,
				struct fw_error *err);

/* The scores of the last batch, size x classes, also of the places without an image. */
fw_status fw_gpu_worker_scores(struct fw_gpu_worker *worker, uint32_t size, float *scores,
			       struct fw_error *err);

/* Wait by asking again and again, which answers sooner and keeps a core busy; false (the default): asleep. */
void fw_gpu_worker_spin(struct fw_gpu_worker *worker, bool spins);

#endif
