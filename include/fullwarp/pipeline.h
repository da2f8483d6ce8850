#ifndef FULLWARP_PIPELINE_H
#define FULLWARP_PIPELINE_H
/*
 * Image classification as a flow of stages: compressed images in, the best classes out, by callback. Decoding threads
 * and workers, each with its own instance of the network, run side by side; requests wait in bounded queues between
 * them. All memory that the flow needs is allocated at the start; struct fw_pipeline_stats tells how much it is.
 *
 * ABI: as in fullwarp/occupancy.h, structures start with their size in bytes, set by the _init functions. In the
 * library libfullwarp_pipeline, which is built where fullwarp-serve is. Clean as C89 and as C++98. err may be NULL.
 *
 *	static void print(void *user, const struct fw_pipeline_answer *answer)
 *	{
 *		if (answer->outcome == FW_PIPELINE_CLASSIFIED)
 *			printf("%s: class %u\n", (const char *)user, answer->ids[0]);
 *		else
 *			printf("%s: %s\n", (const char *)user, answer->error->message);
 *	}
 *	...
 *	fw_pipeline_config_init(&config);
 *	fw_pipeline_request_init(&request);
 *	config.model = "model.onnx";
 *	if (fw_pipeline_create(&config, &pipeline, &err))
 *		...
 *	request.bytes = jpeg; request.size = size; request.callback = print; request.user = "cat.jpg";
 *	if (fw_pipeline_submit(pipeline, &request, &err))
 *		...
 *	fw_pipeline_drain(pipeline);
 *	fw_pipeline_destroy(pipeline);
 */
#include "fullwarp/fullwarp.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fw_pipeline;

#define FW_PIPELINE_MAX_BATCH 256
#define FW_PIPELINE_MAX_TOP   100

/* Initialise with fw_pipeline_config_init. Pointers are borrowed for the call to fw_pipeline_create. */
struct fw_pipeline_config {
	size_t struct_size;
	const char *model; /* an ONNX file: three channels, a square image, one row of scores */
	/*
	 * "cudnn": a GPU; "onednn": the CPU. NULL or "" (default): cudnn where a GPU and its libraries are found, else
	 * onednn, and say is told why. The rows below that say GPU have a meaning there only: with the CPU's engine anything
	 * but their default is FW_ERR_ARGUMENT.
	 */
	const char *engine;
	uint32_t device; /* GPU: its CUDA ordinal; default 0 */
	/* "fp32", "fp16" or "bf16"; NULL (default): fp16 on a GPU, fp32 on the CPU, which takes no other. */
	const char *precision;
	const char *cache_dir; /* GPU: engine choices are kept here; NULL (default): nowhere */
	double autotune_s; /* GPU: for engine choices, the most for each batch size; default 2 */
	/* GPU: where decoded images lie, "pinned" (NULL, default: page-locked, or create fails) or "pageable" */
	const char *memory;
	/* GPU: "async" (NULL, default): on a stream of its own; "blocking": one by one, the worker waits for each */
	const char *copy;
	int fuse; /* 1 (default): convolutions with bias, sum and activation in them; 0: a step for each node */
	int graph; /* GPU: 1 (default): a batch is one CUDA graph; 0: launched operation by operation */
	/*
	 * Who decodes: "cpu" (NULL, default): the decoding threads. GPU: "nvjpeg": nvJPEG, on its hardware engine where there is
	 * one, baseline JPEGs that fit their cell, the threads everything else; "auto": the threads help with those while it is
	 * busy, and do everything where there is no nvJPEG with a hardware engine.
	 */
	const char *decoder;
	uint32_t decode_threads; /* 0 (default): chosen from the cores that this process may use */
	/* Each with its own instance of the network, on a GPU its own streams. 0 (default): on a GPU measured, see explain. */
	uint32_t workers;
	/* Images at a time, at most FW_PIPELINE_MAX_BATCH; 0 (default): 64 on a GPU, 8 on the CPU. */
	uint32_t max_batch;
	uint32_t slots; /* requests inside at a time; 0 (default): chosen, see the stats */
	uint32_t top;   /* classes in an answer, at most FW_PIPELINE_MAX_TOP; default 5 */
	/*
	 * How long a worker that has nothing to do waits for a batch to fill up, from the moment that the oldest image of
	 * it was decoded. 0 (default): not at all; batches then form while the workers are busy.
	 */
	int64_t max_delay_ns;
	/*
	 * The image for the network: the short side is resized to resize pixels, the middle crop pixels are taken. 0
	 * (default): crop is what the model takes, resize 8 / 7 of it (256 for 224). mean and std: ImageNet's.
	 */
	uint32_t resize, crop;
	float mean[3], std[3]; /* of red, green, blue from 0 to 1 */
	uint64_t max_pixels;   /* larger images are refused; default 100 million */
	double max_decode_s;   /* CPU seconds for an image; default 2 */
	/*
	 * Of one decoded image. A JPEG is scaled down while it is decoded, so that 0 (default: at least 4 MiB) holds every
	 * JPEG up to four times as long as it is high; a PNG is not: width x height x 3 must fit.
	 */
	uint64_t cell_bytes;
	uint64_t decoder_bytes; /* the most a decoding thread may take besides; default 256 MiB */
	/*
	 * 1: before fw_pipeline_create returns, every worker runs every prepared batch size twice on inputs of the library's
	 * own, so that the first request is as fast as later ones; scores that are not finite or that differ between the sizes
	 * make it fail. 0 (default): not. On a GPU it is always done, and the answers must be the CPU engine's.
	 */
	int warm_up;
	/* Called by fw_pipeline_create, on its thread, with what it does next: "reading model.onnx". NULL (default): not. */
	void (*progress)(void *user, const char *text);
	void *progress_user;
	/*
	 * Called by fw_pipeline_create, maybe from several threads but never at once, with what a user should know: which
	 * engine was taken and why, a layer that no engine fuses, a cache that is ignored. NULL (default): not.
	 */
	void (*say)(void *user, const char *text);
	void *say_user;
};

/* Every request that was taken gets one of these, once. */
enum fw_pipeline_outcome {
	FW_PIPELINE_CLASSIFIED,
	FW_PIPELINE_FAILED,  /* of this image alone: error says why */
	FW_PIPELINE_EXPIRED, /* its time was over before it was decoded or before it was computed */
	FW_PIPELINE_CANCELLED /* the pipeline was destroyed first */
};

enum fw_pipeline_stage {
	FW_PIPELINE_STAGE_QUEUE,  /* waits for a decoding thread */
	FW_PIPELINE_STAGE_DECODE, /* is being decoded */
	FW_PIPELINE_STAGE_BATCH,  /* waits for a worker */
	FW_PIPELINE_STAGE_COMPUTE,
	FW_PIPELINE_STAGE_ANSWER, /* waits for its callback */
	FW_PIPELINE_STAGE_COUNT
};

/* Everything in it lives until the callback returns. */
struct fw_pipeline_answer {
	size_t struct_size;
	enum fw_pipeline_outcome outcome;
	uint32_t count;                /* CLASSIFIED: classes, the likeliest first; else 0 */
	const uint32_t *ids;           /* from 0 on; equal scores: the smaller id first */
	const float *probabilities;    /* softmax of the scores, unless the model ends in one */
	const struct fw_error *error;  /* not NULL unless CLASSIFIED */
	enum fw_pipeline_stage failed; /* where it failed, expired or was cancelled */
	uint32_t batch;                /* images that were computed together; 0: none */
	int64_t stage_ns[FW_PIPELINE_STAGE_COUNT]; /* time spent in each stage */
};

/*
 * Called from the one thread that answers: callbacks never overlap. It should be short, as all answers wait for it; it may
 * submit (never waiting for a slot), and must not drain, wait or destroy.
 */
typedef void (*fw_pipeline_callback)(void *user, const struct fw_pipeline_answer *answer);

/* Initialise with fw_pipeline_request_init. */
struct fw_pipeline_request {
	size_t struct_size;
	const void *
		bytes; /* borrowed until the callback is called; JPEG or PNG, or as is_tensor says */
	size_t size;
	/*
	 * 1: the bytes are the network's own input, decoded and normalised: 3 x crop x crop floats (all of red's, green's,
	 * blue's), at any alignment. 0 (default).
	 */
	int is_tensor;
	int64_t timeout_ns; /* from submit on; 0 (default): none */
	int is_waiting; /* 1 (default): submit waits for a slot; 0: it fails when all are taken */
	fw_pipeline_callback callback;
	void *user;
};

/* times of one stage; buckets[i] counts those under 2^i microseconds, and not under 2^(i-1); the last has no bound. */
#define FW_PIPELINE_BUCKETS 26

struct fw_pipeline_stage_stats {
	uint64_t count;   /* requests that left the stage */
	uint64_t expired; /* dropped here, before any work of the next stage */
	uint64_t failed, cancelled;
	int64_t total_ns, max_ns;
	uint64_t buckets[FW_PIPELINE_BUCKETS];
};

/* Set struct_size before the call (fw_pipeline_stats_init does). */
struct fw_pipeline_stats {
	size_t struct_size;
	uint64_t submitted, answered; /* taken; callbacks that have returned */
	uint64_t refused;             /* submits that found no slot and did not want to wait */
	uint64_t outcomes[4];         /* by enum fw_pipeline_outcome */
	struct fw_pipeline_stage_stats stages[FW_PIPELINE_STAGE_COUNT];
	uint64_t batches[FW_PIPELINE_MAX_BATCH + 1]; /* launches by their number of images */
	uint64_t padded; /* images of zeros that filled batches up to a size that was prepared */
	uint32_t slots, slots_used, max_slots_used;
	uint32_t cells, max_cells_used; /* decoded images that fit at a time */
	uint32_t decode_threads, workers, max_batch, top, classes, resize, crop;
	/*
	 * Host memory in bytes, computed and allocated at the start: slots and queues; decoded images; the workers'
	 * activations and scratch. decoder_bytes is the most that the decoding threads can take besides, for images as
	 * large as the limits let in; memory_bytes is the sum of the four. The model comes on top: weight_bytes for its weights, as
	 * they stand in the file and once more as the engine packs them.
	 */
	uint64_t slot_bytes, cell_bytes, worker_bytes, decoder_bytes, memory_bytes;
	uint64_t weight_bytes;
	/* What runs, in the words of struct fw_pipeline_config; gpu is its name, "" with the CPU's engine. */
	char engine[16], precision[8], memory[16], copy[16], decoder[16], gpu[128];
	uint64_t pinned_bytes; /* page-locked host memory, a part of memory_bytes */
	/* Memory of the GPU: weights, and activations, images and scratch of all workers. */
	uint64_t device_bytes;
	uint64_t copies, copied_bytes; /* images and their descriptions, to the GPU */
	/*
	 * Images that nvJPEG decoded, and those that it was given and could not: its engine did not support them, a file of
	 * the same batch was damaged, or it left them out. The workers then decode them, one by one.
	 */
	uint64_t nvjpeg_decoded, nvjpeg_returned;
	/* 1: the GPU failed, which it does not recover from within a process; every request fails with these words. */
	int engine_failed;
	char failure[256];
};

FW_API void fw_pipeline_config_init(struct fw_pipeline_config *config);
FW_API void fw_pipeline_request_init(struct fw_pipeline_request *request);
FW_API void fw_pipeline_stats_init(struct fw_pipeline_stats *stats);

/*
 * Reads the model, prepares every batch size (powers of two up to max_batch, and max_batch), starts the threads.
 * FW_ERR_UNSUPPORTED: the engine or the model; FW_ERR_ARGUMENT: a value out of range; FW_ERR_INTERNAL: what a warm-up
 * computed is wrong; and what reading a model gives.
 */
FW_API fw_status fw_pipeline_create(const struct fw_pipeline_config *config,
				    struct fw_pipeline **pipeline, struct fw_error *err);

/*
 * Any thread. FW_OK: taken, the callback will be called exactly once, maybe before this returns. Else never:
 * FW_ERR_NOMEM: every slot is taken and the request does not wait; FW_ERR_UNSUPPORTED: the pipeline drains or is being
 * destroyed; FW_ERR_ARGUMENT.
 */
FW_API fw_status fw_pipeline_submit(struct fw_pipeline *pipeline,
				    const struct fw_pipeline_request *request,
				    struct fw_error *err);

/*
 * Waits until no request is inside, at most timeout_ns (negative: for ever; 0: only looks). 1: none is; 0: some are, or
 * it was called from a callback. Any thread.
 */
FW_API int fw_pipeline_wait(struct fw_pipeline *pipeline, int64_t timeout_ns);

/* Takes no more requests, and waits until all that were taken are answered. Any thread, any number of times. */
FW_API void fw_pipeline_drain(struct fw_pipeline *pipeline);

/*
 * A table for people of what create measured and chose where the configuration left it open: line is called with each
 * line of it. Any thread, at any moment.
 */
FW_API fw_status fw_pipeline_explain(struct fw_pipeline *pipeline,
				     void (*line)(void *user, const char *text), void *user,
				     struct fw_error *err);

/* Any thread, at any moment. FW_ERR_ARGUMENT: a struct_size that this library does not know. */
FW_API fw_status fw_pipeline_get_stats(struct fw_pipeline *pipeline,
				       struct fw_pipeline_stats *stats, struct fw_error *err);

/*
 * Ends at once: what is being decoded or computed is finished and answered, what waits is answered as cancelled, submits
 * that wait for a slot fail. Returns after the last callback. NULL is accepted. No call may begin after this one.
 */
FW_API void fw_pipeline_destroy(struct fw_pipeline *pipeline);

/* "decode"; NULL for anything else; static storage. */
FW_API const char *fw_pipeline_stage_name(enum fw_pipeline_stage stage);

#ifdef __cplusplus
}
#endif

#endif
