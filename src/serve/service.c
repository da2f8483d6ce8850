/* The service's pipeline from its loading to its end, and its state. */
#include "serve/service.h"

#include "serve/exchange.h"
#include "serve/json_in.h"
#include "serve/steady_clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A tree of JSON takes this many times the largest body: base64 once more, numbers 20 times. */
#define JSON_TIMES 4
/* What answers have to leave when the service ends. Requests that are still being read are not waited for. */
#define SENDING_NS INT64_C(500000000)

fw_status fw_service_open(struct fw_service *s, const struct fw_service_options *options,
			  struct fw_error *err)
{
	fw_status status;

	*s = (struct fw_service){ .options = *options, .events = -1 };
	s->start_ns = fw_steady_ns();
	snprintf(s->progress, sizeof(s->progress), "starting");
	pthread_rwlock_init(&s->lock, NULL);
	fw_json_in_init();
	fw_counts_init(&s->counts);
	if ((status = fw_access_log_open(&s->log, options->access_log, err)) ||
	    (options->token_file &&
	     (status = fw_bearer_read(&s->bearer, options->token_file, err))) ||
	    (options->labels && (status = fw_labels_read(&s->labels, options->labels, err))) ||
	    (status = fw_bodies_open(&s->bodies, options->max_connections,
				     (size_t)options->max_body, options->body_memory, err)))
		return status;
	s->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->events < 0)
		return fw_fail(err, FW_ERR_IO, "no eventfd");
	return fw_exchanges_open(s, err);
}

void fw_service_close(struct fw_service *s)
{
	if (s->is_loader_started)
		pthread_join(s->loader, NULL);
	fw_pipeline_destroy(s->pipeline);
	if (s->has_gpu)
		fw_gpu_figures_close(&s->gpu);
	fw_exchanges_close(s);
	fw_bodies_close(&s->bodies);
	fw_labels_release(&s->labels);
	fw_bearer_release(&s->bearer);
	fw_access_log_close(&s->log);
	if (s->events >= 0)
		close(s->events);
	pthread_rwlock_destroy(&s->lock);
}

static void announce(struct fw_service *s)
{
	uint64_t one = 1;
	ssize_t n = write(s->events, &one, sizeof(one));

	(void)n; /* full: somebody is to be woken already */
}

static void on_progress(void *user, const char *text)
{
	struct fw_service *s = user;

	pthread_rwlock_wrlock(&s->lock);
	snprintf(s->progress, sizeof(s->progress), "%s", text);
	pthread_rwlock_unlock(&s->lock);
}

static fw_status check_loaded(struct fw_service *s, const struct fw_pipeline_stats *stats,
			      struct fw_error *err)
{
	if (s->labels.count && s->labels.count != stats->classes)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s: %u labels, but %s has %u classes",
			       s->options.labels, s->labels.count, s->options.pipeline.model,
			       stats->classes);
	return FW_OK;
}

/* Without them the service serves all the same. */
static void watch_gpu(struct fw_service *s, const struct fw_pipeline_stats *stats)
{
	char uuid[FW_CUDA_UUID_BYTES];

	if (!stats->gpu[0])
		return;
	fw_gpu_find_uuid(s->options.pipeline.device, uuid);
	s->has_gpu = !fw_gpu_figures_open(&s->gpu, uuid, NULL, NULL);
}

static void set_loaded(struct fw_service *s, struct fw_pipeline *pipeline,
		       const struct fw_pipeline_stats *stats)
{
	uint32_t images = s->options.max_images;

	s->pipeline = pipeline;
	s->fixed = *stats;
	watch_gpu(s, stats);
	s->limits = (struct fw_infer_limits){
		/* More than there are slots could never be inside together. */
		.max_images = images < stats->slots ? images : stats->slots,
		.side = stats->crop,
		.top = stats->top < stats->classes ? stats->top : stats->classes,
		.has_labels = s->labels.count,
		.json_bytes = (size_t)s->options.max_body * JSON_TIMES,
	};
	s->ready_ns = fw_steady_ns();
}

static void *load(void *user)
{
	struct fw_service *s = user;
	struct fw_pipeline_config config = s->options.pipeline;
	struct fw_pipeline *pipeline = NULL;
	struct fw_pipeline_stats stats;
	struct fw_error err = { .code = FW_OK };
	fw_status status;

	config.progress = on_progress;
	config.progress_user = s;
	fw_pipeline_stats_init(&stats);
	if (!(status = fw_pipeline_create(&config, &pipeline, &err)) &&
	    !(status = fw_pipeline_get_stats(pipeline, &stats, &err)) &&
	    !(status = check_loaded(s, &stats, &err)) && s->options.warm) {
		on_progress(s, "warming up: classifying pictures of its own");
		status = s->options.warm(pipeline, &stats, &err);
	}
	pthread_rwlock_wrlock(&s->lock);
	if (!status)
		set_loaded(s, pipeline, &stats);
	if (s->state == FW_SERVICE_LOADING)
		s->state = status ? FW_SERVICE_FAILED : FW_SERVICE_READY;
	s->err = err;
	pthread_rwlock_unlock(&s->lock);
	if (status)
		fw_pipeline_destroy(pipeline);
	announce(s);
	return NULL;
}

fw_status fw_service_load(struct fw_service *s, struct fw_error *err)
{
	int code = pthread_create(&s->loader, NULL, load, s);

	if (code)
		return fw_fail(err, FW_ERR_IO, "cannot start a thread: %s", strerror(code));
	s->is_loader_started = true;
	return FW_OK;
}

enum fw_service_state fw_service_state(struct fw_service *s, char *why, size_t cap)
{
	enum fw_service_state state;

	pthread_rwlock_rdlock(&s->lock);
	state = s->state;
	if (state == FW_SERVICE_LOADING && cap)
		snprintf(why, cap, "not ready: %s", s->progress);
	else if (state == FW_SERVICE_READY && cap)
		why[0] = '\0';
	else if (state == FW_SERVICE_DRAINING && cap)
		snprintf(why, cap, "the service is ending");
	else if (cap)
		snprintf(why, cap, "not ready: %s", s->err.message);
	pthread_rwlock_unlock(&s->lock);
	return state;
}

enum fw_service_state fw_service_set_state(struct fw_service *s, enum fw_service_state state,
					   const struct fw_error *err)
{
	enum fw_service_state before;

	pthread_rwlock_wrlock(&s->lock);
	before = s->state;
	if (s->state == FW_SERVICE_READY || s->state == FW_SERVICE_LOADING) {
		s->state = state;
		if (err)
			s->err = *err;
	}
	pthread_rwlock_unlock(&s->lock);
	announce(s);
	return before;
}

void fw_service_check(struct fw_service *s)
{
	struct fw_pipeline_stats stats;
	struct fw_error err = { .code = FW_OK };

	fw_pipeline_stats_init(&stats);
	pthread_rwlock_rdlock(&s->lock);
	if (s->state == FW_SERVICE_READY && !fw_pipeline_get_stats(s->pipeline, &stats, NULL) &&
	    stats.engine_failed)
		fw_fail(&err, FW_ERR_IO, "%s", stats.failure);
	pthread_rwlock_unlock(&s->lock);
	if (err.code)
		fw_service_set_state(s, FW_SERVICE_BROKEN, &err);
}

static void await_exchanges(const struct fw_service *s, int64_t until_ns)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	while (fw_exchanges_in_use(s) && fw_steady_ns() < until_ns)
		nanosleep(&pause, NULL);
}

bool fw_service_drain(struct fw_service *s, int64_t until_ns)
{
	struct fw_pipeline *pipeline;
	bool is_done = true;
	int64_t now = fw_steady_ns();

	/* Nobody submits any more: the state is not READY. */
	pthread_rwlock_wrlock(&s->lock);
	pipeline = s->pipeline;
	s->pipeline = NULL;
	pthread_rwlock_unlock(&s->lock);
	if (pipeline)
		is_done = fw_pipeline_wait(pipeline, until_ns > now ? until_ns - now : 0);
	fw_pipeline_destroy(pipeline); /* now each exchange that waited has been resumed */
	await_exchanges(s, fw_steady_ns() + SENDING_NS);
	return is_done;
}

uint64_t fw_service_memory_bytes(const struct fw_service *s)
{
	const struct fw_service_options *o = &s->options;

	return o->body_memory + o->max_connections * (FW_BODY_KEPT + (uint64_t)o->max_head) +
	       o->http_threads * o->max_body * JSON_TIMES + fw_exchanges_bytes(s) +
	       s->fixed.memory_bytes;
}
