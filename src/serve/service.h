#ifndef FW_SERVE_SERVICE_H
#define FW_SERVE_SERVICE_H
/*
 * What the HTTP service is beside HTTP: a pipeline that is loaded while requests come in already, what state it is in, and
 * what all requests share. Any thread, but for opening and closing.
 */
#include "fullwarp/pipeline.h"
#include "serve/access_log.h"
#include "serve/bearer.h"
#include "serve/body.h"
#include "serve/counts.h"
#include "serve/gpu_figures.h"
#include "serve/infer.h"
#include "serve/labels.h"

struct fw_exchanges;

/* Texts are borrowed for as long as the service lives. */
struct fw_service_options {
	struct fw_pipeline_config pipeline;           /* its progress is the service's */
	const char *name;                             /* of the model in paths */
	const char *labels, *token_file, *access_log; /* NULL: none */
	uint64_t max_body, body_memory;
	uint32_t max_connections, max_images, http_threads, max_head; /* max_head: bytes */
	int64_t timeout_ns; /* of a client that is slow to send or to read */
	/* What a pipeline needs before the first request comes; NULL: nothing. */
	fw_status (*warm)(struct fw_pipeline *pipeline, const struct fw_pipeline_stats *stats,
			  struct fw_error *err);
	int64_t deadline_ns; /* of a request from its last byte on; 0: none */
};

enum fw_service_state {
	FW_SERVICE_LOADING,
	FW_SERVICE_READY,
	FW_SERVICE_DRAINING, /* it was told to end */
	FW_SERVICE_BROKEN,   /* the engine failed for good */
	FW_SERVICE_FAILED    /* it could not be loaded */
};

struct fw_service {
	struct fw_service_options options;
	struct fw_bearer bearer;
	struct fw_labels labels;
	struct fw_access_log log;
	struct fw_bodies bodies;
	struct fw_exchanges *exchanges;
	struct fw_counts counts;
	int64_t start_ns, ready_ns; /* ready_ns: 0 until then */
	int events;                 /* an eventfd: the state is another */

	/* How an exchange waits for the pipeline; the HTTP server's. */
	void (*suspend)(void *connection);
	void (*resume)(void *connection);

	pthread_t loader;
	bool is_loader_started;

	pthread_rwlock_t lock; /* guards all below; who submits holds it for reading */
	enum fw_service_state state;
	struct fw_pipeline *pipeline;   /* NULL until it is loaded */
	struct fw_pipeline_stats fixed; /* what does not change once it is loaded */
	struct fw_gpu_figures gpu;      /* open once it is loaded, if the engine is a GPU's */
	bool has_gpu;
	struct fw_infer_limits limits;
	struct fw_error err; /* why it is BROKEN or FAILED */
	char progress[256];  /* while it is LOADING */
};

/* Everything but the model: files, memory. */
fw_status fw_service_open(struct fw_service *service, const struct fw_service_options *options,
			  struct fw_error *err);

/* Begins to load on a thread of its own; the state and then `events` tell the end. */
fw_status fw_service_load(struct fw_service *service, struct fw_error *err);

/* The state, and in words why it is not READY ("": it is). */
enum fw_service_state fw_service_state(struct fw_service *service, char *why, size_t cap);

/* From LOADING or READY; later changes change nothing. The state before. */
enum fw_service_state fw_service_set_state(struct fw_service *service, enum fw_service_state state,
					   const struct fw_error *err);

/* Looks whether the engine failed without a request that met it; then the state is BROKEN. */
void fw_service_check(struct fw_service *service);

/*
 * When the state is no longer READY: waits for the images inside, at most until the moment, then ends the pipeline. True: all
 * were computed in time.
 */
bool fw_service_drain(struct fw_service *service, int64_t until_ns);

/* No exchange is under way. */
void fw_service_close(struct fw_service *service);

/* The most host memory that requests and the pipeline can take, without the model's weights; 0: not loaded yet. */
uint64_t fw_service_memory_bytes(const struct fw_service *service);

#endif
