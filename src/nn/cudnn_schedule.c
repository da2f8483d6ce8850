/*
 * At small batch sizes a layer does not fill the GPU: operations that do not depend on each other run side by side, on two
 * streams. That needs memory that they do not share.
 */
#include "nn/cudnn_network.h"

#include <stdlib.h>
#include <string.h>

/* All buffers together stay in the second-level cache of large GPUs (H200: 60 MB), or memory is shared as planned. */
#define SMALL_BYTES ((uint64_t)32 << 20)
#define ALIGNMENT   256

struct buffer {
	uint64_t begin, end, place; /* in the plan; in this engine */
};

/* The span of each buffer in the plan. buffers: as many as there are tensors. */
static uint64_t measure(const struct fw_nn_plan *plan, struct buffer *buffers)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < plan->n_tensors; i++) {
		const struct fw_nn_tensor *t = &plan->tensors[i];
		struct buffer *b = &buffers[t->buffer];

		if (!b->end || t->offset < b->begin)
			b->begin = t->offset;
		if (t->offset + t->bytes > b->end)
			b->end = t->offset + t->bytes;
	}
	for (uint32_t i = 0; i < plan->n_tensors; i++) {
		buffers[i].place = total;
		total +=
			(buffers[i].end - buffers[i].begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return total;
}

/* Each buffer at a place of its own, if all of them are small together. */
static void spread(struct fw_nn_program *program, struct buffer *buffers)
{
	const struct fw_nn_plan *plan = program->plan;
	uint64_t total;

	for (uint32_t i = 0; i < plan->n_tensors; i++)
		if (plan->tensors[i].buffer >= plan->n_tensors)
			return; /* numbered otherwise than we count */
	total = measure(plan, buffers);
	if (total > SMALL_BYTES)
		return;
	program->is_small = true;
	program->arena_bytes = total;
	for (uint32_t i = 0; i < plan->n_tensors; i++) {
		const struct buffer *b = &buffers[plan->tensors[i].buffer];

		program->tensors[i].offset += b->place - b->begin;
	}
}

/* The step that writes a tensor, or FW_NN_NONE: the input. */
static uint32_t writer(const struct fw_nn_program *program, uint32_t tensor)
{
	for (uint32_t i = 0; i < program->plan->n_steps; i++)
		if (program->steps[i].output == tensor)
			return i;
	return FW_NN_NONE;
}

/*
 * Two convolutions are added, the first ends the long branch and the second is the short one, which carries the sum: the
 * other way round, the short one can run beside the long branch.
 */
static bool is_short_last(const struct fw_nn_program *program, uint32_t index)
{
	const struct fw_nn_step *a = &program->steps[index], *b = a + 1;
	uint32_t long_input, short_input;

	if (a->kind != FW_NN_STEP_CONV || b->kind != FW_NN_STEP_CONV || b->second != a->output ||
	    a->second != FW_NN_NONE || a->act.kind != FW_NN_ACT_NONE ||
	    a->output == program->plan->output)
		return false;
	for (uint32_t i = 0; i < program->plan->n_steps; i++)
		if (i != index + 1 &&
		    (program->steps[i].input == a->output || program->steps[i].second == a->output))
			return false;
	long_input = writer(program, a->input);
	short_input = writer(program, b->input);
	return long_input != FW_NN_NONE && (short_input == FW_NN_NONE || short_input < long_input);
}

/* What is computed changes places; where results lie, the sum and the activation stay. */
static void exchange(struct fw_nn_program *program, uint32_t index)
{
	struct fw_nn_step *a = &program->steps[index], *b = a + 1;
	const struct fw_nn_step first = *a, second = *b;

	*a = second;
	*b = first;
	a->output = first.output;
	a->second = FW_NN_NONE;
	a->act = first.act;
	b->output = second.output;
	b->second = first.output;
	b->act = second.act;
	program->planned[index] = index + 1;
	program->planned[index + 1] = index;
}

fw_status fw_nn_program_place(struct fw_nn_program *program, struct fw_error *err)
{
	const struct fw_nn_plan *plan = program->plan;
	struct buffer *buffers = calloc(plan->n_tensors, sizeof(*buffers));

	program->tensors = calloc(plan->n_tensors, sizeof(*program->tensors));
	program->steps = calloc(plan->n_steps, sizeof(*program->steps));
	program->planned = calloc(plan->n_steps, sizeof(*program->planned));
	if (!buffers || !program->tensors || !program->steps || !program->planned) {
		free(buffers);
		return fw_fail_nomem(err, plan->n_steps * sizeof(*program->steps));
	}
	memcpy(program->tensors, plan->tensors, plan->n_tensors * sizeof(*program->tensors));
	memcpy(program->steps, plan->steps, plan->n_steps * sizeof(*program->steps));
	for (uint32_t i = 0; i < plan->n_steps; i++)
		program->planned[i] = i;
	program->arena_bytes = plan->arena_bytes;
	spread(program, buffers);
	free(buffers);
	for (uint32_t i = 0; program->is_small && i + 1 < plan->n_steps; i++)
		if (is_short_last(program, i))
			exchange(program, i++);
	return FW_OK;
}

/* Whether two tensors have a byte in common; parts of one concatenation have none. */
static bool overlap(const struct fw_nn_program *program, uint32_t a, uint32_t b)
{
	const struct fw_nn_tensor *x = &program->tensors[a], *y = &program->tensors[b];
	const uint64_t element = fw_nn_precision_bytes(program->plan->precision);
	uint64_t step, shift;

	if (x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset)
		return false;
	if (x->pixel_stride != y->pixel_stride)
		return true;
	step = (uint64_t)x->pixel_stride * element;
	shift = (y->offset % step + step - x->offset % step) % step;
	return shift < (uint64_t)x->padded_c * element ||
	       step - shift < (uint64_t)y->padded_c * element;
}

/* Whether one of two operations writes what the other touches. */
static bool depend(const struct fw_nn_program *program, const struct fw_nn_operation *a,
		   const struct fw_nn_operation *b)
{
	const struct fw_nn_step *x = &program->steps[a->step];
	const struct fw_nn_step *y = &program->steps[b->step];
	const uint32_t pairs[][2] = { { x->output, y->output },
				      { x->output, y->input },
				      { x->output, y->second },
				      { x->input, y->output },
				      { x->second, y->output } };

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] != FW_NN_NONE && pairs[i][1] != FW_NN_NONE &&
		    overlap(program, pairs[i][0], pairs[i][1]))
			return true;
	return false;
}

/* The last of the operations before one that it depends on; FW_NN_NONE: none. */
static uint32_t last_dependency(const struct fw_nn_program *program, uint32_t index)
{
	const struct fw_nn_operation *operations = program->operations.data;

	for (uint32_t i = index; i-- > 0;)
		if (depend(program, &operations[i], &operations[index]))
			return i;
	return FW_NN_NONE;
}

void fw_nn_program_schedule(struct fw_nn_program *program)
{
	struct fw_nn_operation *operations = program->operations.data;
	const uint32_t n = (uint32_t)program->operations.len;

	for (uint32_t i = 0; i < n; i++)
		operations[i].start_beside = FW_NN_NONE;
	for (uint32_t i = 2; program->is_small && i + 1 < n; i++) {
		const uint32_t after = last_dependency(program, i);
		uint32_t join = i + 1;

		if (after == FW_NN_NONE || after + 1 >= i || operations[i - 1].is_beside ||
		    operations[after].is_beside || operations[after].start_beside != FW_NN_NONE)
			continue;
		while (join < n && !depend(program, &operations[i], &operations[join]))
			join++;
		if (join == n)
			continue;
		operations[i].is_beside = true;
		operations[after].start_beside = i;
		operations[join].joins = true;
	}
}
