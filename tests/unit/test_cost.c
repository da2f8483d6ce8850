/* What blocking calls cost. Each figure is worked out by hand in the comment above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger/cost.h"
#include "ledger_case.h"

static int64_t cost_of(const struct ledger_case *c, uint32_t call)
{
	return fw_cost_of_calls(c->ledger, &c->ledger->devices[0], &call, 1, NULL);
}

/*
 * Kernel [10,100); the host waits for it in [20,110), works until 150, launches the next in
 * [150,155), which starts at 160. Without the wait it would have started at 100: 60.
 */
static void sync_costs_the_idle_time_up_to_the_next_launch(void **state)
{
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_launch(&c, main, 150, 160, 200, 3);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 60);
	case_close(&c);
}

/* As above, with a loader wait [112,130) and a cudaMalloc [130,147) in the gap: 60 - 18 - 17. */
static void sync_is_not_charged_with_input_and_allocation(void **state)
{
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_range(&c, main, FW_RANGE_INPUT, 112, 130);
	case_call(&c, main, "cudaMalloc", 130, 147, 4);
	case_launch(&c, main, 150, 160, 200, 3);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 25);
	case_close(&c);
}

/*
 * The kernel ended at 100, the call [130,135) found nothing to wait for: the 30 before it are not
 * its doing; it is charged from 130 to the next start at 160.
 */
static void sync_that_waited_for_nothing_is_charged_from_its_start(void **state)
{
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaDeviceSynchronize", 130, 135, 2);
	case_launch(&c, main, 150, 160, 200, 3);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 30);
	case_close(&c);
}

/* Nothing is launched after the call: it held nothing up. */
static void sync_at_the_end_costs_nothing(void **state)
{
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	case_launch(&c, main, 20, 150, 200, 2);
	sync = case_call(&c, main, "cudaDeviceSynchronize", 30, 210, 3);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 0);
	case_close(&c);
}

/*
 * Stream 7 runs [10,50), stream 8 [54,58), the wait is [20,60), the next kernel starts at 130.
 * By the record, stream 7 was waited for: idle [50,54) + [58,130) = 76. Without it, the last that
 * ended before 60 counts, stream 8's: [58,130) = 72. A wait for another GPU costs nothing here.
 */
static void record_tells_which_stream_was_waited_for(void **state)
{
	static const int64_t expected[] = { 76, 72, 0, 72, 76 };

	(void)state;
	for (int variant = 0; variant < 5; variant++) {
		struct ledger_case c;
		uint32_t main, sync, gpu;

		case_open(&c);
		main = case_thread(&c, "1");
		gpu = c.device;
		case_launch(&c, main, 0, 10, 50, 1);
		case_call(&c, main, "cudaLaunchKernel", 6, 9, 2);
		case_kernel(&c, 8, 54, 58, 2);
		sync = case_call(&c, main, "cudaStreamSynchronize", 20, 60, 3);
		if (variant == 2)
			c.device = fw_trace_device(c.trace, 0, 1);
		if (variant == 0 || variant == 2)
			case_sync(&c, FW_SYNC_STREAM, 7, 21, 59, 3);
		if (variant == 3) /* the whole device, whatever stream is named */
			case_sync(&c, FW_SYNC_CONTEXT, 7, 21, 59, 3);
		if (variant == 4) { /* the first is another process's call of that number */
			case_sync(&c, FW_SYNC_STREAM, 8, 221, 259, 3);
			case_sync(&c, FW_SYNC_EVENT, 7, 21, 59, 3);
		}
		c.device = gpu;
		case_launch(&c, main, 120, 130, 200, 4);
		case_build(&c, NULL);
		assert_int_equal(cost_of(&c, sync), expected[variant]);
		case_close(&c);
	}
}

/*
 * Two threads wait for the same kernel, until 110 and 120; thread 2 launches the next kernel at 150.
 * Thread 1's alone costs [100,160) = 60, as it is blocked again at 170. Thread 2's has a lead of 100
 * and is not: the 20 of [200,220) are its too. Thread 1's second wait costs these 20. Together: 80.
 */
static void overlapping_stretches_count_once(void **state)
{
	struct ledger_case c;
	uint32_t calls[3];
	int64_t costs[3];

	(void)state;
	case_open(&c);
	case_launch(&c, case_thread(&c, "1"), 0, 10, 100, 1);
	calls[2] = case_call(&c, case_thread(&c, "1"), "cudaStreamSynchronize", 20, 110, 2);
	calls[0] = case_call(&c, case_thread(&c, "2"), "cudaStreamSynchronize", 20, 120, 3);
	case_launch(&c, case_thread(&c, "2"), 150, 160, 200, 4);
	calls[1] = case_call(&c, case_thread(&c, "1"), "cudaStreamSynchronize", 170, 205, 5);
	case_launch(&c, case_thread(&c, "1"), 210, 220, 230, 6);
	case_build(&c, NULL);
	assert_int_equal(fw_cost_of_calls(c.ledger, c.ledger->devices, calls, 3, costs), 80);
	assert_int_equal(costs[0], 80);
	assert_int_equal(costs[1], 20);
	assert_int_equal(costs[2], 60);
	assert_int_equal(fw_cost_of_calls(c.ledger, c.ledger->devices, calls, 0, NULL), 0);
	case_close(&c);
}

/*
 * After a wait [20,110) for the kernel [10,100) the host launches small kernels [125,130), [165,170)
 * and [205,210), later than the GPU could run them: 25, 35 and 35 idle. The host was blocked for 90;
 * ahead by so much, it would have saved 25 + 35 + 30 of them.
 */
static void lead_that_was_lost_shows_in_later_gaps_too(void **state)
{
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_launch(&c, main, 115, 125, 130, 3);
	case_launch(&c, main, 155, 165, 170, 4);
	case_launch(&c, main, 195, 205, 210, 5);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 90);
	case_close(&c);
}

/*
 * The same, but the second kernel is launched at 115, runs until 170, and is waited for in [121,172):
 * there the lead is gone, and the first wait costs 25. The second costs [170,205) = 35. Together: 60.
 */
static void next_wait_ends_the_lead(void **state)
{
	struct ledger_case c;
	uint32_t main, syncs[2];
	int64_t costs[2];

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	syncs[0] = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_call(&c, main, "cudaLaunchKernel", 111, 114, 3);
	case_kernel(&c, 7, 125, 130, 3);
	case_launch(&c, main, 115, 130, 170, 4);
	syncs[1] = case_call(&c, main, "cudaStreamSynchronize", 121, 172, 5);
	case_launch(&c, main, 195, 205, 210, 6);
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, syncs[0]), 25);
	assert_int_equal(cost_of(&c, syncs[1]), 35);
	assert_int_equal(fw_cost_of_calls(c.ledger, c.ledger->devices, syncs, 2, costs), 60);
	assert_int_equal(costs[0], 25);
	assert_int_equal(costs[1], 35);
	case_close(&c);
}

/* Another process launches at 120; the waiting one only at 150. Its stretch [100,160) has 60, of which
 * the other's kernel [130,140) is busy: 50. */
static void launches_of_other_processes_do_not_end_the_stretch(void **state)
{
	struct ledger_case c;
	uint32_t main, sync, own;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_launch(&c, main, 150, 160, 200, 3);
	own = c.process;
	c.process = fw_trace_process(c.trace, 0, case_text(&c, "43"));
	case_launch(&c, case_thread(&c, "9"), 120, 130, 140, 4);
	c.process = own;
	case_build(&c, NULL);
	assert_int_equal(cost_of(&c, sync), 50);
	case_close(&c);
}

/*
 * Kernel [10,100), copy call [110,200) with its copy in [150,190), next kernel at 220. Idle from
 * the call's start: [110,150) + [190,220) = 70; the copy itself is exposed for 40: 110. A kernel on
 * another stream hides [160,170) of it: 100. The loader wait [202,208) is not the copy's: 94.
 */
static void blocking_copy_costs_its_wait_and_its_exposed_time(void **state)
{
	static const int64_t expected[] = { 110, 100, 94 };

	(void)state;
	for (int variant = 0; variant < 3; variant++) {
		struct ledger_case c;
		uint32_t main, copy;

		case_open(&c);
		main = case_thread(&c, "1");
		case_launch(&c, main, 0, 10, 100, 1);
		if (variant > 0) {
			case_call(&c, main, "cudaLaunchKernel", 5, 9, 5);
			case_kernel(&c, 8, 160, 170, 5);
		}
		copy = case_call(&c, main, "cudaMemcpyAsync", 110, 200, 2);
		case_copy(&c, 7, 150, 190, 2);
		if (variant == 2)
			case_range(&c, main, FW_RANGE_INPUT, 202, 208);
		case_launch(&c, main, 210, 220, 300, 3);
		case_build(&c, NULL);
		assert_int_equal(cost_of(&c, copy), expected[variant]);
		case_close(&c);
	}
}

/* Of the stretch [100,160) of the first test, the window [0,120) holds [100,120). */
static void cost_stays_inside_the_window(void **state)
{
	const struct fw_ledger_options options = { .has_window = true, .window_end_ns = 120 };
	struct ledger_case c;
	uint32_t main, sync;

	(void)state;
	case_open(&c);
	main = case_thread(&c, "1");
	case_launch(&c, main, 0, 10, 100, 1);
	sync = case_call(&c, main, "cudaStreamSynchronize", 20, 110, 2);
	case_launch(&c, main, 150, 160, 200, 3);
	case_build(&c, &options);
	assert_int_equal(cost_of(&c, sync), 20);
	case_close(&c);
}

/*
 * The same definition, nanosecond by nanosecond: for each call the stretch by looking at every
 * operation, then every instant of the window is asked whether some stretch holds it.
 */
#define SPAN  600
#define CALLS 12
#define OWN   9 /* of these the cost is asked for */

struct slow {
	bool gap[SPAN], copy_gap[SPAN], exposed[SPAN];
	bool stretched[OWN + 1][SPAN], copied[OWN + 1][SPAN]; /* the last: all calls */
};

static int64_t slow_waited(const struct ledger_case *c, uint32_t call, bool is_copy)
{
	const struct fw_trace *t = c->trace;
	int64_t own = INT64_MAX, waited = INT64_MIN, stream = -1;

	for (size_t i = 0; i < t->syncs.len; i++)
		if (t->syncs.corr[i] == t->calls.corr[call])
			stream = t->syncs.stream_id[i];
	for (size_t i = 0; is_copy && i < t->ops.len; i++)
		if (c->ledger->call_of_op[i] == call) {
			own = t->ops.start_ns[i];
			stream = t->streams.id[t->ops.stream[i]];
		}
	for (size_t i = 0; i < t->ops.len; i++) {
		int64_t end = t->ops.end_ns[i];

		if (stream >= 0 && t->streams.id[t->ops.stream[i]] != stream)
			continue;
		if (is_copy ? t->ops.start_ns[i] < own : end <= t->calls.end_ns[call])
			waited = end > waited ? end : waited;
	}
	return waited;
}

static int64_t slow_next(const struct ledger_case *c, uint32_t call)
{
	const struct fw_trace *t = c->trace;
	int64_t launched = INT64_MAX, next = INT64_MIN;

	for (size_t i = 0; i < t->ops.len; i++) {
		uint32_t by = c->ledger->call_of_op[i];
		int64_t when = by == FW_NONE ? INT64_MAX : t->calls.start_ns[by];

		if (when < t->calls.end_ns[call] || when > launched ||
		    (when == launched && t->ops.start_ns[i] >= next))
			continue;
		launched = when;
		next = t->ops.start_ns[i];
	}
	return launched == INT64_MAX ? INT64_MIN : next;
}

/* What a call is charged with at an instant: idle time of its stretch, or its own copy if exposed. */
static bool slow_own(const struct ledger_case *c, uint32_t call, int64_t x)
{
	const struct fw_trace *t = c->trace;

	for (size_t i = 0; i < t->ops.len; i++)
		if (t->ops.kind[i] == FW_OP_COPY && c->ledger->call_of_op[i] == call &&
		    t->ops.start_ns[i] <= x && x < t->ops.end_ns[i])
			return true;
	return false;
}

/* Until when the call's thread is blocked next, by a call that is not among own[0 .. n). */
static int64_t slow_stop(const struct ledger_case *c, uint32_t call, const uint32_t *own, size_t n)
{
	const struct fw_trace_calls *calls = &c->trace->calls;
	int64_t stop = c->ledger->devices[0].window.end_ns, first = INT64_MAX;

	for (uint32_t i = 0; i < calls->len; i++) {
		enum fw_class k = fw_ledger_call_class(c->ledger, i);
		int64_t until = k == FW_CLASS_SYNC ? slow_waited(c, i, false) : calls->end_ns[i];
		bool is_own = false;

		for (size_t j = 0; j < n; j++)
			is_own = is_own || own[j] == i;
		if (is_own || calls->thread[i] != calls->thread[call] ||
		    calls->start_ns[i] < calls->end_ns[call] || calls->start_ns[i] >= first)
			continue;
		if (k == FW_CLASS_BLOCKING_COPY ||
		    (k == FW_CLASS_SYNC && until > calls->start_ns[i])) {
			first = calls->start_ns[i];
			stop = until < stop ? until : stop;
		}
	}
	return stop;
}

/* Where a lead ends that may use up idle time in [start, stop). */
static int64_t slow_lead(const struct slow *s, bool is_copy, int64_t start, int64_t stop,
			 int64_t lead)
{
	for (; start < stop && lead > 0; start++)
		lead -= s->gap[start] || (is_copy && s->copy_gap[start]);
	return start;
}

/* The part of [start, end) that lies in the window. */
static int64_t slow_blocked(const struct ledger_case *c, int64_t start, int64_t end)
{
	const struct fw_window *w = &c->ledger->devices[0].window;

	return (end < w->end_ns ? end : w->end_ns) - (start > w->start_ns ? start : w->start_ns);
}

static void slow_mark(struct slow *s, size_t place, bool is_copy, int64_t from, int64_t to)
{
	for (int64_t x = from; x < to; x++) {
		s->stretched[place][x] = true;
		s->copied[place][x] = s->copied[place][x] || is_copy;
	}
}

static bool is_earlier(const struct fw_trace *t, uint32_t a, uint32_t b)
{
	int64_t x = t->calls.start_ns[a], y = t->calls.start_ns[b];

	return x != y ? x < y : a < b;
}

/* The calls by start, each alone and all together. */
static void slow_stretches(const struct ledger_case *c, struct slow *s, const uint32_t *calls)
{
	const struct fw_trace *t = c->trace;
	int64_t used = INT64_MIN, blocked = INT64_MIN;
	bool done[OWN] = { false };

	for (size_t round = 0; round < OWN; round++) {
		size_t i = OWN;
		int64_t from, to, start, end, lead = 0, exposed = 0;
		bool is_copy;

		for (size_t j = 0; j < OWN; j++)
			if (!done[j] && (i == OWN || is_earlier(t, calls[j], calls[i])))
				i = j;
		done[i] = true;
		start = t->calls.start_ns[calls[i]];
		end = t->calls.end_ns[calls[i]];
		is_copy = fw_ledger_call_class(c->ledger, calls[i]) == FW_CLASS_BLOCKING_COPY;
		from = slow_waited(c, calls[i], is_copy);
		from = from < start ? start : from;
		to = slow_next(c, calls[i]);
		for (int64_t x = 0; x < SPAN; x++)
			exposed += s->exposed[x] && slow_own(c, calls[i], x);
		if (from < to) {
			int64_t alone = slow_stop(c, calls[i], &calls[i], 1);
			int64_t joint = slow_stop(c, calls[i], calls, OWN);

			alone = slow_lead(s, is_copy, from, alone,
					  slow_blocked(c, start, end) - exposed);
			slow_mark(s, i, is_copy, from, alone > to ? alone : to);
			slow_mark(s, OWN, is_copy, from, to);
			lead = slow_blocked(c, start > blocked ? start : blocked, end) - exposed;
			used = from > used ? from : used;
			joint = slow_lead(s, is_copy, used, joint, lead);
			slow_mark(s, OWN, is_copy, used, joint);
			used = joint > to ? joint : to;
		}
		blocked = end > blocked ? end : blocked;
	}
}

static void slow_classes(const struct ledger_case *c, struct slow *s)
{
	const struct fw_device_ledger *d = c->ledger->devices;
	const struct fw_trace *t = c->trace;

	for (size_t i = 0; i < d->idle_count; i++)
		for (int64_t x = d->idle[i].start_ns; x < d->idle[i].end_ns; x++) {
			enum fw_class k = d->idle[i].class_id;

			s->copy_gap[x] = k == FW_CLASS_BLOCKING_COPY;
			s->gap[x] = k != FW_CLASS_INPUT && k != FW_CLASS_ALLOC && !s->copy_gap[x];
		}
	for (int64_t x = d->window.start_ns; x < d->window.end_ns; x++) {
		s->exposed[x] = true;
		for (size_t i = 0; i < t->ops.len; i++)
			if (t->ops.kind[i] == FW_OP_KERNEL && t->ops.start_ns[i] <= x &&
			    x < t->ops.end_ns[i])
				s->exposed[x] = false;
	}
}

static void random_work(struct ledger_case *c, unsigned *seed, uint32_t *calls)
{
	int64_t now[2] = { 0, 3 }, busy[2] = { 0, 0 };
	uint32_t thread[2] = { case_thread(c, "1"), case_thread(c, "2") };

	for (int i = 0; i < 2 * CALLS; i++) {
		int who = (int)(rand_r(seed) % 2), on = (int)(rand_r(seed) % 2);
		int64_t start = now[who] + rand_r(seed) % 8, end = start + rand_r(seed) % 12;
		int64_t run = (busy[on] > end ? busy[on] : end) + rand_r(seed) % 4;
		bool is_copy = rand_r(seed) % 3 == 0;

		if (i % 2 == 0) { /* a launch */
			case_call(c, thread[who], "cudaLaunchKernel", start, end, i + 1);
			busy[on] = run + 1 + rand_r(seed) % 15;
			case_kernel(c, 7 + on, run, busy[on], i + 1);
		} else if (is_copy) {
			busy[on] = run + 1 + rand_r(seed) % 15;
			case_copy(c, 7 + on, run, busy[on], i + 1);
			end = busy[on] + 1;
			calls[i / 2] = case_call(c, thread[who], "cudaMemcpy", start, end, i + 1);
		} else {
			end = rand_r(seed) % 2 && busy[on] > end ? busy[on] + 1 : end;
			calls[i / 2] = case_call(c, thread[who], "cudaStreamSynchronize", start,
						 end, i + 1);
			if (rand_r(seed) % 2)
				case_sync(c, FW_SYNC_STREAM, 7 + on, start, end, i + 1);
		}
		if (rand_r(seed) % 3 == 0)
			case_range(c, thread[who], FW_RANGE_INPUT, end, end + 5);
		now[who] = end + 1;
	}
}

static int64_t slow_sum(const struct slow *s, const struct ledger_case *c, size_t place,
			const uint32_t *calls)
{
	int64_t ns = 0;

	for (int64_t x = 0; x < SPAN; x++) {
		bool own = false;

		for (size_t i = 0; i < OWN && s->exposed[x]; i++)
			if (place == OWN || place == i)
				own = own || slow_own(c, calls[i], x);
		ns += (s->gap[x] && s->stretched[place][x]) ||
		      (s->copy_gap[x] && s->copied[place][x]) || own;
	}
	return ns;
}

static void equals_the_slow_definition_on_random_traces(void **state)
{
	static struct slow s;
	int64_t seen = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		unsigned seed = round;
		struct ledger_case c;
		uint32_t calls[CALLS];
		int64_t costs[OWN], total;

		memset(&s, 0, sizeof(s));
		case_open(&c);
		case_call(&c, case_thread(&c, "1"), "cudaLaunchKernel", 0, 0, 1000);
		fw_trace_stream(c.trace, c.device, 7);
		fw_trace_stream(c.trace, c.device, 8);
		random_work(&c, &seed, calls);
		case_build(&c, NULL);
		assert_true(c.ledger->devices[0].window.end_ns < SPAN);
		slow_classes(&c, &s);
		for (size_t i = CALLS - 1; i > 0; i--) { /* a random OWN of them, in any order */
			size_t j = (size_t)rand_r(&seed) % (i + 1);
			uint32_t call = calls[i];

			calls[i] = calls[j];
			calls[j] = call;
		}
		slow_stretches(&c, &s, calls);
		total = fw_cost_of_calls(c.ledger, c.ledger->devices, calls, OWN, costs);
		assert_int_equal(total, slow_sum(&s, &c, OWN, calls));
		for (size_t i = 0; i < OWN; i++)
			assert_int_equal(costs[i], slow_sum(&s, &c, i, calls));
		seen += total;
		case_close(&c);
	}
	assert_true(seen > 400); /* the traces do cost something */
}

/*
 * Kernel [10,100), a wait for data in [60,150), in which the GPU is idle for 50, and kernels [160,165)
 * and [205,210), each 10 after its launch: 10 more in the first gap and 40 in the second. Without the
 * wait the host would have been 90 ahead: 50 + 10 + 30. A copy that blocks in [152,165) leaves nothing
 * of the lead for the second gap: 60.
 */
static void loader_wait_costs_the_lead_too(void **state)
{
	static const int64_t expected[] = { 90, 60 };

	(void)state;
	for (int variant = 0; variant < 2; variant++) {
		struct ledger_case c;
		uint32_t main;

		case_open(&c);
		main = case_thread(&c, "1");
		case_launch(&c, main, 0, 10, 100, 1);
		case_range(&c, main, FW_RANGE_INPUT, 60, 150);
		case_launch(&c, main, 150, 160, 165, 2);
		if (variant) {
			case_call(&c, main, "cudaMemcpy", 152, 165, 3);
			case_copy(&c, 8, 163, 165, 3);
		}
		case_launch(&c, main, 195, 205, 210, 4);
		case_build(&c, NULL);
		assert_int_equal(fw_cost_of_input(c.ledger, c.ledger->devices), expected[variant]);
		assert_int_equal(c.ledger->devices->ns[FW_CLASS_INPUT], 50);
		case_close(&c);
	}
}

/*
 * The wait [5,60005) leaves 20 ns of gap before the next kernel, and a lead of 60 us to look for more. The
 * gap [90000,100000) is no such: its kernel was launched at 60021 and had been queued for 30 us.
 */
static void gaps_of_queued_work_are_not_charged(void **state)
{
	struct ledger_case c;
	uint32_t thread, sync;

	(void)state;
	case_open(&c);
	thread = case_thread(&c, "1");
	case_launch(&c, thread, 0, 10, 60000, 1);
	sync = case_call(&c, thread, "cudaDeviceSynchronize", 5, 60005, 2);
	case_launch(&c, thread, 60010, 60020, 90000, 3);
	case_launch(&c, thread, 60016, 100000, 110000, 4);
	case_build(&c, NULL);
	assert_int_equal(fw_cost_of_calls(c.ledger, c.ledger->devices, &sync, 1, NULL), 20);
	case_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_of_queued_work_are_not_charged),
		cmocka_unit_test(sync_costs_the_idle_time_up_to_the_next_launch),
		cmocka_unit_test(sync_is_not_charged_with_input_and_allocation),
		cmocka_unit_test(sync_that_waited_for_nothing_is_charged_from_its_start),
		cmocka_unit_test(sync_at_the_end_costs_nothing),
		cmocka_unit_test(record_tells_which_stream_was_waited_for),
		cmocka_unit_test(overlapping_stretches_count_once),
		cmocka_unit_test(lead_that_was_lost_shows_in_later_gaps_too),
		cmocka_unit_test(next_wait_ends_the_lead),
		cmocka_unit_test(launches_of_other_processes_do_not_end_the_stretch),
		cmocka_unit_test(blocking_copy_costs_its_wait_and_its_exposed_time),
		cmocka_unit_test(cost_stays_inside_the_window),
		cmocka_unit_test(loader_wait_costs_the_lead_too),
		cmocka_unit_test(equals_the_slow_definition_on_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
