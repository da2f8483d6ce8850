#ifndef FW_SERVE_EXCHANGE_H
#define FW_SERVE_EXCHANGE_H
/*
 * One request and its answer, without HTTP's own business: the head comes, then pieces of the body, then the end; then there
 * is an answer, at once or when the pipeline has called back for each image. An exchange belongs to the connection that it
 * came on; between submit and the last callback to the pipeline.
 */
#include "serve/endpoint.h"
#include "serve/service.h"

/* Valid while the head is read; NULL: no such header or argument. */
struct fw_exchange_head {
	const char *method, *path; /* the path lives as long as the exchange */
	const char *authorization, *content_type, *content_encoding, *content_length, *json_length;
	const char *top, *timeout_ms; /* arguments of the query */
};

struct fw_answer {
	unsigned status;
	const char *type;   /* of the content; static */
	struct fw_str body; /* the server takes its memory */
	size_t json_bytes;  /* Inference-Header-Content-Length; 0: none */
	const char *allow;  /* of a 405; NULL: none */
	bool closes;        /* the connection is not kept */
	char timing[192];   /* Server-Timing; "": none */
};

enum fw_exchange_step {
	FW_EXCHANGE_READING, /* more of the body may come */
	FW_EXCHANGE_WAITING, /* the pipeline has it: the connection is suspended, or was and is resumed already */
	FW_EXCHANGE_ANSWERED, /* answer is there */
	FW_EXCHANGE_LOST      /* the client sends what nobody can take: close the connection */
};

/* One image of an exchange: what the pipeline calls back with. */
struct fw_ask {
	struct fw_exchange *exchange;
	uint32_t number;
};

struct fw_exchange {
	struct fw_service *service;
	void *connection; /* of suspend and resume */
	uint32_t place;
	enum fw_exchange_step step;
	enum fw_endpoint endpoint;
	const char *method, *path;
	int64_t start_ns;
	struct fw_body body;
	uint64_t bytes_in, bytes_out;
	size_t json_length; /* of Inference-Header-Content-Length; SIZE_MAX: all of the body */
	bool is_submitted, is_refused; /* was in the pipeline; not, or not all of it */

	struct fw_infer infer;
	struct fw_error refusal;       /* why not all of it is in the pipeline */
	struct fw_infer_image *images; /* max_images */

	/* Written by the pipeline's answering thread until pending is 0. */
	atomic_uint pending;
	struct fw_ask *asks; /* max_images */
	uint32_t *ids;       /* max_images x top */
	float *probabilities;
	uint32_t failed_image; /* the first; UINT32_MAX: none */
	enum fw_pipeline_outcome outcome;
	enum fw_pipeline_stage failed_stage;
	struct fw_error err;
	uint32_t batch; /* of the image that was answered last, as is stage_ns */
	int64_t stage_ns[FW_PIPELINE_STAGE_COUNT];

	struct fw_answer answer;
};

/* As many exchanges as there can be connections. */
fw_status fw_exchanges_open(struct fw_service *service, struct fw_error *err);
void fw_exchanges_close(struct fw_service *service);

uint64_t fw_exchanges_bytes(const struct fw_service *service);
uint32_t fw_exchanges_in_use(const struct fw_service *service);

/* NULL: there are none left. */
struct fw_exchange *fw_exchange_begin(struct fw_service *service, void *connection,
				      const struct fw_exchange_head *head);

void fw_exchange_body(struct fw_exchange *exchange, const void *bytes, size_t size);

/* The body is over. step tells what is next. */
void fw_exchange_end(struct fw_exchange *exchange);

/* After the pipeline's last callback: makes the answer. */
void fw_exchange_finish(struct fw_exchange *exchange);

/* Counts it, logs it, gives it back. status 0: the client was gone. */
void fw_exchange_close(struct fw_exchange *exchange, const char *client, unsigned status);

/* The endpoints: what an exchange whose body is complete does next; step and answer tell. */
void fw_endpoint_tell(struct fw_exchange *exchange);    /* everything with GET */
void fw_endpoint_submit(struct fw_exchange *exchange);  /* infer and classify */
void fw_endpoint_classes(struct fw_exchange *exchange); /* their answers */

/* An answer that is an error. */
void fw_exchange_fail(struct fw_exchange *exchange, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
