/*
 * 10,000 random traces: the ledger against a second implementation of the contract, which looks at
 * one instant at a time and searches every table for it.
 */
#include "made_trace.h"

#include <stdlib.h>

#define TRACES 10000

/* Times are multiples of this, so that 100 us and 1 ms are met exactly, just under and just over. */
#define UNIT 25

static unsigned seed = 20260101;

static int64_t pick(int64_t n)
{
	return rand_r(&seed) % n;
}

static const char *const call_names[] = {
	"cudaLaunchKernel", "cudaLaunchKernel",      "cudaLaunchKernel",     "cudaMemcpyAsync",
	"cudaMemcpy",       "cudaStreamSynchronize", "cudaMalloc",           "cuModuleLoadData",
	"cudaGraphLaunch",  "cudaEventRecord",       "hipModuleGetFunction",
};
static const char *const threads[] = { "main", "other", "third" };
static const char *const kernels[] = { "a", "b", "c" };
static const char *const graphs[] = { NULL, "0", "7" };

#define ANY(array) (array)[pick((int64_t)(sizeof(array) / sizeof((array)[0])))]

static const char *any_process(bool is_named)
{
	if (!is_named)
		return NULL;
	return pick(4) ? "1" : "2";
}

static struct fw_trace *random_trace(void)
{
	struct fw_trace *t = made_trace();
	int64_t span = pick(2) ? 60 : 400;
	bool names_process = !pick(4);

	for (int64_t n = 1 + pick(14); n > 0; n--) {
		int64_t start = pick(span) * UNIT;
		bool is_other = !pick(3);

		made_op(t, (struct made_op){ start, start + pick(pick(3) ? 6 : 60) * UNIT, pick(9),
					     ANY(kernels),
					     is_other ? (enum fw_class)pick(FW_CLASS_MEMSET + 1)
						      : FW_CLASS_COMPUTE,
					     (int)pick(8) / 7, (int)pick(3), !pick(2),
					     any_process(names_process), pick(12) == 0 });
	}
	for (int64_t n = pick(20); n > 0; n--) {
		int64_t start = pick(span) * UNIT;

		made_call(t, (struct made_call){ start, start + pick(pick(4) ? 6 : 60) * UNIT,
						 pick(9), ANY(call_names), any_process(true),
						 ANY(threads), ANY(graphs), pick(12) == 0 });
	}
	for (int64_t n = pick(14); n > 0; n--) {
		int64_t start = pick(span) * UNIT;

		made_range(t, (struct made_range){ start, start + pick(60) * UNIT,
						   (enum fw_range_kind)pick(6), "range",
						   any_process(true), ANY(threads), 0 });
	}
	/* Two files may share a GPU. */
	if (!pick(4))
		for (size_t i = 0; i < t->devices.len; i++)
			if (t->devices.id[i] == 0)
				t->devices.uuid[i] = made_string(t, "GPU-1");
	fw_trace_seal(t);
	return t;
}

/* ---- the second implementation: rows by number, no order assumed, everything searched ---- */

static const struct fw_trace *T;

static bool has(uint32_t name, const char *word)
{
	return strstr(fw_trace_text(T, name), word) != NULL;
}

static bool same_device(uint32_t x, uint32_t y)
{
	return x == y || (T->devices.uuid[x] && T->devices.uuid[x] == T->devices.uuid[y]);
}

static bool on_device(uint32_t op, uint32_t device)
{
	return same_device(fw_op_device(T, op), device);
}

static uint32_t process_of(uint32_t call)
{
	return T->threads.process[T->calls.thread[call]];
}

static bool key_matches(uint32_t op, uint32_t call)
{
	if (T->ops.corr[op] != T->calls.corr[call])
		return false;
	if (T->ops.process[op] != FW_NONE)
		return T->ops.process[op] == process_of(call);
	return T->devices.file[fw_op_device(T, op)] == T->processes.file[process_of(call)];
}

/* True when call x comes before y: begun earlier, or at once and outside, or earlier in the file. */
static bool before(uint32_t x, uint32_t y)
{
	if (T->calls.start_ns[x] != T->calls.start_ns[y])
		return T->calls.start_ns[x] < T->calls.start_ns[y];
	if (T->calls.end_ns[x] != T->calls.end_ns[y])
		return T->calls.end_ns[x] > T->calls.end_ns[y];
	return x < y;
}

static bool is_inner(uint32_t op, uint32_t call)
{
	for (uint32_t c = 0; c < T->calls.len; c++)
		if (c != call && key_matches(op, c) &&
		    T->calls.thread[c] == T->calls.thread[call] && before(c, call))
			return true;
	return false;
}

static uint32_t call_of(uint32_t op)
{
	uint32_t latest = FW_NONE, first = FW_NONE;

	if (T->ops.corr[op] == FW_CORR_NONE)
		return FW_NONE;
	for (uint32_t c = 0; c < T->calls.len; c++) {
		if (!key_matches(op, c) || is_inner(op, c))
			continue;
		if (first == FW_NONE || before(c, first))
			first = c;
		if (T->calls.start_ns[c] <= T->ops.start_ns[op] &&
		    (latest == FW_NONE || before(latest, c)))
			latest = c;
	}
	return latest == FW_NONE ? first : latest;
}

/* Launch calls are asked for often: worked out once a trace. */
static uint32_t launched_by[64];

static bool is_blocking_copy(uint32_t call)
{
	if (!has(T->calls.name[call], "Memcpy"))
		return false;
	if (!has(T->calls.name[call], "Async"))
		return true;
	for (uint32_t o = 0; o < T->ops.len; o++)
		if (T->ops.kind[o] == FW_OP_COPY && key_matches(o, call) &&
		    T->transfers.src[T->ops.detail[o]] == FW_MEM_PAGEABLE)
			return true;
	return false;
}

static bool is_first_of_name(uint32_t call)
{
	for (uint32_t c = 0; c < T->calls.len; c++)
		if (c != call && process_of(c) == process_of(call) &&
		    T->calls.name[c] == T->calls.name[call] && before(c, call))
			return false;
	return true;
}

static enum fw_class class_of_call(uint32_t c)
{
	uint32_t name = T->calls.name[c];

	if (has(name, "Synchronize"))
		return FW_CLASS_SYNC;
	if (is_blocking_copy(c))
		return FW_CLASS_BLOCKING_COPY;
	if (has(name, "cuModuleLoad"))
		return FW_CLASS_ONE_TIME;
	if (T->calls.end_ns[c] - T->calls.start_ns[c] > 1000 * US && !has(name, "Memcpy") &&
	    !has(name, "Launch") && is_first_of_name(c))
		return FW_CLASS_ONE_TIME;
	return has(name, "cudaMalloc") ? FW_CLASS_ALLOC : FW_CLASS_API;
}

static bool thread_in(uint32_t thread, enum fw_class class_id, int64_t t)
{
	static const enum fw_class of_kind[] = { FW_CLASS_COUNT,       FW_CLASS_HOST_OP,
						 FW_CLASS_HOST_PYTHON, FW_CLASS_INPUT,
						 FW_CLASS_COUNT,       FW_CLASS_COUNT };

	for (uint32_t c = 0; c < T->calls.len; c++)
		if (T->calls.thread[c] == thread && T->calls.start_ns[c] <= t &&
		    t < T->calls.end_ns[c] && class_of_call(c) == class_id)
			return true;
	for (uint32_t r = 0; r < T->ranges.len; r++)
		if (T->ranges.thread[r] == thread && T->ranges.start_ns[r] <= t &&
		    t < T->ranges.end_ns[r] && of_kind[T->ranges.kind[r]] == class_id)
			return true;
	return false;
}

static int64_t launch_start(uint32_t op, int64_t none)
{
	return launched_by[op] == FW_NONE ? none : T->calls.start_ns[launched_by[op]];
}

/* True when op x comes before y by start, then launch, then row. */
static bool op_before(uint32_t x, uint32_t y)
{
	int64_t a = launch_start(x, INT64_MAX), b = launch_start(y, INT64_MAX);

	if (T->ops.start_ns[x] != T->ops.start_ns[y])
		return T->ops.start_ns[x] < T->ops.start_ns[y];
	return a != b ? a < b : x < y;
}

/* The first operation that starts after t. */
static uint32_t next_op(uint32_t device, int64_t t, bool kernels_only, uint32_t from)
{
	uint32_t next = FW_NONE;

	for (uint32_t o = 0; o < T->ops.len; o++)
		if (on_device(o, device) && T->ops.start_ns[o] > t &&
		    (!kernels_only || T->ops.kind[o] == FW_OP_KERNEL ||
		     T->ops.kind[o] == FW_OP_GRAPH) &&
		    (from == FW_NONE || !op_before(o, from)) &&
		    (next == FW_NONE || op_before(o, next)))
			next = o;
	return next;
}

/* The last operation that ended by t; of several the last launched, then the last to start. */
static uint32_t last_op(uint32_t device, int64_t t)
{
	uint32_t last = FW_NONE;

	for (uint32_t o = 0; o < T->ops.len; o++) {
		int64_t a, b;

		if (!on_device(o, device) || T->ops.end_ns[o] > t)
			continue;
		if (last == FW_NONE || T->ops.end_ns[o] > T->ops.end_ns[last]) {
			last = o;
			continue;
		}
		a = launch_start(o, INT64_MIN);
		b = launch_start(last, INT64_MIN);
		if (T->ops.end_ns[o] == T->ops.end_ns[last] &&
		    (a > b || (a == b && op_before(last, o))))
			last = o;
	}
	return last;
}

/* Operations of op's call on its device: how many in all, or only before it. */
static int of_call(uint32_t op, bool only_before)
{
	int count = 0;

	for (uint32_t o = 0; o < T->ops.len; o++)
		if (launched_by[o] == launched_by[op] && on_device(o, fw_op_device(T, op)))
			count += !only_before || (o != op && op_before(o, op));
	return count;
}

static bool same_use(uint32_t x, uint32_t y)
{
	uint32_t cx = launched_by[x], cy = launched_by[y];
	bool gx = has(T->calls.name[cx], "GraphLaunch"), gy = has(T->calls.name[cy], "GraphLaunch");

	if (gx != gy)
		return false;
	if (!gx)
		return T->ops.name[x] == T->ops.name[y];
	if (T->calls.graph[cx] || T->calls.graph[cy])
		return T->calls.graph[cx] == T->calls.graph[cy];
	return T->calls.thread[cx] == T->calls.thread[cy];
}

static bool is_first_use(uint32_t op)
{
	for (uint32_t o = 0; o < T->ops.len; o++) {
		int64_t a = launch_start(o, 0), b = launch_start(op, 0);

		if (launched_by[o] == FW_NONE || !on_device(o, fw_op_device(T, op)) ||
		    T->devices.file[fw_op_device(T, o)] != T->devices.file[fw_op_device(T, op)] ||
		    !same_use(o, op))
			continue;
		if (a < b || (a == b && (T->ops.start_ns[o] < T->ops.start_ns[op] ||
					 (T->ops.start_ns[o] == T->ops.start_ns[op] && o < op))))
			return false;
	}
	return true;
}

static bool brings_something_new(uint32_t op)
{
	for (uint32_t o = 0; o < T->ops.len; o++)
		if (launched_by[o] == launched_by[op] && on_device(o, fw_op_device(T, op)) &&
		    is_first_use(o))
			return true;
	return false;
}

static bool launches_kernels(uint32_t thread)
{
	for (uint32_t o = 0; o < T->ops.len; o++)
		if (launched_by[o] != FW_NONE && T->calls.thread[launched_by[o]] == thread &&
		    (T->ops.kind[o] == FW_OP_KERNEL || T->ops.kind[o] == FW_OP_GRAPH))
			return true;
	return false;
}

static enum fw_class host_class(uint32_t device, uint32_t x, uint32_t last, int64_t t)
{
	uint32_t ask[2] = { T->calls.thread[launched_by[x]], FW_NONE }, k;

	k = next_op(device, t, true, x);
	if ((T->ops.kind[x] == FW_OP_COPY || T->ops.kind[x] == FW_OP_MEMSET) &&
	    !launches_kernels(ask[0]) && k != FW_NONE && launched_by[k] != FW_NONE)
		ask[0] = T->calls.thread[launched_by[k]];
	if (launched_by[last] != FW_NONE &&
	    process_of(launched_by[last]) == T->threads.process[ask[0]])
		ask[1] = T->calls.thread[launched_by[last]];
	for (int i = 0; i < 2; i++)
		for (enum fw_class c = FW_CLASS_SYNC; c <= FW_CLASS_HOST_OP; c++)
			if (ask[i] != FW_NONE && thread_in(ask[i], c, t))
				return c;
	for (int i = 0; i < 2; i++)
		if (ask[i] != FW_NONE && thread_in(ask[i], FW_CLASS_HOST_PYTHON, t))
			return FW_CLASS_HOST_PYTHON;
	return FW_CLASS_HOST_UNRECORDED;
}

static enum fw_class class_in_call(uint32_t x, int64_t gap_start)
{
	uint32_t c = launched_by[x];
	bool is_long = T->calls.end_ns[c] - T->calls.start_ns[c] > 1000 * US;

	if (is_blocking_copy(c))
		return T->calls.start_ns[c] >= gap_start ? FW_CLASS_BLOCKING_COPY
							 : FW_CLASS_DEVICE_WAIT;
	if (is_long && brings_something_new(x))
		return FW_CLASS_ONE_TIME;
	return is_long && of_call(x, false) == 1 ? FW_CLASS_API : FW_CLASS_LAUNCH_LATENCY;
}

/* The owner of the instant t, which is not the time of any record. */
static enum fw_class owner_at(uint32_t device, int64_t t)
{
	uint32_t x = next_op(device, t, false, FW_NONE), last = last_op(device, t), c;
	enum fw_class busy = FW_CLASS_COUNT;
	int64_t start, end;

	for (uint32_t o = 0; o < T->ops.len; o++)
		if (on_device(o, device) && T->ops.start_ns[o] <= t && t < T->ops.end_ns[o] &&
		    T->ops.owner[o] < busy)
			busy = T->ops.owner[o];
	if (busy != FW_CLASS_COUNT)
		return busy;
	if (x == FW_NONE || last == FW_NONE || launched_by[x] == FW_NONE)
		return FW_CLASS_UNKNOWN;
	c = launched_by[x];
	start = T->calls.start_ns[c];
	end = T->calls.end_ns[c] < start ? start : T->calls.end_ns[c];
	if (start > T->ops.start_ns[x])
		start = T->ops.start_ns[x];
	if (t < start)
		return host_class(device, x, last, t);
	if (t < end && !of_call(x, true))
		return class_in_call(x, T->ops.end_ns[last]);
	return T->calls.start_ns[c] >= T->ops.end_ns[last] && T->ops.start_ns[x] - end <= 100 * US
		       ? FW_CLASS_LAUNCH_LATENCY
		       : FW_CLASS_DEVICE_WAIT;
}

/* ---- the comparison ---- */

static void check_item(const struct fw_ledger *l, const struct fw_idle *p)
{
	if (p->call != FW_NONE && p->class_id != FW_CLASS_LAUNCH_LATENCY &&
	    p->class_id != FW_CLASS_DEVICE_WAIT) {
		assert_true(T->calls.start_ns[p->call] <= p->start_ns);
		assert_true(T->calls.end_ns[p->call] >= p->end_ns);
	}
	if (p->class_id >= FW_CLASS_SYNC && p->class_id <= FW_CLASS_ALLOC) {
		assert_int_not_equal(p->call, FW_NONE);
		assert_int_equal(fw_ledger_call_class(l, p->call), p->class_id);
	}
	if (p->class_id == FW_CLASS_INPUT || p->class_id == FW_CLASS_HOST_OP ||
	    p->class_id == FW_CLASS_HOST_PYTHON) {
		assert_int_not_equal(p->range, FW_NONE);
		assert_true(T->ranges.start_ns[p->range] <= p->start_ns);
		assert_true(T->ranges.end_ns[p->range] >= p->end_ns);
	} else {
		assert_int_equal(p->range, FW_NONE);
	}
}

/* Every record is a multiple of UNIT us, so the middle of each unit has one owner. */
static void check_device(const struct fw_ledger *l, const struct fw_device_ledger *d, int trace)
{
	const struct fw_window *w = &d->window;
	int64_t ns[FW_CLASS_COUNT] = { 0 }, step = UNIT * US, sum = 0;
	size_t piece = 0;

	for (int64_t t = w->start_ns; t < w->end_ns; t += step) {
		enum fw_class owner = owner_at(d->device, t + step / 2);
		const struct fw_idle *p;

		ns[owner] += step;
		if (!fw_class_is_idle(owner))
			continue;
		while (piece < d->idle_count && d->idle[piece].end_ns <= t)
			piece++;
		assert_true(piece < d->idle_count);
		p = &d->idle[piece];
		if (p->start_ns > t || p->end_ns < t + step || p->class_id != owner)
			fail_msg("trace %d at %lld: %s, expected %s", trace, (long long)t,
				 fw_class_id(p->class_id), fw_class_id(owner));
		check_item(l, p);
	}
	for (int c = 0; c < FW_CLASS_COUNT; c++) {
		if (ns[c] != d->ns[c])
			fail_msg("trace %d: %s %lld ns, expected %lld", trace,
				 fw_class_id((enum fw_class)c), (long long)d->ns[c],
				 (long long)ns[c]);
		sum += d->ns[c];
	}
	assert_int_equal(sum, w->end_ns - w->start_ns);
}

static void expect_same(const struct fw_ledger *a, const struct fw_ledger *b)
{
	assert_int_equal(a->device_count, b->device_count);
	for (size_t i = 0; i < a->device_count; i++) {
		const struct fw_device_ledger *x = &a->devices[i], *y = &b->devices[i];

		assert_memory_equal(x->ns, y->ns, sizeof(x->ns));
		assert_int_equal(x->idle_count, y->idle_count);
		for (size_t p = 0; p < x->idle_count; p++) {
			assert_int_equal(x->idle[p].start_ns, y->idle[p].start_ns);
			assert_int_equal(x->idle[p].class_id, y->idle[p].class_id);
			assert_int_equal(x->idle[p].call, y->idle[p].call);
			assert_int_equal(x->idle[p].range, y->idle[p].range);
		}
	}
}

static struct fw_ledger *build(struct fw_ledger_options options)
{
	struct fw_error err = { 0 };
	struct fw_ledger *l;

	if (fw_ledger_build(T, &options, &l, &err))
		fail_msg("%s", err.message);
	return l;
}

static void random_traces_agree_with_the_second_implementation(void **state)
{
	(void)state;
	for (int trace = 0; trace < TRACES; trace++) {
		struct fw_ledger_options options = { .all = trace % 4 != 0,
						     .has_window = trace % 4 == 1 };
		struct fw_trace *t = random_trace();
		struct fw_ledger *l, *again;

		T = t;
		options.window_start_ns = pick(80) * UNIT * US - 10 * UNIT * US;
		options.window_end_ns = options.window_start_ns + (1 + pick(80)) * UNIT * US;
		for (uint32_t o = 0; o < t->ops.len; o++)
			launched_by[o] = call_of(o);
		l = build(options);
		again = build(options);
		for (size_t i = 0; i < l->device_count; i++)
			check_device(l, &l->devices[i], trace);
		expect_same(l, again);
		fw_ledger_destroy(l);
		fw_ledger_destroy(again);
		fw_trace_destroy(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_agree_with_the_second_implementation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
