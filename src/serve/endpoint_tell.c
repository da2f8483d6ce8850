/* What the service says about itself. */
#include "base/json_writer.h"
#include "metrics/openmetrics.h"
#include "serve/exchange.h"

#include <string.h>

static const char *const state_names[] = {
	[FW_SERVICE_LOADING] = "loading",   [FW_SERVICE_READY] = "ready",
	[FW_SERVICE_DRAINING] = "draining", [FW_SERVICE_BROKEN] = "broken",
	[FW_SERVICE_FAILED] = "failed",
};

static void tell_ready(struct fw_exchange *x, struct fw_json *json)
{
	char why[640];
	enum fw_service_state state = fw_service_state(x->service, why, sizeof(why));

	fw_json_begin_object(json, NULL);
	fw_json_bool(json, "ready", state == FW_SERVICE_READY);
	fw_json_string(json, "state", state_names[state]);
	if (state != FW_SERVICE_READY) {
		x->answer.status = 503;
		fw_json_string(json, "error", why);
	}
	fw_json_end_object(json);
}

static void tell_live(struct fw_json *json)
{
	fw_json_begin_object(json, NULL);
	fw_json_bool(json, "live", true);
	fw_json_end_object(json);
}

static void tell_server(struct fw_json *json)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", "fullwarp-serve");
	fw_json_string(json, "version", fw_version());
	fw_json_begin_array(json, "extensions");
	fw_json_string(json, NULL, "binary_tensor_data");
	fw_json_string(json, NULL, "classification");
	fw_json_end_array(json);
	fw_json_end_object(json);
}

static void begin_tensor(struct fw_json *json, const char *name, const char *type, int64_t second)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", name);
	fw_json_string(json, "datatype", type);
	fw_json_begin_array(json, "shape");
	fw_json_int(json, NULL, -1);
	fw_json_int(json, NULL, second);
}

static void end_tensor(struct fw_json *json)
{
	fw_json_end_array(json);
	fw_json_end_object(json);
}

/* Known when the model is loaded. */
static void tell_model(struct fw_exchange *x, struct fw_json *json)
{
	struct fw_service *service = x->service;
	struct fw_infer_limits limits;
	enum fw_service_state state;

	pthread_rwlock_rdlock(&service->lock);
	state = service->state;
	limits = service->limits;
	pthread_rwlock_unlock(&service->lock);
	if (state == FW_SERVICE_LOADING) {
		fw_exchange_fail(x, 503, "the model is being loaded");
		return;
	}
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", service->options.name);
	fw_json_begin_array(json, "versions");
	fw_json_string(json, NULL, FW_INFER_VERSION);
	fw_json_end_array(json);
	fw_json_string(json, "platform", "onnx_fullwarp");
	fw_json_begin_array(json, "inputs"); /* one of them */
	begin_tensor(json, "image", "BYTES", 1);
	end_tensor(json);
	begin_tensor(json, "tensor", "FP32", 3);
	fw_json_int(json, NULL, limits.side);
	fw_json_int(json, NULL, limits.side);
	end_tensor(json);
	fw_json_end_array(json);
	fw_json_begin_array(json, "outputs");
	for (int i = 0; i < FW_INFER_KINDS; i++) {
		enum fw_infer_kind kind = (enum fw_infer_kind)i;

		if (kind == FW_INFER_LABEL && !limits.has_labels)
			continue;
		begin_tensor(json, fw_infer_output_name(kind), fw_infer_output_type(kind),
			     limits.top);
		end_tensor(json);
	}
	fw_json_end_array(json);
	fw_json_end_object(json);
}

void fw_endpoint_tell(struct fw_exchange *x)
{
	struct fw_json json = { .out = &x->answer.body };

	x->answer.status = 200;
	x->answer.type = "application/json";
	switch (x->endpoint) {
	case FW_ENDPOINT_LIVE: tell_live(&json); break;
	case FW_ENDPOINT_READY:
	case FW_ENDPOINT_MODEL_READY: tell_ready(x, &json); break;
	case FW_ENDPOINT_SERVER: tell_server(&json); break;
	case FW_ENDPOINT_MODEL: tell_model(x, &json); break;
	default:
		x->answer.type = FW_OPENMETRICS_CONTENT_TYPE;
		fw_counts_write(x->service, &x->answer.body);
		return;
	}
	if (x->answer.status == 200 || x->endpoint != FW_ENDPOINT_MODEL)
		fw_str_putc(&x->answer.body, '\n');
}
