/*
 * The HTTP service on a pipeline that does as it is told, so that slots, time-outs, broken engines and slow loading can be
 * tested to the point: this file implements fullwarp/pipeline.h. An image is a text:
 *
 *	class 3            classified: 3, then 4, 5, ... with probabilities 1/2, 1/4, ...
 *	wait 200 class 3   the same after 200 ms
 *	hold class 3       the same when there is a file `release`
 *	corrupt            cannot be decoded
 *	not-a-number       its scores are none
 *	break              the engine fails for good
 *	lose               the same, but nobody is told, except who looks at the statistics
 *
 * A tensor is of 3 x 4 x 4 floats and has its first one as its class. The model is a file with a text: "load 300" takes so
 * many ms, "load 300 fail" fails then; "load hold" takes until there is a file `release`.
 */
#include "fullwarp/pipeline.h"
#include "serve/cmd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS   64
#define CLASSES 10
#define SIDE    4

struct slot {
	struct fw_pipeline_request request;
	int is_taken, is_held;
	int64_t due_ns, deadline_ns;
};

struct fw_pipeline {
	pthread_mutex_t lock;
	pthread_cond_t changed, answered;
	pthread_t thread;
	uint32_t slots, top;
	struct slot slot[SLOTS];
	int is_cancelled, is_ending;
	uint64_t inside;
	struct fw_pipeline_stats stats;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

void fw_pipeline_config_init(struct fw_pipeline_config *config)
{
	*config = (struct fw_pipeline_config){ .struct_size = sizeof(*config), .top = 5 };
}

void fw_pipeline_request_init(struct fw_pipeline_request *request)
{
	*request = (struct fw_pipeline_request){ .struct_size = sizeof(*request) };
}

void fw_pipeline_stats_init(struct fw_pipeline_stats *stats)
{
	*stats = (struct fw_pipeline_stats){ .struct_size = sizeof(*stats) };
}

const char *fw_pipeline_stage_name(enum fw_pipeline_stage stage)
{
	static const char *const names[] = { "queue", "decode", "batch", "compute", "answer" };

	return names[stage];
}

static void set_error(struct fw_error *err, fw_status code, const char *text)
{
	err->code = code;
	snprintf(err->message, sizeof(err->message), "%s", text);
}

/* What an image asks for. */
struct order {
	long wait_ms;
	int is_held;
	unsigned id;
	char word[32];
};

static struct order read_order(const struct fw_pipeline_request *request)
{
	struct order order = { .word = "class" };
	const char *rest;
	char text[64];
	float first;

	if (request->is_tensor) {
		memcpy(&first, request->bytes, sizeof(first));
		order.id = (unsigned)first;
		return order;
	}
	if (request->size > 2 &&
	    !memcmp(request->bytes, "\xff\xd8", 2)) /* the service's own, to warm up */
		return order;
	snprintf(text, sizeof(text), "%.*s", (int)request->size,
		 request->size ? (const char *)request->bytes : "");
	rest = text;
	if (sscanf(rest, "wait %ld", &order.wait_ms) == 1)
		rest = strchr(rest + 5, ' ') ? strchr(rest + 5, ' ') + 1 : "";
	order.is_held = !strncmp(rest, "hold ", 5);
	if (order.is_held)
		rest += 5;
	if (sscanf(rest, "%31s %u", order.word, &order.id) < 1)
		snprintf(order.word, sizeof(order.word), "corrupt");
	return order;
}

static void fill_answer(const struct slot *slot, struct fw_pipeline_answer *answer,
			struct fw_error *err)
{
	struct order order = read_order(&slot->request);

	answer->outcome = FW_PIPELINE_FAILED;
	if (slot->due_ns > slot->deadline_ns) {
		answer->outcome = FW_PIPELINE_EXPIRED;
		set_error(err, FW_ERR_UNSUPPORTED, "its time was over");
	} else if (!strcmp(order.word, "class")) {
		answer->outcome = FW_PIPELINE_CLASSIFIED;
		answer->error = NULL;
	} else if (!strcmp(order.word, "break")) {
		answer->failed = FW_PIPELINE_STAGE_COMPUTE;
		set_error(err, FW_ERR_IO, "the device is lost");
	} else if (!strcmp(order.word, "not-a-number")) {
		answer->failed = FW_PIPELINE_STAGE_COMPUTE;
		set_error(err, FW_ERR_FORMAT, "not a number");
	} else {
		answer->failed = FW_PIPELINE_STAGE_DECODE;
		set_error(err, FW_ERR_FORMAT, "corrupt");
	}
}

static void answer_slot(struct fw_pipeline *p, const struct slot *slot, int is_cancelled)
{
	uint32_t ids[FW_PIPELINE_MAX_TOP];
	float probabilities[FW_PIPELINE_MAX_TOP];
	struct fw_error err = { .code = FW_OK };
	struct fw_pipeline_answer answer = { .struct_size = sizeof(answer),
					     .ids = ids,
					     .probabilities = probabilities,
					     .error = &err };
	struct order order = read_order(&slot->request);

	for (uint32_t i = 0; i < p->top; i++) {
		ids[i] = (order.id + i) % CLASSES;
		probabilities[i] = 1.0f / (float)(2u << i);
	}
	if (!strcmp(order.word, "lose")) {
		pthread_mutex_lock(&p->lock);
		p->stats.engine_failed = 1;
		snprintf(p->stats.failure, sizeof(p->stats.failure), "lost in silence");
		pthread_mutex_unlock(&p->lock);
	}
	if (is_cancelled) {
		answer.outcome = FW_PIPELINE_CANCELLED;
		set_error(&err, FW_ERR_UNSUPPORTED, "cancelled");
	} else {
		fill_answer(slot, &answer, &err);
	}
	if (answer.outcome == FW_PIPELINE_CLASSIFIED) {
		answer.count = p->top;
		answer.batch = 1;
		answer.stage_ns[FW_PIPELINE_STAGE_COMPUTE] = order.wait_ms * 1000000;
	}
	slot->request.callback(slot->request.user, &answer);
}

static int is_released(void)
{
	return !access("release", F_OK);
}

/* The slot whose time is the nearest; NULL: none is taken. */
static struct slot *next_slot(struct fw_pipeline *p)
{
	struct slot *next = NULL;

	for (uint32_t i = 0; i < p->slots; i++)
		if (p->slot[i].is_taken &&
		    (!p->slot[i].is_held || p->is_cancelled || is_released()) &&
		    (!next || p->slot[i].due_ns < next->due_ns))
			next = &p->slot[i];
	return next;
}

static void *answer_all(void *user)
{
	struct fw_pipeline *p = user;

	pthread_mutex_lock(&p->lock);
	while (!p->is_ending || p->inside) {
		struct slot *slot = next_slot(p), copy;

		if (!slot || (slot->due_ns > now_ns() && !p->is_cancelled)) {
			pthread_mutex_unlock(&p->lock);
			sleep_ms(1);
			pthread_mutex_lock(&p->lock);
			continue;
		}
		copy = *slot;
		slot->is_taken = 0;
		pthread_mutex_unlock(&p->lock);
		answer_slot(p, &copy, copy.due_ns > now_ns() || (copy.is_held && !is_released()));
		pthread_mutex_lock(&p->lock);
		p->inside--;
		p->stats.answered++;
		pthread_cond_broadcast(&p->answered);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

fw_status fw_pipeline_create(const struct fw_pipeline_config *config, struct fw_pipeline **pipeline,
			     struct fw_error *err)
{
	struct fw_pipeline *p;
	char text[64] = "";
	FILE *file = fopen(config->model, "r");
	long ms = 0;

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	config->progress(config->progress_user, "reading tea leaves");
	if (sscanf(text, "load %ld", &ms) == 1)
		sleep_ms(ms);
	while (!strncmp(text, "load hold", 9) && !is_released())
		sleep_ms(1);
	if (!file || strstr(text, "fail")) {
		set_error(err, FW_ERR_FORMAT, "the model is bad");
		return FW_ERR_FORMAT;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return FW_ERR_NOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->answered, NULL);
	p->slots = config->slots && config->slots < SLOTS ? config->slots : SLOTS;
	p->top = config->top;
	if (pthread_create(&p->thread, NULL, answer_all, p))
		abort();
	*pipeline = p;
	return FW_OK;
}

static fw_status submit(struct fw_pipeline *p, const struct fw_pipeline_request *request,
			struct fw_error *err)
{
	struct order order = read_order(request);
	fw_status status = FW_ERR_NOMEM;

	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i < p->slots && status; i++) {
		if (p->slot[i].is_taken)
			continue;
		p->slot[i] = (struct slot){ .request = *request,
					    .is_taken = 1,
					    .is_held = order.is_held,
					    .due_ns = now_ns() + order.wait_ms * 1000000 };
		p->slot[i].deadline_ns =
			request->timeout_ns ? now_ns() + request->timeout_ns : INT64_MAX;
		p->inside++;
		p->stats.submitted++;
		status = FW_OK;
	}
	pthread_mutex_unlock(&p->lock);
	if (status)
		set_error(err, status, "all slots are taken");
	return status;
}

fw_status fw_pipeline_submit(struct fw_pipeline *p, const struct fw_pipeline_request *request,
			     struct fw_error *err)
{
	fw_status status;

	while ((status = submit(p, request, err)) == FW_ERR_NOMEM && request->is_waiting)
		sleep_ms(1);
	return status;
}

int fw_pipeline_wait(struct fw_pipeline *p, int64_t timeout_ns)
{
	int64_t until = now_ns() + timeout_ns;
	uint64_t inside;

	do {
		pthread_mutex_lock(&p->lock);
		inside = p->inside;
		pthread_mutex_unlock(&p->lock);
		if (inside)
			sleep_ms(1);
	} while (inside && (timeout_ns < 0 || now_ns() < until));
	return !inside;
}

void fw_pipeline_drain(struct fw_pipeline *p)
{
	fw_pipeline_wait(p, -1);
}

fw_status fw_pipeline_get_stats(struct fw_pipeline *p, struct fw_pipeline_stats *stats,
				struct fw_error *err)
{
	(void)err;
	pthread_mutex_lock(&p->lock);
	*stats = p->stats;
	stats->slots_used = (uint32_t)p->inside;
	pthread_mutex_unlock(&p->lock);
	stats->slots = p->slots;
	stats->top = p->top;
	stats->classes = CLASSES;
	stats->crop = SIDE;
	stats->workers = stats->max_batch = 1;
	snprintf(stats->engine, sizeof(stats->engine), "fake");
	snprintf(stats->precision, sizeof(stats->precision), "fp32");
	return FW_OK;
}

fw_status fw_pipeline_explain(struct fw_pipeline *pipeline,
			      void (*line)(void *user, const char *text), void *user,
			      struct fw_error *err)
{
	(void)pipeline;
	(void)err;
	line(user, "nothing was measured");
	return FW_OK;
}

void fw_pipeline_destroy(struct fw_pipeline *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_cancelled = p->is_ending = 1;
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->answered);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int main(int argc, char **argv)
{
	return fw_serve_serve(argc, argv);
}
