/*
 * What a thread was doing, as a timeline: at every instant the first class of the contract's order
 * that covers it and, within the class, the innermost call or range.
 */
#include "ledger/build.h"

/* The contract's order of what explains a thread's time. */
static const enum fw_class host_order[] = {
	FW_CLASS_SYNC,
	FW_CLASS_BLOCKING_COPY,
	FW_CLASS_ALLOC,
	FW_CLASS_ONE_TIME,
	FW_CLASS_INPUT,
	FW_CLASS_API,
	FW_CLASS_HOST_NOT_RUNNING,
	FW_CLASS_HOST_OP,
};
static const enum fw_class python_order[] = { FW_CLASS_HOST_PYTHON };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum fw_class fw_range_class(uint8_t kind)
{
	switch (kind) {
	case FW_RANGE_INPUT: return FW_CLASS_INPUT;
	case FW_RANGE_OPERATOR: return FW_CLASS_HOST_OP;
	case FW_RANGE_PYTHON: return FW_CLASS_HOST_PYTHON;
	case FW_RANGE_COMPILE: return FW_CLASS_ONE_TIME;
	default: return FW_CLASS_COUNT;
	}
}

/* Something that is going on: it covers its thread until end_ns. */
struct active {
	int64_t end_ns;
	uint32_t item;
	bool is_range;
};

/* Turns the items of one thread, in order of start, into a timeline. */
struct flattener {
	struct fw_build *b;
	const struct fw_thread_work *thread;
	const enum fw_class *order; /* which classes count, the first before the last */
	size_t order_len;
	uint32_t wanted; /* the same as bits 1 << class */
	size_t next_call, next_range, next_switch;
	struct fw_vec active[FW_CLASS_COUNT]; /* struct active, innermost last */
	struct fw_vec spans;
	bool failed;
};

static int64_t next_start(const struct flattener *f)
{
	const struct fw_trace *t = f->b->trace;
	const struct fw_thread_work *w = f->thread;
	int64_t next = INT64_MAX;

	if (f->next_call < w->call_count)
		next = t->calls.start_ns[w->calls[f->next_call]];
	if (f->next_range < w->range_count && t->ranges.start_ns[w->ranges[f->next_range]] < next)
		next = t->ranges.start_ns[w->ranges[f->next_range]];
	if (f->next_switch < w->switch_count &&
	    t->switches.start_ns[w->switches[f->next_switch]] < next)
		next = t->switches.start_ns[w->switches[f->next_switch]];
	return next;
}

static void begin(struct flattener *f, enum fw_class class_id, struct active what)
{
	struct active *a;

	if (class_id == FW_CLASS_COUNT || !(f->wanted >> class_id & 1))
		return;
	a = fw_vec_push(&f->active[class_id]);
	if (a)
		*a = what;
	else
		f->failed = true;
}

/* Begins everything that starts at t. */
static void begin_all(struct flattener *f, int64_t t)
{
	const struct fw_trace_calls *c = &f->b->trace->calls;
	const struct fw_trace_ranges *r = &f->b->trace->ranges;
	const struct fw_trace_switches *o = &f->b->trace->switches;
	const struct fw_thread_work *w = f->thread;

	for (; f->next_call < w->call_count && c->start_ns[w->calls[f->next_call]] == t;
	     f->next_call++) {
		uint32_t i = w->calls[f->next_call];

		begin(f, f->b->call_class[i], (struct active){ c->end_ns[i], i, false });
	}
	for (; f->next_range < w->range_count && r->start_ns[w->ranges[f->next_range]] == t;
	     f->next_range++) {
		uint32_t i = w->ranges[f->next_range];

		begin(f, fw_range_class(r->kind[i]), (struct active){ r->end_ns[i], i, true });
	}
	for (; f->next_switch < w->switch_count && o->start_ns[w->switches[f->next_switch]] == t;
	     f->next_switch++) {
		uint32_t i = w->switches[f->next_switch];

		begin(f, FW_CLASS_HOST_NOT_RUNNING, (struct active){ o->end_ns[i], i, false });
	}
}

/* The innermost item of a class that covers t, or NULL; what has ended on top of it is dropped. */
static const struct active *innermost(struct flattener *f, enum fw_class class_id, int64_t t)
{
	struct fw_vec *v = &f->active[class_id];
	const struct active *items = v->data;

	while (v->len && items[v->len - 1].end_ns <= t)
		v->len--;
	return v->len ? &items[v->len - 1] : NULL;
}

static void emit(struct flattener *f, struct fw_span span)
{
	struct fw_span *spans = f->spans.data, *s;

	if (f->spans.len) {
		s = &spans[f->spans.len - 1];
		if (s->end_ns == span.start_ns && s->item == span.item &&
		    s->class_id == span.class_id && s->is_range == span.is_range) {
			s->end_ns = span.end_ns;
			return;
		}
	}
	s = fw_vec_push(&f->spans);
	if (s)
		*s = span;
	else
		f->failed = true;
}

/* Emits who owns the thread's time between two starts, t and next. */
static void advance(struct flattener *f, int64_t t, int64_t next)
{
	while (t < next) {
		const struct active *a = NULL;
		size_t i = 0;
		int64_t end;

		while (i < f->order_len && !(a = innermost(f, f->order[i], t)))
			i++;
		if (!a)
			return;
		end = a->end_ns < next ? a->end_ns : next;
		emit(f, (struct fw_span){ t, end, a->item, f->order[i], a->is_range });
		t = end;
	}
}

static bool flatten(struct flattener *f, const enum fw_class *order, size_t len,
		    struct fw_timeline *out)
{
	f->order = order;
	f->order_len = len;
	f->wanted = 0;
	for (size_t i = 0; i < len; i++)
		f->wanted |= 1u << order[i];
	f->next_call = f->next_range = f->next_switch = f->spans.len = 0;
	for (int64_t t = next_start(f); t != INT64_MAX && !f->failed; t = next_start(f)) {
		begin_all(f, t);
		advance(f, t, next_start(f));
	}
	out->len = f->spans.len;
	if (f->failed)
		return false;
	out->spans = fw_keep(f->b, &f->spans);
	return out->spans != NULL;
}

bool fw_build_timelines(struct fw_build *b)
{
	struct flattener f = { .b = b, .spans = FW_VEC(struct fw_span) };
	struct fw_thread_work *threads = b->ledger->private->threads;
	bool ok = true;

	for (size_t c = 0; c < FW_CLASS_COUNT; c++)
		f.active[c] = (struct fw_vec)FW_VEC(struct active);
	for (size_t i = 0; ok && i < b->trace->threads.len; i++) {
		f.thread = &threads[i];
		ok = flatten(&f, host_order, COUNT(host_order), &threads[i].host) &&
		     flatten(&f, python_order, COUNT(python_order), &threads[i].python);
	}
	for (size_t c = 0; c < FW_CLASS_COUNT; c++)
		fw_vec_release(&f.active[c]);
	fw_vec_release(&f.spans);
	return ok;
}
