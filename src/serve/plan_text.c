/* A plan as a table: a line a step, the totals, what is not fused. */
#include "base/amount.h"
#include "nn/roofline.h"
#include "serve/plan_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEP_WIDTH  30
#define SHAPE_WIDTH 18
/* Columns before the nodes, without and with times. */
#define NODES_COLUMN 79u
#define TIME_COLUMNS 18u

/* "8.18 G": three digits, powers of 1000. */
static void put_count(struct fw_str *out, int width, uint64_t count)
{
	static const char units[] = " kMGTPE";
	double value = (double)count;
	int unit = 0;
	char text[32];

	while (value >= 999.5 && unit < 6) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(text, sizeof(text), "%" PRIu64 "  ", count);
	else
		snprintf(text, sizeof(text), "%.*f %c",
			 value < 9.995   ? 2
			 : value < 99.95 ? 1
					 : 0,
			 value, units[unit]);
	fw_str_printf(out, "%*s", width, text);
}

/* A time of a model: less than a nanosecond is not none. */
static struct fw_amount time_of(double seconds)
{
	int64_t ns = (int64_t)(seconds * 1e9 + 0.5);

	return ns || !(seconds > 0) ? fw_amount_time(ns) : (struct fw_amount){ "< 1 ns" };
}

static void put_shape(struct fw_str *out, const struct fw_nn_tensor *t)
{
	char text[64];

	if (t->h == 1 && t->w == 1)
		snprintf(text, sizeof(text), "%" PRId64, t->c);
	else
		snprintf(text, sizeof(text), "%" PRId64 "x%" PRId64 "x%" PRId64, t->h, t->w, t->c);
	fw_str_printf(out, "%-*s", SHAPE_WIDTH, text);
}

/* "/conv1/Conv ... /relu/Relu", cut to the terminal. */
static void put_nodes(struct fw_str *out, const struct fw_serve_shown *shown,
		      const struct fw_nn_step *step)
{
	const struct fw_nn_node *nodes = shown->plan->graph->nodes;
	size_t start = out->len, room = NODES_COLUMN + (shown->peak ? TIME_COLUMNS : 0);

	fw_str_puts(out, nodes[step->nodes[0]].name);
	if (step->n_nodes > 1)
		fw_str_printf(out, " ... %s",
			      fw_nn_op_name(nodes[step->nodes[step->n_nodes - 1]].op));
	if (step->n_nodes > 2)
		fw_str_printf(out, " (%u nodes)", step->n_nodes);
	room = shown->columns > room + 10 ? shown->columns - room : SIZE_MAX;
	if (out->len - start > room && !out->failed) {
		out->len = start + room - 3;
		out->data[out->len] = '\0';
		fw_str_puts(out, "...");
	}
}

static void put_step(struct fw_str *out, const struct fw_serve_shown *shown, uint32_t number)
{
	const struct fw_nn_step *step = &shown->plan->steps[number];
	struct fw_str words = { 0 };
	struct fw_nn_roofline r;

	fw_serve_step_text(&words, step);
	fw_str_printf(out, "%4u  %-*s ", number, STEP_WIDTH, fw_str_text(&words));
	fw_str_release(&words);
	put_shape(out, &shown->plan->tensors[step->output]);
	put_count(out, 8, step->flops);
	fw_str_printf(out, " %11s",
		      fw_amount_bytes((int64_t)(step->read_bytes + step->write_bytes)).text);
	if (shown->peak) {
		r = fw_nn_step_roofline(shown->plan, step, shown->peak);
		fw_str_printf(out, " %9s %-7s", time_of(r.bound_s).text,
			      r.is_memory_bound ? "memory" : "compute");
	}
	fw_str_puts(out, "  ");
	put_nodes(out, shown, step);
	fw_str_putc(out, '\n');
}

static void put_head(struct fw_str *out, const struct fw_serve_shown *shown)
{
	const struct fw_nn_plan *plan = shown->plan;
	const struct fw_nn_tensor *in = &plan->tensors[plan->input];
	const struct fw_hw_peak *peak = shown->peak;

	fw_str_printf(out,
		      "%s: opset %" PRId64 ", batch %" PRId64 ", %s, %s: %u nodes in %u steps\n",
		      plan->graph->path ? plan->graph->path : "model", plan->graph->opset,
		      plan->batch, fw_nn_precision_name(plan->precision),
		      shown->is_fused ? "fused" : "not fused", plan->graph->n_nodes, plan->n_steps);
	fw_str_printf(out, "input '%s': %" PRId64 "x%" PRId64 "x%" PRId64, in->name, in->h, in->w,
		      in->c);
	if (in->padded_c != in->c)
		fw_str_printf(out, " (channels padded to %" PRId64 ")", in->padded_c);
	fw_str_puts(out, "; shapes are height x width x channels of one sample\n");
	if (peak)
		fw_str_printf(out,
			      "%s%s%s: fp32 %g TFLOP/s, tensor cores %g, memory %g GB/s (peak, "
			      "data sheet)\n",
			      peak->name, *peak->variant ? " " : "", peak->variant,
			      peak->fp32_tflops, peak->tensor_tflops, peak->gb_s);
	fw_str_printf(out, "\n%4s  %-*s %-*s%8s %11s", "#", STEP_WIDTH, "step", SHAPE_WIDTH,
		      "output", "FLOPs", "bytes");
	if (peak)
		fw_str_printf(out, " %9s %-7s", "at least", "by");
	fw_str_puts(out, "  nodes\n");
}

static void put_totals(struct fw_str *out, const struct fw_serve_shown *shown)
{
	const struct fw_nn_plan *plan = shown->plan;
	double bound_s = 0, memory_s = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		bytes += plan->steps[i].read_bytes + plan->steps[i].write_bytes;
		if (shown->peak) {
			struct fw_nn_roofline r =
				fw_nn_step_roofline(plan, &plan->steps[i], shown->peak);

			bound_s += r.bound_s;
			memory_s += r.is_memory_bound ? r.bound_s : 0;
		}
	}
	fw_str_puts(out, "\ntotal     ");
	put_count(out, 0, plan->flops);
	fw_str_printf(out, "FLOP, %s moved", fw_amount_bytes((int64_t)bytes).text);
	if (shown->peak && bound_s > 0)
		fw_str_printf(out, "; model: at least %s, %.0f/s, %.0f %% of it bound by memory",
			      time_of(bound_s).text, (double)plan->batch / bound_s,
			      100 * memory_s / bound_s);
	fw_str_printf(out, "\nmemory    activations %s in one arena, ",
		      fw_amount_bytes((int64_t)plan->arena_bytes).text);
	fw_str_printf(out, "weights %s\n", fw_amount_bytes((int64_t)plan->weight_bytes).text);
}

void fw_serve_plan_text(struct fw_str *out, const struct fw_serve_shown *shown)
{
	bool has_title = false;

	put_head(out, shown);
	for (uint32_t i = 0; i < shown->plan->n_steps; i++)
		put_step(out, shown, i);
	put_totals(out, shown);
	for (uint32_t i = 0; i < shown->plan->n_steps; i++) {
		if (!shown->plan->steps[i].fallback)
			continue;
		fw_str_puts(out, has_title ? "" : "\nnot in place\n");
		has_title = true;
		fw_str_printf(out, "%4u  %s\n", i, shown->plan->steps[i].fallback);
	}
}
