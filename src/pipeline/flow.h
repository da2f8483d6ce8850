#ifndef FW_PIPELINE_FLOW_H
#define FW_PIPELINE_FLOW_H
/*
 * The stages of the pipeline, without what they do to an image: that is struct fw_flow_work, which the classifier
 * implements and tests replace. One lock guards the queues and the states; work is done outside it.
 */
#include "base/error.h"
#include "fullwarp/pipeline.h"
#include "pipeline/image.h"

#include <stdbool.h>

/* One image to decode. */
struct fw_flow_picture {
	const void *bytes;
	size_t size;
	bool is_tensor;
	uint8_t *cell;
	size_t cell_bytes;
	struct fw_image *image;
};

/* One image of a batch. compute fills ids, probabilities and count, or status and err. */
struct fw_flow_item {
	const uint8_t *cell;
	const struct fw_image *image;
	uint32_t *ids;
	float *probabilities;
	uint32_t count;
	fw_status status;
	struct fw_error *err;
};

struct fw_flow_batch {
	uint32_t n, size; /* images; the prepared batch size, n or more */
	struct fw_flow_item items[FW_PIPELINE_MAX_BATCH];
};

/* Each thread opens its own decoder or worker, and is the only one to use it. All of them open before the first request. */
struct fw_flow_work {
	void *user;
	fw_status (*decoder_open)(void *user, void **decoder, struct fw_error *err);
	void (*decoder_close)(void *decoder);
	fw_status (*decode)(void *decoder, const struct fw_flow_picture *picture,
			    struct fw_error *err);
	fw_status (*worker_open)(void *user, void **worker, struct fw_error *err);
	void (*worker_close)(void *worker);
	/* An error is one of the whole batch. */
	fw_status (*compute)(void *worker, struct fw_flow_batch *batch, struct fw_error *err);
	/* On the worker's thread, before the flow is created; an error is one of the creation. NULL: nothing. */
	fw_status (*warm_up)(void *worker, struct fw_error *err);
	/* Memory for the cells, taken before and given back after everything else. NULL: malloc's. */
	fw_status (*cells_take)(void *user, size_t bytes, void **memory, struct fw_error *err);
	void (*cells_give)(void *user, void *memory, size_t bytes);
};

struct fw_flow_options {
	uint32_t decode_threads, workers, slots, cells, top; /* all at least 1 */
	uint32_t n_sizes, sizes[FW_PIPELINE_MAX_BATCH];      /* prepared batch sizes, ascending */
	size_t cell_bytes;
	int64_t max_delay_ns;
	void (*progress)(void *user, const char *text); /* of the creation; NULL: none */
	void *progress_user;
};

struct fw_flow;

/* work is copied; its user must outlive the flow. */
fw_status fw_flow_create(const struct fw_flow_options *options, const struct fw_flow_work *work,
			 struct fw_flow **flow, struct fw_error *err);
/* As the functions of fullwarp/pipeline.h. */
fw_status fw_flow_submit(struct fw_flow *flow, const struct fw_pipeline_request *request,
			 struct fw_error *err);
int fw_flow_wait(struct fw_flow *flow, int64_t timeout_ns);
void fw_flow_drain(struct fw_flow *flow);
void fw_flow_destroy(struct fw_flow *flow);

/* Fills what the flow knows: counts, slots, cells and their bytes. */
void fw_flow_get_stats(struct fw_flow *flow, struct fw_pipeline_stats *stats);

#endif
