#ifndef FW_PIPELINE_CLASSIFIER_PARTS_H
#define FW_PIPELINE_CLASSIFIER_PARTS_H
/* A classifier inside, for its workers: on the CPU (worker_cpu.c) and on a GPU (worker_gpu.c). */
#include "nn/engine.h"
#include "pipeline/classifier.h"
#include "pipeline/cores.h"
#include "pipeline/preprocess.h"

struct fw_gpu_side;

/* Immutable once open, but for what tells of the CPU's workers. */
struct fw_classifier {
	struct fw_pipeline_settings settings;
	struct fw_nn_graph graph;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_preprocess preprocess;
	struct fw_image_limits limits;
	size_t cell_bytes;
	uint32_t max_batch, classes, top; /* top: at most classes */
	bool has_graph, ends_in_softmax, warms_up;
	struct fw_cores cores;
	struct fw_gpu_side *gpu;    /* NULL: the CPU */
	uint64_t cpu_scratch_bytes; /* of a worker on the CPU, known when the first is open */
	void (*progress)(void *user, const char *text);
	void *progress_user;
	void (*say)(void *user, const char *text);
	void *say_user;
};

/* Only while it is opened. */
void fw_classifier_progress(const struct fw_classifier *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fw_classifier_say(const struct fw_classifier *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Each fills the part of a worker: worker_open, worker_close, compute, warm_up. */
void fw_cpu_work(struct fw_classifier *c, struct fw_flow_work *work);
void fw_gpu_work(struct fw_flow_work *work); /* and cells_take, cells_give */

/* Host memory of a worker. */
uint64_t fw_cpu_worker_bytes(const struct fw_classifier *c);
uint64_t fw_gpu_worker_host_bytes(const struct fw_classifier *c);

/*
 * The GPU before the engine is opened on it, and, once the model is there, its workers: opened, checked against the CPU's
 * engine, timed; as many as are wanted, 0: as many as are fastest. fw_gpu_work hands them out.
 */
fw_status fw_gpu_side_open(struct fw_classifier *c, unsigned device, struct fw_error *err);
fw_status fw_gpu_side_start(struct fw_classifier *c, uint32_t workers, struct fw_error *err);
void fw_gpu_side_close(struct fw_gpu_side *side);
uint32_t fw_gpu_side_workers(const struct fw_gpu_side *side);
/* Cores that the workers need when they are busy, at least 1. */
uint32_t fw_gpu_side_cores(const struct fw_gpu_side *side);
/* Whether a JPEG is better left to nvJPEG now than decoded by the thread that asks. */
bool fw_gpu_side_wants_jpegs(const struct fw_classifier *c);
int fw_gpu_side_numa_node(const struct fw_gpu_side *side);
void fw_gpu_side_add_stats(const struct fw_gpu_side *side, struct fw_pipeline_stats *stats);
void fw_gpu_side_explain(const struct fw_gpu_side *side, void (*line)(void *user, const char *text),
			 void *user);

#endif
