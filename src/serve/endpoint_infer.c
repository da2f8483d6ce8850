/* Images into the pipeline, classes out: infer and classify. */
#include "base/json_writer.h"
#include "serve/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of an answer that says: not now. */
static void unavailable(struct fw_exchange *x, const char *why)
{
	fw_exchange_fail(x, 503, "%s", why);
	x->answer.closes = fw_service_state(x->service, NULL, 0) != FW_SERVICE_READY;
}

/* The engine itself failed, and will again. */
static bool is_engines_end(const struct fw_pipeline_answer *answer)
{
	return answer->outcome == FW_PIPELINE_FAILED &&
	       answer->failed == FW_PIPELINE_STAGE_COMPUTE && answer->error->code == FW_ERR_IO;
}

/* One thing less to wait for; who takes the last one away ends the wait. */
static void settle(struct fw_exchange *x)
{
	if (atomic_fetch_sub(&x->pending, 1) == 1)
		x->service->resume(x->connection);
}

static void note_failure(struct fw_exchange *x, uint32_t image,
			 const struct fw_pipeline_answer *answer)
{
	if (x->failed_image <= image)
		return;
	x->failed_image = image;
	x->outcome = answer->outcome;
	x->failed_stage = answer->failed;
	x->err = *answer->error;
}

/* On the pipeline's answering thread. */
static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct fw_ask *ask = user;
	struct fw_exchange *x = ask->exchange;
	size_t at = (size_t)ask->number * x->service->options.pipeline.top;

	memcpy(x->ids + at, answer->ids, answer->count * sizeof(*x->ids));
	memcpy(x->probabilities + at, answer->probabilities,
	       answer->count * sizeof(*x->probabilities));
	if (answer->outcome != FW_PIPELINE_CLASSIFIED)
		note_failure(x, ask->number, answer);
	x->batch = answer->batch;
	memcpy(x->stage_ns, answer->stage_ns, sizeof(x->stage_ns));
	if (is_engines_end(answer))
		fw_service_set_state(x->service, FW_SERVICE_BROKEN, answer->error);
	settle(x);
}

static int64_t timeout_of(const struct fw_exchange *x)
{
	int64_t most = x->service->options.deadline_ns, asked = x->infer.timeout_ns;

	if (!asked || (most && most < asked))
		return most;
	return asked;
}

/* Under the service's lock, for reading: the pipeline is there. */
static void submit_all(struct fw_exchange *x)
{
	struct fw_pipeline_request request;

	fw_pipeline_request_init(&request);
	request.is_tensor = x->infer.is_tensor;
	request.is_waiting = 0;
	request.timeout_ns = timeout_of(x);
	request.callback = on_answer;
	for (uint32_t i = 0; i < x->infer.count; i++) {
		fw_status status;

		request.bytes = x->infer.images[i].bytes;
		request.size = x->infer.images[i].size;
		request.user = &x->asks[i];
		atomic_fetch_add(&x->pending, 1);
		status = fw_pipeline_submit(x->service->pipeline, &request, &x->refusal);
		if (!status)
			continue;
		/* Those before it are answered, and then nobody wants them. */
		x->is_refused = true;
		atomic_fetch_sub(&x->pending, 1); /* never the last one */
		return;
	}
}

static bool read_request(struct fw_exchange *x, const struct fw_infer_limits *limits)
{
	struct fw_error err = { .code = FW_OK };
	size_t json = x->json_length == SIZE_MAX ? x->body.size : x->json_length;
	int64_t timeout_ns = x->infer.timeout_ns;
	fw_status status;

	if (x->endpoint == FW_ENDPOINT_CLASSIFY) {
		if (x->infer.top > limits->top)
			x->infer.top = limits->top;
		x->infer.count = 1;
		x->infer.images[0] = (struct fw_infer_image){ x->body.bytes, x->body.size };
		return true;
	}
	status = fw_infer_read(&x->infer, limits, &x->body, json, &err);
	if (!x->infer.timeout_ns)
		x->infer.timeout_ns = timeout_ns;
	if (!status)
		return true;
	fw_exchange_fail(x, fw_body_status(status), "%s", err.message);
	return false;
}

void fw_endpoint_submit(struct fw_exchange *x)
{
	struct fw_service *service = x->service;
	struct fw_infer_limits limits;
	char why[640];

	if (fw_service_state(service, why, sizeof(why)) != FW_SERVICE_READY) {
		unavailable(x, why);
		return;
	}
	pthread_rwlock_rdlock(&service->lock);
	limits = service->limits;
	pthread_rwlock_unlock(&service->lock);
	if (!read_request(x, &limits))
		return;
	x->step = FW_EXCHANGE_WAITING;
	x->is_refused = false;
	x->failed_image = UINT32_MAX;
	x->batch = 0;
	memset(x->stage_ns, 0, sizeof(x->stage_ns));
	atomic_store(&x->pending, 1);
	service->suspend(x->connection);
	pthread_rwlock_rdlock(&service->lock);
	x->is_submitted = service->state == FW_SERVICE_READY;
	x->is_refused = !x->is_submitted;
	if (x->is_submitted)
		submit_all(x);
	pthread_rwlock_unlock(&service->lock);
	settle(x);
}

/* Why there are no classes. */
static void fail(struct fw_exchange *x)
{
	bool is_decode = x->failed_stage == FW_PIPELINE_STAGE_DECODE;
	unsigned status = 500;

	if (x->outcome == FW_PIPELINE_CANCELLED) {
		unavailable(x, "the service is ending");
		return;
	}
	if (x->outcome == FW_PIPELINE_EXPIRED)
		status = 504;
	else if (x->err.code == FW_ERR_IO)
		status = 503;
	else if (x->err.code != FW_ERR_NOMEM && (is_decode || x->infer.is_tensor))
		status = 400;
	if (x->infer.count > 1)
		fw_exchange_fail(x, status, "image %u: %s", x->failed_image, x->err.message);
	else
		fw_exchange_fail(x, status, "%s", x->err.message);
	x->answer.closes = fw_service_state(x->service, NULL, 0) != FW_SERVICE_READY;
}

static void put_timing(struct fw_exchange *x)
{
	char *text = x->answer.timing;
	size_t cap = sizeof(x->answer.timing), len = 0;

	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++) {
		int n = snprintf(text + len, cap - len, "%s%s;dur=%.3f", i ? ", " : "",
				 fw_pipeline_stage_name((enum fw_pipeline_stage)i),
				 (double)x->stage_ns[i] / 1e6);

		len = n < 0 || (size_t)n >= cap - len ? cap - 1 : len + (size_t)n;
	}
}

static void write_classes(struct fw_exchange *x, const struct fw_labels *labels)
{
	struct fw_json json = { .out = &x->answer.body };

	fw_json_begin_object(&json, NULL);
	fw_json_string(&json, "model_name", x->service->options.name);
	fw_json_string(&json, "model_version", FW_INFER_VERSION);
	fw_json_begin_array(&json, "classes");
	for (uint32_t i = 0; i < x->infer.top; i++) {
		fw_json_begin_object(&json, NULL);
		fw_json_uint(&json, "id", x->ids[i]);
		if (labels)
			fw_json_string(&json, "label", labels->names[x->ids[i]]);
		fw_json_double(&json, "probability", (double)x->probabilities[i]);
		fw_json_end_object(&json);
	}
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(&x->answer.body, '\n');
}

void fw_endpoint_classes(struct fw_exchange *x)
{
	const struct fw_labels *labels = x->service->labels.count ? &x->service->labels : NULL;
	const struct fw_infer_answer answer = {
		.model = x->service->options.name,
		.labels = labels,
		.stride = x->service->options.pipeline.top,
		.ids = x->ids,
		.probabilities = x->probabilities,
	};

	if (x->is_refused && !x->is_submitted) {
		unavailable(x, "the service is ending");
		return;
	}
	if (x->is_refused) {
		unavailable(x, x->refusal.message);
		return;
	}
	if (x->failed_image != UINT32_MAX) {
		fail(x);
		return;
	}
	x->answer.status = 200;
	x->answer.type = "application/json";
	if (x->endpoint == FW_ENDPOINT_INFER)
		x->answer.json_bytes = fw_infer_write(&x->infer, &answer, &x->answer.body);
	else
		write_classes(x, labels);
	if (x->answer.json_bytes)
		x->answer.type = "application/octet-stream";
	put_timing(x);
}
