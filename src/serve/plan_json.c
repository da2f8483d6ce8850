/* A plan as JSON; docs/nn.md lists the keys. */
#include "base/json_writer.h"
#include "nn/roofline.h"
#include "serve/plan_print.h"

static void put_tensor(struct fw_json *json, const char *key, const struct fw_nn_plan *plan,
		       uint32_t tensor)
{
	const struct fw_nn_tensor *t = &plan->tensors[tensor];

	if (tensor == FW_NN_NONE) {
		fw_json_null(json, key);
		return;
	}
	fw_json_begin_object(json, key);
	fw_json_string(json, "name", t->name);
	fw_json_int(json, "n", t->n);
	fw_json_int(json, "h", t->h);
	fw_json_int(json, "w", t->w);
	fw_json_int(json, "c", t->c);
	fw_json_int(json, "padded_c", t->padded_c);
	fw_json_int(json, "pixel_stride", t->pixel_stride);
	fw_json_uint(json, "offset", t->offset);
	fw_json_uint(json, "buffer", t->buffer);
	fw_json_end_object(json);
}

static void put_step(struct fw_json *json, const struct fw_serve_shown *shown,
		     const struct fw_nn_step *step)
{
	const struct fw_nn_plan *plan = shown->plan;
	struct fw_nn_roofline r;
	struct fw_str words = { 0 };

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "kind", fw_nn_step_name(step->kind));
	fw_serve_step_text(&words, step);
	fw_json_string(json, "does", fw_str_text(&words));
	fw_str_release(&words);
	fw_json_begin_array(json, "nodes");
	for (uint32_t i = 0; i < step->n_nodes; i++)
		fw_json_string(json, NULL, plan->graph->nodes[step->nodes[i]].name);
	fw_json_end_array(json);
	put_tensor(json, "input", plan, step->input);
	put_tensor(json, "second", plan, step->second);
	put_tensor(json, "output", plan, step->output);
	fw_json_uint(json, "flops", step->flops);
	fw_json_uint(json, "read_bytes", step->read_bytes);
	fw_json_uint(json, "write_bytes", step->write_bytes);
	if (shown->peak) {
		r = fw_nn_step_roofline(plan, step, shown->peak);
		fw_json_double(json, "compute_s", r.compute_s);
		fw_json_double(json, "memory_s", r.memory_s);
		fw_json_double(json, "at_least_s", r.bound_s);
		fw_json_string(json, "bound_by", r.is_memory_bound ? "memory" : "compute");
	}
	fw_json_string(json, "fallback", step->fallback);
	fw_json_end_object(json);
}

static void put_peak(struct fw_json *json, const struct fw_hw_peak *peak)
{
	fw_json_begin_object(json, "gpu");
	fw_json_string(json, "name", peak->name);
	fw_json_string(json, "variant", peak->variant);
	fw_json_double(json, "fp32_tflops", peak->fp32_tflops);
	fw_json_double(json, "tensor_tflops", peak->tensor_tflops);
	fw_json_double(json, "gb_s", peak->gb_s);
	fw_json_end_object(json);
}

void fw_serve_plan_json(struct fw_str *out, const struct fw_serve_shown *shown)
{
	struct fw_json json = { .out = out, .indent = 2 };
	const struct fw_nn_plan *plan = shown->plan;

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	fw_json_string(&json, "model", plan->graph->path);
	fw_json_int(&json, "opset", plan->graph->opset);
	fw_json_int(&json, "batch", plan->batch);
	fw_json_string(&json, "precision", fw_nn_precision_name(plan->precision));
	fw_json_bool(&json, "fused", shown->is_fused);
	fw_json_uint(&json, "nodes", plan->graph->n_nodes);
	if (shown->peak)
		put_peak(&json, shown->peak);
	fw_json_uint(&json, "flops", plan->flops);
	fw_json_uint(&json, "arena_bytes", plan->arena_bytes);
	fw_json_uint(&json, "weight_bytes", plan->weight_bytes);
	fw_json_begin_array(&json, "steps");
	for (uint32_t i = 0; i < plan->n_steps; i++)
		put_step(&json, shown, &plan->steps[i]);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}
