/* Which results lie over their operands, how long each buffer lives, and where in the arena it lies. */
#include "nn/planner.h"

#include <stdlib.h>

#define BUFFER_ALIGNMENT 256

/* What the passes know of each tensor; for a root of the whole buffer. */
struct life {
	uint32_t first, last; /* steps; first > last: nothing wrote or read it yet */
	bool is_used;         /* a step of the plan names it */
	uint32_t number;      /* in the plan */
};

static void touch(struct life *life, uint32_t step)
{
	life->first = step < life->first ? step : life->first;
	life->last = step > life->last ? step : life->last;
	life->is_used = true;
}

/* The lives of all buffers, and which tensors are used at all. */
static void find_lives(struct fw_nn_planner *p, struct life *lives)
{
	uint32_t end = p->plan->n_steps - 1;

	for (uint32_t i = 0; i < p->tensors.len; i++)
		lives[i] = (struct life){ .first = UINT32_MAX };
	for (uint32_t i = 0; i < p->plan->n_steps; i++) {
		const struct fw_nn_step *s = &p->plan->steps[i];
		const uint32_t named[] = { s->input, s->second, s->output };

		for (int k = 0; k < 3; k++) {
			if (named[k] == FW_NN_NONE)
				continue;
			lives[named[k]].is_used = true;
			touch(&lives[fw_nn_root(p, named[k])], i);
		}
	}
	touch(&lives[fw_nn_root(p, p->plan->input)], 0);
	touch(&lives[fw_nn_root(p, p->plan->input)], end);
	touch(&lives[fw_nn_root(p, p->plan->output)], end);
	lives[p->plan->input].is_used = lives[p->plan->output].is_used = true;
}

static bool is_same_size(const struct fw_nn_draft_tensor *a, const struct fw_nn_draft_tensor *b)
{
	return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c &&
	       a->padded_c == b->padded_c;
}

/* Whether the result of step may be written over tensor `over`, one of its operands. */
static bool may_overwrite(struct fw_nn_planner *p, const struct life *lives, uint32_t step,
			  uint32_t over)
{
	const struct fw_nn_step *s = &p->plan->steps[step];
	uint32_t root = fw_nn_root(p, over);
	const struct fw_nn_draft_tensor *whole = fw_nn_draft(p, root);
	const struct fw_nn_draft_tensor *to = fw_nn_draft(p, s->output);
	uint32_t other = over == s->input ? s->second : s->input;

	/* What lies in the root as a part, a view or a result in place is counted in its life. */
	return is_same_size(whole, fw_nn_draft(p, over)) && is_same_size(whole, to) &&
	       to->parent == FW_NN_NONE && !whole->is_fixed && lives[root].last == step &&
	       (other == FW_NN_NONE || fw_nn_root(p, other) != root);
}

static void go_in_place(struct fw_nn_planner *p, struct life *lives, uint32_t step)
{
	const struct fw_nn_step *s = &p->plan->steps[step];
	bool is_elementwise = s->kind == FW_NN_STEP_ELEMENTWISE;
	bool adds = (s->kind == FW_NN_STEP_CONV || s->kind == FW_NN_STEP_GEMM) &&
		    p->options->residual_in_place;
	uint32_t over = FW_NN_NONE;

	if (is_elementwise && may_overwrite(p, lives, step, s->input))
		over = s->input;
	else if ((is_elementwise || adds) && s->second != FW_NN_NONE &&
		 may_overwrite(p, lives, step, s->second))
		over = s->second;
	if (over == FW_NN_NONE)
		return;
	over = fw_nn_root(p, over);
	fw_nn_draft(p, s->output)->parent = over;
	if (lives[s->output].last > lives[over].last)
		lives[over].last = lives[s->output].last;
}

struct ordered {
	uint64_t bytes;
	uint32_t first, index;
};

/* The largest first; what begins earlier first among equals. */
static int by_size(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* The tightest gap between those placed already that live at the same time; placed: by offset, n of them. */
static uint64_t find_offset(const struct fw_nn_interval *all, const uint32_t *placed, uint32_t n,
			    const struct fw_nn_interval *wanted)
{
	uint64_t end = 0, best = UINT64_MAX, tightest = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct fw_nn_interval *other = &all[placed[i]];

		if (other->last < wanted->first || other->first > wanted->last)
			continue;
		if (other->offset > end && other->offset - end >= wanted->bytes &&
		    other->offset - end < tightest) {
			tightest = other->offset - end;
			best = end;
		}
		if (other->offset + other->bytes > end)
			end = other->offset + other->bytes;
	}
	return best == UINT64_MAX ? end : best;
}

uint64_t fw_nn_pack_intervals(struct fw_nn_interval *intervals, uint32_t n,
			      struct fw_arena *scratch)
{
	struct ordered *order = fw_arena_array(scratch, n, sizeof(*order));
	uint32_t *placed = fw_arena_array(scratch, n, sizeof(*placed));
	uint64_t top = 0;

	if (!order || !placed)
		return UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		intervals[i].bytes = (intervals[i].bytes + BUFFER_ALIGNMENT - 1) /
				     BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
		order[i] = (struct ordered){ intervals[i].bytes, intervals[i].first, i };
	}
	qsort(order, n, sizeof(*order), by_size);
	for (uint32_t i = 0; i < n; i++) {
		struct fw_nn_interval *next = &intervals[order[i].index];
		uint32_t at = i;

		next->offset = find_offset(intervals, placed, i, next);
		for (; at > 0 && intervals[placed[at - 1]].offset > next->offset; at--)
			placed[at] = placed[at - 1];
		placed[at] = order[i].index;
		if (next->offset + next->bytes > top)
			top = next->offset + next->bytes;
	}
	return top;
}

/* Offsets of the buffers; numbers[root] is its interval. */
static fw_status pack(struct fw_nn_planner *p, const struct life *lives, uint32_t *numbers,
		      struct fw_nn_interval *intervals, struct fw_error *err)
{
	size_t element = fw_nn_precision_bytes(p->options->precision);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->tensors.len; i++) {
		const struct fw_nn_draft_tensor *t = fw_nn_draft(p, i);

		if (t->parent != FW_NN_NONE || lives[i].first == UINT32_MAX)
			continue;
		numbers[i] = n;
		intervals[n++] = (struct fw_nn_interval){
			.bytes = (uint64_t)(t->n * t->h * t->w * t->padded_c) * element,
			.first = lives[i].first,
			.last = lives[i].last,
		};
	}
	p->plan->arena_bytes = fw_nn_pack_intervals(intervals, n, &p->scratch);
	if (p->plan->arena_bytes == UINT64_MAX)
		return fw_fail_nomem(err, n * sizeof(*intervals));
	return FW_OK;
}

static void finish_tensor(struct fw_nn_planner *p, uint32_t draft, const uint32_t *numbers,
			  const struct fw_nn_interval *intervals, struct fw_nn_tensor *out)
{
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, draft), *at = t;
	uint64_t element = fw_nn_precision_bytes(p->options->precision), shift = 0;
	int64_t stride = 1;
	uint32_t root = draft;

	while (at->parent != FW_NN_NONE) {
		shift += (uint64_t)at->shift;
		stride *= at->pixels;
		root = at->parent;
		at = fw_nn_draft(p, root);
	}
	*out = (struct fw_nn_tensor){
		.name = t->name,
		.n = t->n,
		.h = t->h,
		.w = t->w,
		.c = t->c,
		.padded_c = t->padded_c,
		.pixel_stride = stride * at->padded_c,
		.offset = intervals[numbers[root]].offset + shift * element,
		.buffer = numbers[root],
		.first_step = UINT32_MAX,
	};
	out->bytes =
		(uint64_t)((t->n * t->h * t->w - 1) * out->pixel_stride + t->padded_c) * element;
}

/* The steps' tensors by their numbers in the plan, and when each of these is written and last read. */
static void renumber(struct fw_nn_planner *p, const struct life *lives,
		     const struct fw_nn_interval *intervals)
{
	struct fw_nn_plan *plan = p->plan;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		struct fw_nn_step *s = &plan->steps[i];
		uint32_t *named[] = { &s->input, &s->second, &s->output };

		for (int k = 0; k < 3; k++) {
			struct fw_nn_tensor *t;

			if (*named[k] == FW_NN_NONE)
				continue;
			*named[k] = lives[*named[k]].number;
			t = &plan->tensors[*named[k]];
			t->last_step = i;
			if (k == 2 && t->first_step == UINT32_MAX)
				t->first_step = i;
		}
	}
	plan->input = lives[plan->input].number;
	plan->output = lives[plan->output].number;
	plan->tensors[plan->input].first_step = 0;
	plan->tensors[plan->input].last_step = plan->n_steps - 1;
	plan->tensors[plan->output].last_step = plan->n_steps - 1;
	for (uint32_t i = 0; i < plan->n_tensors; i++)
		if (plan->tensors[i].first_step ==
		    UINT32_MAX) /* a whole, written in parts; a view */
			plan->tensors[i].first_step = intervals[plan->tensors[i].buffer].first;
}

fw_status fw_nn_place_buffers(struct fw_nn_planner *p, struct fw_error *err)
{
	size_t n = p->tensors.len;
	struct life *lives = fw_arena_array(&p->scratch, n, sizeof(*lives));
	uint32_t *numbers = fw_arena_array(&p->scratch, n, sizeof(*numbers));
	struct fw_nn_interval *intervals = fw_arena_array(&p->scratch, n, sizeof(*intervals));
	struct fw_nn_plan *plan = p->plan;
	fw_status status;

	plan->tensors = fw_arena_array(&plan->arena, n, sizeof(*plan->tensors));
	if (!lives || !numbers || !intervals || !plan->tensors)
		return fw_fail_nomem(err, n * sizeof(*plan->tensors));
	find_lives(p, lives);
	for (uint32_t i = 0; i < plan->n_steps; i++)
		go_in_place(p, lives, i);
	status = pack(p, lives, numbers, intervals, err);
	if (status)
		return status;
	for (uint32_t i = 0; i < n; i++) {
		if (!lives[i].is_used)
			continue;
		lives[i].number = plan->n_tensors++;
		finish_tensor(p, i, numbers, intervals, &plan->tensors[lives[i].number]);
	}
	renumber(p, lives, intervals);
	return FW_OK;
}
