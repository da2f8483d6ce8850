/*
 * What a thread was doing, as a timeline: at every instant the first class of the contract's order
 * that covers it and, within the class, the innermost call or range.
 */
#include "ledger/build.h"

/* The contract's order of what explains a thread's time; enum fw_class has the same. */
#define FIRST_HOST FW_CLASS_SYNC
#define LAST_HOST  FW_CLASS_HOST_OP

enum fw_class fw_range_class(uint8_t kind)
{
	switch (kind) {
	case FW_RANGE_INPUT: return FW_CLASS_INPUT;
	case FW_RANGE_OPERATOR: return FW_CLASS_HOST_OP;
	case FW_RANGE_PYTHON: return FW_CLASS_HOST_PYTHON;
	default: return FW_CLASS_COUNT;
	}
}

/* Something that is going on: it covers its thread until end_ns. */
struct active {
	int64_t end_ns;
	uint32_t item;
};

/* Turns the items of one thread, in order of start, into a timeline. */
struct flattener {
	struct fw_build *b;
	const struct fw_thread_work *thread;
	enum fw_class first, last; /* which classes count, the first before the last */
	size_t next_call, next_range;
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
	return next;
}

static void begin(struct flattener *f, enum fw_class class_id, int64_t end_ns, uint32_t item)
{
	struct active *a;

	if (class_id < f->first || class_id > f->last)
		return;
	a = fw_vec_push(&f->active[class_id]);
	if (a)
		*a = (struct active){ end_ns, item };
	else
		f->failed = true;
}

/* Begins everything that starts at t. */
static void begin_all(struct flattener *f, int64_t t)
{
	const struct fw_trace_calls *c = &f->b->trace->calls;
	const struct fw_trace_ranges *r = &f->b->trace->ranges;
	const struct fw_thread_work *w = f->thread;

	for (; f->next_call < w->call_count && c->start_ns[w->calls[f->next_call]] == t;
	     f->next_call++) {
		uint32_t i = w->calls[f->next_call];

		begin(f, f->b->call_class[i], c->end_ns[i], i);
	}
	for (; f->next_range < w->range_count && r->start_ns[w->ranges[f->next_range]] == t;
	     f->next_range++) {
		uint32_t i = w->ranges[f->next_range];

		begin(f, fw_range_class(r->kind[i]), r->end_ns[i], i);
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

static void emit(struct flattener *f, int64_t start, int64_t end, enum fw_class class_id,
		 uint32_t item)
{
	struct fw_span *spans = f->spans.data, *s;

	if (f->spans.len) {
		s = &spans[f->spans.len - 1];
		if (s->end_ns == start && s->item == item && s->class_id == class_id) {
			s->end_ns = end;
			return;
		}
	}
	s = fw_vec_push(&f->spans);
	if (s)
		*s = (struct fw_span){ start, end, item, class_id };
	else
		f->failed = true;
}

/* Emits who owns the thread's time between two starts, t and next. */
static void advance(struct flattener *f, int64_t t, int64_t next)
{
	while (t < next) {
		const struct active *a = NULL;
		enum fw_class c = f->first;
		int64_t end;

		while (c <= f->last && !(a = innermost(f, c, t)))
			c++;
		if (!a)
			return;
		end = a->end_ns < next ? a->end_ns : next;
		emit(f, t, end, c, a->item);
		t = end;
	}
}

static bool flatten(struct flattener *f, enum fw_class first, enum fw_class last,
		    struct fw_timeline *out)
{
	f->first = first;
	f->last = last;
	f->next_call = f->next_range = f->spans.len = 0;
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
		ok = flatten(&f, FIRST_HOST, LAST_HOST, &threads[i].host) &&
		     flatten(&f, FW_CLASS_HOST_PYTHON, FW_CLASS_HOST_PYTHON, &threads[i].python);
	}
	for (size_t c = 0; c < FW_CLASS_COUNT; c++)
		fw_vec_release(&f.active[c]);
	fw_vec_release(&f.spans);
	return ok;
}
