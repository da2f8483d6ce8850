#ifndef FW_PIPELINE_STAGES_H
#define FW_PIPELINE_STAGES_H
/* What the stages of a flow share. Everything in struct fw_flow below its lock is guarded by it. */
#include "pipeline/flow.h"
#include "pipeline/ring.h"

#include <pthread.h>

#define FW_NO_CELL UINT32_MAX

/* A request on its way. It belongs to one stage at a time, and only that one touches it. */
struct fw_flow_slot {
	struct fw_pipeline_request request;
	enum fw_pipeline_stage stage;
	int64_t deadline_ns; /* INT64_MAX: none */
	int64_t entered_ns;  /* the stage */
	uint32_t cell;
	struct fw_image image;
	enum fw_pipeline_outcome outcome;
	enum fw_pipeline_stage failed;
	uint32_t batch, count;
	int64_t stage_ns[FW_PIPELINE_STAGE_COUNT];
	struct fw_error err;
	uint32_t *ids;
	float *probabilities;
};

struct fw_flow_thread {
	pthread_t thread;
	struct fw_flow *flow;
	void *decoder, *worker; /* whichever it is for */
	bool is_started;
	struct fw_flow_batch batch;
	uint32_t slots[FW_PIPELINE_MAX_BATCH]; /* of the batch */
};

struct fw_flow {
	struct fw_flow_options options;
	struct fw_flow_work work;
	struct fw_flow_slot *slots;
	uint32_t *ids; /* options.top for each slot, and for the answering thread */
	float *probabilities;
	uint8_t *cells;
	struct fw_flow_thread *decoders, *workers;
	struct fw_flow_thread *answerer;
	bool has_locks;

	pthread_mutex_t lock;
	pthread_cond_t slot_freed, may_decode, may_compute, may_answer, is_quiet, is_warmer;
	struct fw_ring free_slots, free_cells, to_decode, to_compute, to_answer;
	uint32_t upstream;     /* requests in the stages before BATCH */
	uint32_t inside;       /* requests whose callback has not returned */
	uint32_t callers;      /* threads in submit, wait or drain */
	uint32_t warm;         /* workers whose warm-up is over */
	fw_status warm_status; /* of the first warm-up that failed */
	struct fw_error warm_err;
	bool is_closed;    /* takes no more requests */
	bool is_cancelled; /* what waits is answered without being done */
	bool is_ending;    /* threads leave; nothing is inside then */
	struct fw_pipeline_stats stats;
};

int64_t fw_flow_now_ns(void);

/* Waits for cond until the moment, INT64_MAX: for ever. False: the moment is there. */
bool fw_flow_wait_until(struct fw_flow *flow, pthread_cond_t *cond, int64_t until_ns);

/* The request leaves its stage for the next one, at this moment. */
void fw_flow_move(struct fw_flow *flow, struct fw_flow_slot *slot, enum fw_pipeline_stage stage,
		  int64_t now_ns);

/* To the answering thread, with slot->err where it is not CLASSIFIED. Gives the cell back. */
void fw_flow_finish(struct fw_flow *flow, uint32_t slot, enum fw_pipeline_outcome outcome);

/* A request that waits need not be worked on: it is finished, true. */
bool fw_flow_drop(struct fw_flow *flow, uint32_t slot, int64_t now_ns);

/* Accounts for a request whose callback is about to be called. */
void fw_flow_count_answer(struct fw_flow *flow, struct fw_flow_slot *slot);

void *fw_flow_decode_main(void *thread);
void *fw_flow_compute_main(void *thread);
void *fw_flow_answer_main(void *thread);

#endif
