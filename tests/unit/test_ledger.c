/* Every clause of the ledger's contract on a trace small enough to work out by hand (times in us). */
#include "made_trace.h"

#define MAIN   "main"
#define OTHER  "other"
#define MALLOC "cudaMalloc"

/* Pairs of class and microseconds, ended by FW_CLASS_COUNT; every class not named owns nothing. */
struct share {
	enum fw_class class_id;
	int64_t us;
};

static void expect_shares(const struct fw_device_ledger *d, const struct share *shares)
{
	int64_t want[FW_CLASS_COUNT] = { 0 };

	for (; shares->class_id != FW_CLASS_COUNT; shares++)
		want[shares->class_id] += shares->us * US;
	for (int c = 0; c < FW_CLASS_COUNT; c++)
		if (d->ns[c] != want[c])
			fail_msg("%s: %lld ns, expected %lld", fw_class_id((enum fw_class)c),
				 (long long)d->ns[c], (long long)want[c]);
}

#define EXPECT(t, ...)                                                                             \
	do {                                                                                       \
		struct fw_ledger *ledger_ = made_ledger(t);                                        \
		expect_shares(&ledger_->devices[0],                                                \
			      (const struct share[]){ __VA_ARGS__, { FW_CLASS_COUNT, 0 } });       \
		made_destroy(ledger_);                                                             \
	} while (0)

/* Kernel 100-200 (launched 90-95) and kernel 1000-1100, launched by the given call. */
static struct fw_trace *two_kernels(struct made_call launch)
{
	struct fw_trace *t = made_trace();

	made_call(t, (struct made_call){ 90, 95, 1 });
	made_op(t, (struct made_op){ 100, 200, 1 });
	launch.corr = 2;
	made_call(t, launch);
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	return t;
}

static void busy_time_goes_to_the_first_class_that_runs(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	/* Each begins 10 before the one above it ends, and so owns from there on. */
	made_op(t, (struct made_op){ 0, 20, .owner = FW_CLASS_COMPUTE });
	made_op(t, (struct made_op){ 10, 40, .owner = FW_CLASS_COLLECTIVE });
	made_op(t, (struct made_op){ 30, 50, .owner = FW_CLASS_GRAPH_OPAQUE });
	made_op(t, (struct made_op){ 40, 65, .owner = FW_CLASS_COPY_H2D });
	made_op(t, (struct made_op){ 55, 70, .owner = FW_CLASS_COPY_D2H });
	made_op(t, (struct made_op){ 60, 80, .owner = FW_CLASS_COPY_P2P });
	made_op(t, (struct made_op){ 70, 95, .owner = FW_CLASS_COPY_D2D });
	made_op(t, (struct made_op){ 85, 99, .owner = FW_CLASS_MEMSET });
	EXPECT(t, { FW_CLASS_COMPUTE, 20 }, { FW_CLASS_COLLECTIVE, 20 },
	       { FW_CLASS_GRAPH_OPAQUE, 10 }, { FW_CLASS_COPY_H2D, 15 }, { FW_CLASS_COPY_D2H, 5 },
	       { FW_CLASS_COPY_P2P, 10 }, { FW_CLASS_COPY_D2D, 15 }, { FW_CLASS_MEMSET, 4 });
}

static void operations_of_no_length_cut_gaps(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 500, 510 });

	(void)state;
	/* [200, 600) ends with an operation without a call; [600, 1000) begins after the launch at 500. */
	made_op(t, (struct made_op){ 600, 600, .owner = FW_CLASS_MEMSET });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_UNKNOWN, 400 },
	       { FW_CLASS_DEVICE_WAIT, 400 });
}

static void gaps_without_a_call_are_unknown(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	/* Correlation 0 never joins, though a call has it too. */
	made_call(t, (struct made_call){ 150, 160, 7 });
	t->calls.corr[0] = 0;
	made_op(t, (struct made_op){ 100, 200 });
	t->ops.corr[made_op(t, (struct made_op){ 300, 400, 7 })] = 0;
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_UNKNOWN, 100 });
}

static void work_on_its_way_is_launch_latency_up_to_100_us(void **state)
{
	(void)state;
	/* Before the call 690 unrecorded, in it 10; it ended exactly 100 before the kernel. */
	EXPECT(two_kernels((struct made_call){ 890, 900 }), { FW_CLASS_COMPUTE, 200 },
	       { FW_CLASS_HOST_UNRECORDED, 690 }, { FW_CLASS_LAUNCH_LATENCY, 110 });
	/* One more and what follows the call waited on the device. */
	EXPECT(two_kernels((struct made_call){ 890, 899 }), { FW_CLASS_COMPUTE, 200 },
	       { FW_CLASS_HOST_UNRECORDED, 690 }, { FW_CLASS_LAUNCH_LATENCY, 9 },
	       { FW_CLASS_DEVICE_WAIT, 101 });
}

static void work_queued_before_the_gap_is_device_wait(void **state)
{
	(void)state;
	EXPECT(two_kernels((struct made_call){ 150, 160 }), { FW_CLASS_COMPUTE, 200 },
	       { FW_CLASS_DEVICE_WAIT, 800 });
	/* The call began before the gap and is still running in it: 150 of launch, then waiting. */
	EXPECT(two_kernels((struct made_call){ 150, 350 }), { FW_CLASS_COMPUTE, 200 },
	       { FW_CLASS_LAUNCH_LATENCY, 150 }, { FW_CLASS_DEVICE_WAIT, 650 });
}

static void an_operation_that_starts_before_its_call_is_explained_by_the_host(void **state)
{
	(void)state;
	EXPECT(two_kernels((struct made_call){ 1001, 1010 }), { FW_CLASS_COMPUTE, 200 },
	       { FW_CLASS_HOST_UNRECORDED, 800 });
}

/* Kernel 100-200, then a copy 1000-1100 launched by the call. */
static struct fw_trace *kernel_and_copy(struct made_call call, bool is_pageable)
{
	struct fw_trace *t = made_trace();

	made_call(t, (struct made_call){ 90, 95, 1 });
	made_op(t, (struct made_op){ 100, 200, 1 });
	call.corr = 2;
	made_call(t, call);
	made_op(t, (struct made_op){ 1000, 1100, 2, "Memcpy", FW_CLASS_COPY_H2D,
				     .is_pageable = is_pageable });
	return t;
}

static void blocking_copies_own_the_time_inside_their_call(void **state)
{
	struct made_call sync = { 400, 1200, .name = "cudaMemcpy" };
	struct made_call async = { 400, 1200, .name = "cudaMemcpyAsync" };
	struct made_call early = { 150, 1200, .name = "hipMemcpyWithStream" };

	(void)state;
	EXPECT(kernel_and_copy(sync, false), { FW_CLASS_COMPUTE, 100 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_HOST_UNRECORDED, 200 }, { FW_CLASS_BLOCKING_COPY, 600 });
	EXPECT(kernel_and_copy(async, true), { FW_CLASS_COMPUTE, 100 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_HOST_UNRECORDED, 200 }, { FW_CLASS_BLOCKING_COPY, 600 });
	EXPECT(kernel_and_copy(async, false), { FW_CLASS_COMPUTE, 100 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_HOST_UNRECORDED, 200 }, { FW_CLASS_LAUNCH_LATENCY, 600 });
	/* Begun before the gap: the copy waited for the kernel, and then on the device. */
	EXPECT(kernel_and_copy(early, false), { FW_CLASS_COMPUTE, 100 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_DEVICE_WAIT, 800 });
}

/* Launches at 1000, 4000 and 7000 of 2000 us each (over 1 ms), of kernels a, b or c. */
static struct fw_trace *long_launches(const char *second, const char *third, bool third_has_two)
{
	struct fw_trace *t = made_trace();
	const char *names[] = { "a", second, third };

	for (int i = 0; i < 3; i++) {
		int64_t at = 1000 + 3000 * i;

		made_call(t, (struct made_call){ at, at + 2000, i + 1 });
		made_op(t, (struct made_op){ at + 1900, at + 2100, i + 1, names[i] });
	}
	if (third_has_two)
		made_op(t, (struct made_op){ 9100, 9200, 3, third });
	return t;
}

static void a_slow_launch_is_one_time_when_the_kernel_is_new(void **state)
{
	(void)state;
	/* Gaps [3100, 5900) and [6100, 8900), each 900 before the call and 1900 inside it. */
	EXPECT(long_launches("b", "c", false), { FW_CLASS_COMPUTE, 600 },
	       { FW_CLASS_HOST_UNRECORDED, 1800 }, { FW_CLASS_ONE_TIME, 3800 });
	/* Not new and alone: the call stalled. */
	EXPECT(long_launches("b", "a", false), { FW_CLASS_COMPUTE, 600 },
	       { FW_CLASS_HOST_UNRECORDED, 1800 }, { FW_CLASS_ONE_TIME, 1900 },
	       { FW_CLASS_API, 1900 });
	/* Not new, but it launched two operations. */
	EXPECT(long_launches("b", "a", true), { FW_CLASS_COMPUTE, 700 },
	       { FW_CLASS_HOST_UNRECORDED, 1800 }, { FW_CLASS_ONE_TIME, 1900 },
	       { FW_CLASS_LAUNCH_LATENCY, 1900 });
}

static void launches_of_exactly_1_ms_are_not_slow(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	made_call(t, (struct made_call){ 90, 95, 1 });
	made_op(t, (struct made_op){ 100, 200, 1, "a" });
	made_call(t, (struct made_call){ 300, 1300, 2 });
	made_op(t, (struct made_op){ 1200, 1300, 2, "b" });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_HOST_UNRECORDED, 100 },
	       { FW_CLASS_LAUNCH_LATENCY, 900 });
}

/* Three graph launches like long_launches, all of kernel a, with the given graph ids. */
static struct fw_trace *graph_launches(const char *const graphs[3], const char *last_thread)
{
	struct fw_trace *t = made_trace();

	for (int i = 0; i < 3; i++) {
		int64_t at = 1000 + 3000 * i;

		made_call(t, (struct made_call){ at, at + 2000, i + 1, "cudaGraphLaunch",
						 .thread = i == 2 ? last_thread : MAIN,
						 .graph = graphs[i] });
		made_op(t, (struct made_op){ at + 1900, at + 2100, i + 1, "a" });
	}
	return t;
}

static void a_slow_graph_launch_is_one_time_when_the_graph_is_new(void **state)
{
	(void)state;
	EXPECT(graph_launches((const char *const[]){ "0", "5", "0" }, MAIN),
	       { FW_CLASS_COMPUTE, 600 }, { FW_CLASS_HOST_UNRECORDED, 1800 },
	       { FW_CLASS_ONE_TIME, 1900 }, { FW_CLASS_API, 1900 });
	/* Without ids each thread's first graph launch is new. */
	EXPECT(graph_launches((const char *const[]){ NULL, NULL, NULL }, OTHER),
	       { FW_CLASS_COMPUTE, 600 }, { FW_CLASS_HOST_UNRECORDED, 1800 },
	       { FW_CLASS_API, 1900 }, { FW_CLASS_ONE_TIME, 1900 });
}

static void later_operations_of_a_call_are_on_their_way_or_wait(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	/* [120, 150) ends inside the call, and [170, 190) begins after it did: begun before the gap. */
	made_call(t, (struct made_call){ 90, 160, 1, "cudaGraphLaunch" });
	made_op(t, (struct made_op){ 100, 120, 1 });
	made_op(t, (struct made_op){ 150, 170, 1 });
	made_op(t, (struct made_op){ 190, 200, 1 });
	EXPECT(t, { FW_CLASS_COMPUTE, 50 }, { FW_CLASS_DEVICE_WAIT, 50 });
}

static void host_time_goes_to_the_first_class_in_order(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });

	(void)state;
	/* [200, 990) is host time; each begins 50 before the one above it ends. */
	made_call(t, (struct made_call){ 210, 300, 11, "cudaStreamSynchronize" });
	made_call(t, (struct made_call){ 250, 400, 12, "cudaMemcpy" });
	made_call(t, (struct made_call){ 350, 500, 13, MALLOC });
	made_call(t, (struct made_call){ 450, 600, 14, "cuModuleLoadData" });
	made_range(t, (struct made_range){ 550, 700, FW_RANGE_INPUT });
	made_call(t, (struct made_call){ 650, 750, 15, "cudaEventQuery" });
	made_range(t, (struct made_range){ 720, 800, FW_RANGE_OPERATOR });
	made_range(t, (struct made_range){ 790, 900, FW_RANGE_PYTHON });
	made_range(t, (struct made_range){ 0, 2000, FW_RANGE_OTHER, "annotation" });
	made_range(t, (struct made_range){ 0, 2000, FW_RANGE_STEP, "ProfilerStep#1" });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_SYNC, 90 }, { FW_CLASS_BLOCKING_COPY, 100 },
	       { FW_CLASS_ALLOC, 100 }, { FW_CLASS_ONE_TIME, 100 }, { FW_CLASS_INPUT, 100 },
	       { FW_CLASS_API, 50 }, { FW_CLASS_HOST_OP, 50 }, { FW_CLASS_HOST_PYTHON, 100 },
	       { FW_CLASS_HOST_UNRECORDED, 10 + 90 }, { FW_CLASS_LAUNCH_LATENCY, 10 });
}

static void the_class_is_the_first_in_order_not_the_innermost(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });

	(void)state;
	/* A loader wait with an operator and Python in it; an operator with Python in it. */
	made_range(t, (struct made_range){ 200, 600, FW_RANGE_INPUT });
	made_range(t, (struct made_range){ 300, 400, FW_RANGE_OPERATOR });
	made_range(t, (struct made_range){ 320, 340, FW_RANGE_PYTHON });
	made_range(t, (struct made_range){ 600, 990, FW_RANGE_OPERATOR });
	made_range(t, (struct made_range){ 700, 800, FW_RANGE_PYTHON });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_INPUT, 400 }, { FW_CLASS_HOST_OP, 390 },
	       { FW_CLASS_LAUNCH_LATENCY, 10 });
}

static void names_of_calls_give_their_class(void **state)
{
	static const struct {
		const char *name;
		enum fw_class class_id;
	} cases[] = {
		{ "hipDeviceSynchronize", FW_CLASS_SYNC },
		{ "cuMemcpyDtoH_v2", FW_CLASS_BLOCKING_COPY },
		{ "cudaMemcpyAsync", FW_CLASS_API },
		{ "cudaFreeHost", FW_CLASS_ALLOC },
		{ "cuMemHostRegister", FW_CLASS_ALLOC },
		{ "cudaMallocAsync", FW_CLASS_ALLOC },
		{ "cuMemsetD8Async", FW_CLASS_API },
		{ "cuLibraryLoadData", FW_CLASS_ONE_TIME },
		{ "cudaGraphInstantiateWithFlags", FW_CLASS_ONE_TIME },
		{ "cuModuleGetFunction", FW_CLASS_API },
		{ "hipModuleLaunchKernel", FW_CLASS_API },
		{ "hipModuleLoad", FW_CLASS_ONE_TIME },
	};
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });
	size_t count = sizeof(cases) / sizeof(cases[0]);
	struct fw_ledger *l;
	uint32_t first = (uint32_t)t->calls.len;

	(void)state;
	for (size_t i = 0; i < count; i++)
		made_call(t, (struct made_call){ 300, 310, .name = cases[i].name });
	l = made_ledger(t);
	for (uint32_t i = 0; i < count; i++)
		if (fw_ledger_call_class(l, first + i) != cases[i].class_id)
			fail_msg("%s: %s", cases[i].name,
				 fw_class_id(fw_ledger_call_class(l, first + i)));
	made_destroy(l);
}

static void a_slow_first_call_of_a_name_is_one_time(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });
	struct fw_ledger *l;
	uint32_t first, again, other, quick, launch;

	(void)state;
	again = made_call(t, (struct made_call){ 5000, 7000, .name = MALLOC });
	first = made_call(t, (struct made_call){ 2000, 3001, .name = MALLOC });
	other = made_call(t, (struct made_call){ 8000, 9001, .name = MALLOC, .process = "2" });
	quick = made_call(t, (struct made_call){ 2000, 3000, .name = "cudaHostAlloc" });
	launch = made_call(t, (struct made_call){ 9000, 19000, .name = "cudaLaunchKernelExC" });
	l = made_ledger(t);
	assert_int_equal(fw_ledger_call_class(l, first), FW_CLASS_ONE_TIME);
	assert_int_equal(fw_ledger_call_class(l, again), FW_CLASS_ALLOC);
	assert_int_equal(fw_ledger_call_class(l, other), FW_CLASS_ONE_TIME);
	assert_int_equal(fw_ledger_call_class(l, quick), FW_CLASS_ALLOC);
	assert_int_equal(fw_ledger_call_class(l, launch), FW_CLASS_API);
	made_destroy(l);
}

static void threads_of_a_process_hand_over(void **state)
{
	/* T launches from "main"; what ran before was launched by "other" of the same process. */
	struct fw_trace *t = made_trace();

	(void)state;
	made_call(t, (struct made_call){ 90, 95, 1, .thread = OTHER });
	made_op(t, (struct made_op){ 100, 200, 1 });
	made_call(t, (struct made_call){ 990, 1000, 2 });
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	/* Python of T gives way to an operator of the other; T's own operator does not. */
	made_range(t, (struct made_range){ 200, 600, FW_RANGE_PYTHON });
	made_range(t, (struct made_range){ 300, 400, FW_RANGE_OPERATOR, .thread = OTHER });
	made_range(t, (struct made_range){ 450, 500, FW_RANGE_OPERATOR });
	made_call(t, (struct made_call){ 450, 500, 9, MALLOC, .thread = OTHER });
	made_range(t, (struct made_range){ 550, 700, FW_RANGE_PYTHON, .thread = OTHER });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_HOST_OP, 150 },
	       { FW_CLASS_HOST_PYTHON, 100 + 50 + 100 + 100 }, { FW_CLASS_HOST_UNRECORDED, 290 },
	       { FW_CLASS_LAUNCH_LATENCY, 10 });
}

static void another_process_is_not_asked(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	made_call(t, (struct made_call){ 90, 95, 1, .process = "2" });
	made_op(t, (struct made_op){ 100, 200, 1 });
	made_call(t, (struct made_call){ 990, 1000, 2 });
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	made_range(t, (struct made_range){ 200, 600, FW_RANGE_OPERATOR, .process = "2" });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_HOST_UNRECORDED, 790 },
	       { FW_CLASS_LAUNCH_LATENCY, 10 });
}

static void of_several_that_end_at_once_the_last_launched_hands_over(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	made_call(t, (struct made_call){ 50, 55, 3, .thread = OTHER });
	made_op(t, (struct made_op){ 100, 200, 3, .stream = 1 });
	made_call(t, (struct made_call){ 40, 45, 1, .thread = "third" });
	made_op(t, (struct made_op){ 150, 200, 1 });
	made_call(t, (struct made_call){ 990, 1000, 2 });
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	made_range(t, (struct made_range){ 200, 600, FW_RANGE_OPERATOR, .thread = OTHER });
	made_range(t, (struct made_range){ 600, 990, FW_RANGE_OPERATOR, .thread = "third" });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_HOST_OP, 400 },
	       { FW_CLASS_HOST_UNRECORDED, 390 }, { FW_CLASS_LAUNCH_LATENCY, 10 });
}

static void of_several_that_start_at_once_the_first_launched_counts(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 950, 1000 });

	(void)state;
	made_call(t, (struct made_call){ 920, 940, 3 });
	made_op(t, (struct made_op){ 1000, 1050, 3, .stream = 1 });
	/* [200, 920) before, [920, 940) in, [940, 1000) after the call at 920. */
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_HOST_UNRECORDED, 720 },
	       { FW_CLASS_LAUNCH_LATENCY, 80 });
}

/* Kernels by main, and a copy 500-600 that a thread without kernels launches at 480. */
static struct fw_trace *prefetch(bool launches_kernels)
{
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });

	made_call(t, (struct made_call){ 480, 490, 5, "cudaMemcpyAsync", .thread = OTHER });
	made_op(t, (struct made_op){ 500, 600, 5, "Memcpy", FW_CLASS_COPY_H2D });
	if (launches_kernels) {
		made_call(t, (struct made_call){ 1010, 1020, 6, .thread = OTHER });
		made_op(t, (struct made_op){ 1100, 1200, 6 });
	}
	made_range(t, (struct made_range){ 200, 480, FW_RANGE_OPERATOR });
	made_range(t, (struct made_range){ 200, 480, FW_RANGE_PYTHON, .thread = OTHER });
	return t;
}

static void a_prefetch_thread_is_not_asked(void **state)
{
	(void)state;
	/* [600, 1000) ends with main's kernel; the copy's launch takes 10, and 10 after it. */
	EXPECT(prefetch(false), { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_HOST_OP, 280 }, { FW_CLASS_HOST_UNRECORDED, 390 },
	       { FW_CLASS_LAUNCH_LATENCY, 20 + 10 });
	/*
	 * A thread that launches kernels is asked first; main hands over (it launched what ended at
	 * 200), and its operator comes before the other's Python.
	 */
	EXPECT(prefetch(true), { FW_CLASS_COMPUTE, 300 }, { FW_CLASS_COPY_H2D, 100 },
	       { FW_CLASS_HOST_OP, 280 }, { FW_CLASS_HOST_UNRECORDED, 390 },
	       { FW_CLASS_LAUNCH_LATENCY, 20 + 10 });
}

static void a_prefetch_thread_gives_way_to_the_next_kernels(void **state)
{
	struct fw_trace *t = made_trace();

	(void)state;
	/* Nothing hands over here: what ran before has no call. */
	made_op(t, (struct made_op){ 100, 200 });
	made_call(t, (struct made_call){ 480, 490, 5, "cudaMemsetAsync", .thread = OTHER });
	made_op(t, (struct made_op){ 500, 1000, 5, "Memset", FW_CLASS_MEMSET });
	made_call(t, (struct made_call){ 990, 1000, 2 });
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	made_range(t, (struct made_range){ 300, 480, FW_RANGE_OPERATOR });
	made_range(t, (struct made_range){ 200, 480, FW_RANGE_OPERATOR, .thread = OTHER });
	EXPECT(t, { FW_CLASS_COMPUTE, 200 }, { FW_CLASS_MEMSET, 500 }, { FW_CLASS_HOST_OP, 180 },
	       { FW_CLASS_HOST_UNRECORDED, 100 }, { FW_CLASS_LAUNCH_LATENCY, 20 });
}

static void calls_recorded_twice_join_as_the_outermost(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 700, 720 });
	struct fw_ledger *l;
	uint32_t outer;

	(void)state;
	/* The driver's call lies inside the runtime's, has its id, and comes first in the file. */
	made_call(t, (struct made_call){ 510, 520, 8, "cuLaunchKernel" });
	outer = made_call(t, (struct made_call){ 500, 530, 8 });
	made_op(t, (struct made_op){ 2000, 2100, 8 });
	l = made_ledger(t);
	assert_int_equal(l->call_of_op[2], outer);
	made_destroy(l);
}

static void ids_used_again_join_the_latest_call_begun(void **state)
{
	struct fw_trace *t = made_trace();
	struct fw_ledger *l;
	uint32_t first, second, early, late, op;

	(void)state;
	second = made_call(t, (struct made_call){ 500, 510, 8, .thread = OTHER });
	first = made_call(t, (struct made_call){ 100, 110, 8 });
	early = made_op(t, (struct made_op){ 50, 90, 8 });
	late = made_op(t, (struct made_op){ 500, 600, 8 });
	op = made_op(t, (struct made_op){ 499, 500, 8 });
	l = made_ledger(t);
	assert_int_equal(l->call_of_op[early], first);
	assert_int_equal(l->call_of_op[op], first);
	assert_int_equal(l->call_of_op[late], second);
	made_destroy(l);
}

static void operations_that_name_a_process_join_its_calls_only(void **state)
{
	struct fw_trace *t = made_trace();
	struct fw_ledger *l;
	uint32_t mine, op, lost, other_file;

	(void)state;
	mine = made_call(t, (struct made_call){ 100, 110, 8, .process = "2" });
	made_call(t, (struct made_call){ 200, 210, 8 });
	op = made_op(t, (struct made_op){ 300, 400, 8, .process = "2" });
	lost = made_op(t, (struct made_op){ 300, 400, 8, .process = "3" });
	/* Records that name none join calls of their own file. */
	other_file = made_op(t, (struct made_op){ 300, 400, 8, .file = 1 });
	l = made_ledger(t);
	assert_int_equal(l->call_of_op[op], mine);
	assert_int_equal(l->call_of_op[lost], FW_NONE);
	assert_int_equal(l->call_of_op[other_file], FW_NONE);
	made_destroy(l);
}

static void pieces_name_what_owns_them(void **state)
{
	struct fw_trace *t = two_kernels((struct made_call){ 990, 1000 });
	uint32_t outer = (uint32_t)t->ranges.len, wait;
	struct fw_ledger *l;
	const struct fw_idle *p;

	(void)state;
	made_range(t, (struct made_range){ 200, 800, FW_RANGE_OPERATOR, "outer" });
	made_range(t, (struct made_range){ 300, 400, FW_RANGE_OPERATOR, "inner" });
	wait = made_call(t, (struct made_call){ 350, 700, 9, "cudaEventSynchronize" });
	l = made_ledger(t);
	p = l->devices[0].idle;
	/* outer [200,300) inner [300,350) wait [350,700) outer [700,800) unrecorded, launch. */
	assert_int_equal(l->devices[0].idle_count, 6);
	assert_int_equal(p[0].range, outer);
	assert_int_equal(p[1].range, outer + 1);
	assert_int_equal(p[1].end_ns, 350 * US);
	assert_int_equal(p[2].call, wait);
	assert_int_equal(p[2].range, FW_NONE);
	assert_int_equal(p[3].range, outer);
	assert_int_equal(p[4].range, FW_NONE);
	assert_int_equal(p[4].class_id, FW_CLASS_HOST_UNRECORDED);
	assert_int_equal(p[5].call, 1);
	assert_int_equal(p[5].next_op, 1);
	made_destroy(l);
}

static void devices_are_one_only_by_uuid(void **state)
{
	struct fw_trace *t = made_trace();
	struct fw_ledger *l;

	(void)state;
	made_op(t, (struct made_op){ 100, 200, .device = 0 });
	made_op(t, (struct made_op){ 300, 400, .device = 0, .file = 1 });
	made_op(t, (struct made_op){ 500, 600, .device = 1, .file = 1 });
	t->devices.uuid[0] = t->devices.uuid[2] = made_string(t, "GPU-1");
	l = made_ledger(t);
	assert_int_equal(l->device_count, 2);
	assert_int_equal(l->devices[0].op_count, 2);
	assert_int_equal(l->devices[0].ns[FW_CLASS_UNKNOWN], 300 * US);
	assert_int_equal(l->devices[0].totals.streams, 2);
	assert_int_equal(l->devices[1].device, 1);
	made_destroy(l);
	/* Where each file has its own zero of time the operations lie on no common line. */
	t = made_trace();
	made_op(t, (struct made_op){ 100, 200, .device = 0 });
	made_op(t, (struct made_op){ 300, 400, .device = 0, .file = 1 });
	t->devices.uuid[0] = t->devices.uuid[1] = made_string(t, "GPU-1");
	t->blind_spots |= 1u << FW_BLIND_UNALIGNED;
	l = made_ledger(t);
	assert_int_equal(l->device_count, 2);
	made_destroy(l);
}

static void totals_count_what_the_tables_define(void **state)
{
	struct fw_trace *t = made_trace();
	const struct fw_device_totals *got;
	struct fw_ledger *l;

	(void)state;
	made_op(t, (struct made_op){ 100, 200 });
	made_op(t, (struct made_op){ 150, 300, .owner = FW_CLASS_COLLECTIVE, .stream = 2 });
	made_op(t, (struct made_op){ 350, 360, .name = "Memcpy HtoD (Pinned -> Device)",
				     .owner = FW_CLASS_COPY_H2D });
	made_op(t, (struct made_op){ 500, 510, .name = "Memcpy HtoD (Pinned -> Device)",
				     .owner = FW_CLASS_COPY_H2D });
	made_op(t, (struct made_op){ 505, 520, .name = "Memset", .owner = FW_CLASS_MEMSET });
	/* One synchronisation, recorded twice; and one in another file. */
	made_call(t, (struct made_call){ 10, 40, 5, "cudaStreamSynchronize" });
	made_call(t, (struct made_call){ 15, 35, 5, "cuStreamSynchronize" });
	made_call(t, (struct made_call){ 10, 20, 6, "cudaStreamSynchronize", .file = 1 });
	l = made_ledger(t);
	got = &l->devices[0].totals;
	assert_int_equal(got->kernels, 2);
	assert_int_equal(got->memsets, 1);
	assert_int_equal(got->streams, 2);
	assert_int_equal(got->kernel_busy_ns, 200 * US);
	assert_int_equal(got->kernel_sum_ns, 250 * US);
	assert_int_equal(got->gpu_busy_ns, 230 * US);
	assert_int_equal(got->span_ns, 420 * US);
	assert_int_equal(got->longest_gap_ns, 140 * US);
	assert_int_equal(got->syncs, 1);
	assert_int_equal(got->sync_ns, 30 * US);
	assert_int_equal(l->devices[0].copy_count, 1);
	assert_string_equal(l->devices[0].copies[0].kind, "HtoD (Pinned -> Device)");
	assert_int_equal(l->devices[0].copies[0].count, 2);
	assert_int_equal(l->devices[0].copies[0].bytes, 200);
	made_destroy(l);
}

static void a_trace_without_operations_is_refused(void **state)
{
	struct fw_ledger_options options = { .all = true };
	struct fw_trace *t = made_trace();
	struct fw_error err = { 0 };
	struct fw_ledger *l;

	(void)state;
	fw_trace_seal(t);
	assert_int_equal(fw_ledger_build(t, &options, &l, &err), FW_ERR_FORMAT);
	assert_null(l);
	assert_string_equal(err.message, "the trace has no GPU operations");
	fw_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_time_goes_to_the_first_class_that_runs),
		cmocka_unit_test(operations_of_no_length_cut_gaps),
		cmocka_unit_test(gaps_without_a_call_are_unknown),
		cmocka_unit_test(work_on_its_way_is_launch_latency_up_to_100_us),
		cmocka_unit_test(work_queued_before_the_gap_is_device_wait),
		cmocka_unit_test(an_operation_that_starts_before_its_call_is_explained_by_the_host),
		cmocka_unit_test(blocking_copies_own_the_time_inside_their_call),
		cmocka_unit_test(a_slow_launch_is_one_time_when_the_kernel_is_new),
		cmocka_unit_test(launches_of_exactly_1_ms_are_not_slow),
		cmocka_unit_test(a_slow_graph_launch_is_one_time_when_the_graph_is_new),
		cmocka_unit_test(later_operations_of_a_call_are_on_their_way_or_wait),
		cmocka_unit_test(host_time_goes_to_the_first_class_in_order),
		cmocka_unit_test(the_class_is_the_first_in_order_not_the_innermost),
		cmocka_unit_test(names_of_calls_give_their_class),
		cmocka_unit_test(a_slow_first_call_of_a_name_is_one_time),
		cmocka_unit_test(threads_of_a_process_hand_over),
		cmocka_unit_test(another_process_is_not_asked),
		cmocka_unit_test(of_several_that_end_at_once_the_last_launched_hands_over),
		cmocka_unit_test(of_several_that_start_at_once_the_first_launched_counts),
		cmocka_unit_test(a_prefetch_thread_is_not_asked),
		cmocka_unit_test(a_prefetch_thread_gives_way_to_the_next_kernels),
		cmocka_unit_test(calls_recorded_twice_join_as_the_outermost),
		cmocka_unit_test(ids_used_again_join_the_latest_call_begun),
		cmocka_unit_test(operations_that_name_a_process_join_its_calls_only),
		cmocka_unit_test(pieces_name_what_owns_them),
		cmocka_unit_test(devices_are_one_only_by_uuid),
		cmocka_unit_test(totals_count_what_the_tables_define),
		cmocka_unit_test(a_trace_without_operations_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
