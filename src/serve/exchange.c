/* The life of a request between its head and its line in the log. */
#include "serve/exchange.h"

#include "base/json_writer.h"
#include "serve/steady_clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is read and dropped of a body that is not taken, before the connection is closed. */
#define MAX_DROPPED (UINT64_C(64) << 20)

struct fw_exchanges {
	struct fw_exchange *list;
	struct fw_infer_image *images;
	struct fw_ask *asks;
	uint32_t *ids;
	float *probabilities;
	pthread_mutex_t lock;
	uint32_t *free_places, n_free, count;
};

static uint64_t bytes_each(const struct fw_service_options *o)
{
	uint64_t image = sizeof(struct fw_infer_image) + sizeof(struct fw_ask) +
			 o->pipeline.top * (sizeof(uint32_t) + sizeof(float));

	return sizeof(struct fw_exchange) + sizeof(uint32_t) + o->max_images * image;
}

static void place_memory(struct fw_exchanges *e, const struct fw_service_options *o)
{
	size_t images = o->max_images, classes = images * o->pipeline.top;

	for (uint32_t i = 0; i < e->count; i++) {
		struct fw_exchange *x = &e->list[i];

		x->place = i;
		x->images = e->images + i * images;
		x->asks = e->asks + i * images;
		x->ids = e->ids + i * classes;
		x->probabilities = e->probabilities + i * classes;
		for (uint32_t k = 0; k < images; k++)
			x->asks[k] = (struct fw_ask){ x, k };
		e->free_places[e->n_free++] = e->count - 1 - i; /* the first is taken first */
	}
}

fw_status fw_exchanges_open(struct fw_service *service, struct fw_error *err)
{
	const struct fw_service_options *o = &service->options;
	struct fw_exchanges *e = calloc(1, sizeof(*e));
	size_t images = (size_t)o->max_connections * o->max_images;

	if (!e)
		return fw_fail_nomem(err, sizeof(*e));
	service->exchanges = e;
	pthread_mutex_init(&e->lock, NULL);
	e->count = o->max_connections;
	e->list = calloc(e->count, sizeof(*e->list));
	e->free_places = calloc(e->count, sizeof(*e->free_places));
	e->images = calloc(images, sizeof(*e->images));
	e->asks = calloc(images, sizeof(*e->asks));
	e->ids = calloc(images * o->pipeline.top, sizeof(*e->ids));
	e->probabilities = calloc(images * o->pipeline.top, sizeof(*e->probabilities));
	if (!e->list || !e->free_places || !e->images || !e->asks || !e->ids || !e->probabilities)
		return fw_fail_nomem(err, fw_exchanges_bytes(service));
	place_memory(e, o);
	return FW_OK;
}

void fw_exchanges_close(struct fw_service *service)
{
	struct fw_exchanges *e = service->exchanges;

	if (!e)
		return;
	free(e->list);
	free(e->free_places);
	free(e->images);
	free(e->asks);
	free(e->ids);
	free(e->probabilities);
	pthread_mutex_destroy(&e->lock);
	free(e);
	service->exchanges = NULL;
}

uint64_t fw_exchanges_bytes(const struct fw_service *service)
{
	return service->options.max_connections * bytes_each(&service->options);
}

uint32_t fw_exchanges_in_use(const struct fw_service *service)
{
	struct fw_exchanges *e = service->exchanges;
	uint32_t n;

	pthread_mutex_lock(&e->lock);
	n = e->count - e->n_free;
	pthread_mutex_unlock(&e->lock);
	return n;
}

static struct fw_exchange *take(struct fw_exchanges *e)
{
	struct fw_exchange *x = NULL;

	pthread_mutex_lock(&e->lock);
	if (e->n_free)
		x = &e->list[e->free_places[--e->n_free]];
	pthread_mutex_unlock(&e->lock);
	return x;
}

static void give(struct fw_exchanges *e, const struct fw_exchange *x)
{
	pthread_mutex_lock(&e->lock);
	e->free_places[e->n_free++] = x->place;
	pthread_mutex_unlock(&e->lock);
}

void fw_exchange_fail(struct fw_exchange *x, unsigned status, const char *fmt, ...)
{
	struct fw_json json = { .out = &x->answer.body };
	char text[sizeof(((struct fw_error *)NULL)->message) + 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	x->answer.status = status;
	x->answer.type = "application/json";
	x->answer.json_bytes = 0;
	fw_str_clear(&x->answer.body);
	fw_json_begin_object(&json, NULL);
	fw_json_string(&json, "error", text);
	fw_json_end_object(&json);
	fw_str_putc(&x->answer.body, '\n');
	/* While the body still comes, the answer waits for its end: clients read answers when they have sent. */
	if (x->step != FW_EXCHANGE_READING)
		x->step = FW_EXCHANGE_ANSWERED;
}

/* A whole number in a header or argument; false: it is there and is something else. */
static bool read_number(const char *text, uint64_t most, uint64_t *value)
{
	uint64_t n = 0;

	if (!text)
		return true;
	if (!*text || strlen(text) > 18 || strspn(text, "0123456789") != strlen(text))
		return false;
	for (; *text; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	*value = n;
	return n <= most;
}

static bool is_image_type(const char *type)
{
	return !type || !strncasecmp(type, "image/", 6) ||
	       !strncasecmp(type, "application/octet-stream", 24) ||
	       !strncasecmp(type, "application/x-www-form-urlencoded", 33); /* curl's own */
}

/* What the head says of an infer or classify request. */
static void read_head(struct fw_exchange *x, const struct fw_exchange_head *head)
{
	const struct fw_service_options *o = &x->service->options;
	uint64_t length = 0, json = SIZE_MAX, top = o->pipeline.top, timeout_ms = 0;
	struct fw_error err;

	x->json_length = SIZE_MAX;
	x->infer = (struct fw_infer){ .images = x->images };
	if (!read_number(head->content_length, o->max_body, &length))
		fw_exchange_fail(x, 413, "the body is larger than the %llu bytes allowed",
				 (unsigned long long)o->max_body);
	else if (!read_number(head->json_length, o->max_body, &json))
		fw_exchange_fail(x, 400, "Inference-Header-Content-Length is not a size");
	else if (!read_number(head->top, o->pipeline.top, &top) || !top)
		fw_exchange_fail(x, 400, "top is a number from 1 to %u", o->pipeline.top);
	else if (!read_number(head->timeout_ms, INT64_MAX / 1000000, &timeout_ms))
		fw_exchange_fail(x, 400, "timeout_ms is a number of milliseconds");
	else if (x->endpoint == FW_ENDPOINT_CLASSIFY && !is_image_type(head->content_type))
		fw_exchange_fail(x, 415, "classify takes image/jpeg or image/png");
	else if (head->content_encoding && strcasecmp(head->content_encoding, "identity") &&
		 strcasecmp(head->content_encoding, "gzip") &&
		 strcasecmp(head->content_encoding, "deflate"))
		fw_exchange_fail(x, 415, "Content-Encoding is gzip or deflate, or there is none");
	else if (head->content_encoding && strcasecmp(head->content_encoding, "identity") &&
		 fw_body_compressed(&x->body, &err))
		fw_exchange_fail(x, 503, "%s", err.message);
	x->json_length = (size_t)json;
	x->infer.top = (uint32_t)top;
	x->infer.timeout_ns = (int64_t)timeout_ms * 1000000;
}

/* Not for everyone, or not now. */
static bool refuse(struct fw_exchange *x, const struct fw_exchange_head *head)
{
	bool is_health = x->endpoint == FW_ENDPOINT_LIVE || x->endpoint == FW_ENDPOINT_READY;
	const char *method = fw_endpoint_method(x->endpoint);
	bool is_get = !strcmp(method, "GET");

	if (!is_health && !fw_bearer_allows(&x->service->bearer, head->authorization)) {
		fw_exchange_fail(x, 401, "a token is needed: Authorization: Bearer TOKEN");
		return true;
	}
	if (x->endpoint == FW_ENDPOINT_NONE) {
		fw_exchange_fail(x, 404, "there is no %.200s here: the model is '%s', version %s",
				 head->path, x->service->options.name, FW_INFER_VERSION);
		return true;
	}
	if (strcmp(head->method, method) && !(is_get && !strcmp(head->method, "HEAD"))) {
		x->answer.allow = is_get ? "GET, HEAD" : "POST";
		fw_exchange_fail(x, 405, "the method of this path is %s", method);
		return true;
	}
	return false;
}

struct fw_exchange *fw_exchange_begin(struct fw_service *service, void *connection,
				      const struct fw_exchange_head *head)
{
	struct fw_exchange *x = take(service->exchanges);

	if (!x)
		return NULL;
	x->service = service;
	x->connection = connection;
	x->step = FW_EXCHANGE_READING;
	x->endpoint = fw_endpoint_find(head->path, service->options.name);
	x->method = head->method;
	x->path = head->path;
	x->start_ns = fw_steady_ns();
	x->bytes_in = x->bytes_out = 0;
	x->is_submitted = false;
	x->infer = (struct fw_infer){ .images = x->images };
	x->answer = (struct fw_answer){ .status = 0 };
	fw_body_init(&x->body, &service->bodies, x->place);
	if (!refuse(x, head) && !strcmp(fw_endpoint_method(x->endpoint), "POST"))
		read_head(x, head);
	return x;
}

void fw_exchange_body(struct fw_exchange *x, const void *bytes, size_t size)
{
	struct fw_error err = { .code = FW_OK };
	fw_status status;

	x->bytes_in += size;
	if (x->answer.status) { /* it has failed already */
		if (x->bytes_in > MAX_DROPPED)
			x->step = FW_EXCHANGE_LOST;
		return;
	}
	if (strcmp(fw_endpoint_method(x->endpoint), "POST")) {
		fw_exchange_fail(x, 400, "a body of a GET");
		return;
	}
	status = fw_body_append(&x->body, bytes, size, &err);
	if (!status)
		return;
	fw_exchange_fail(x, fw_body_status(status), "%s", err.message);
	fw_body_release(&x->body); /* what came is of no use, and others may need the memory */
}

void fw_exchange_end(struct fw_exchange *x)
{
	struct fw_error err;

	x->step = FW_EXCHANGE_ANSWERED;
	if (x->answer.status)
		return;
	if (strcmp(fw_endpoint_method(x->endpoint), "POST"))
		fw_endpoint_tell(x);
	else if (fw_body_end(&x->body, &err))
		fw_exchange_fail(x, 400, "%s", err.message);
	else
		fw_endpoint_submit(x);
}

void fw_exchange_finish(struct fw_exchange *x)
{
	x->step = FW_EXCHANGE_ANSWERED;
	fw_endpoint_classes(x);
	if (x->answer.body.failed)
		fw_exchange_fail(x, 503, "out of memory");
	fw_body_release(&x->body);
}

void fw_exchange_close(struct fw_exchange *x, const char *client, unsigned status)
{
	struct fw_service *service = x->service;
	int64_t total = fw_steady_ns() - x->start_ns;
	const struct fw_access access = {
		.client = client,
		.method = x->method,
		.path = x->path,
		.status = status ? status : 499,
		.bytes_in = x->bytes_in,
		.bytes_out = x->bytes_out,
		.total_ns = total,
		.images = x->infer.count,
		.batch = x->batch,
		.stage_ns = x->is_submitted ? x->stage_ns : NULL,
	};

	fw_counts_request(&service->counts, x->endpoint, access.status, (double)total / 1e9);
	fw_counter_add(&service->counts.bytes_in, x->bytes_in);
	fw_counter_add(&service->counts.bytes_out, x->bytes_out);
	fw_access_log_write(&service->log, &access);
	fw_str_release(&x->answer.body);
	fw_body_release(&x->body);
	give(service->exchanges, x);
}
