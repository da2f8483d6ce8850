/* What only recordings tell the ledger: blind intervals, context switches, compilation. Times in us. */
#include "ledger/cost.h"
#include "made_trace.h"

/* A kernel launched at once, then one launched late: the gap is [100, 200), the call [180, 190). */
static struct fw_trace *two_kernels(void)
{
	struct fw_trace *t = made_trace();

	made_call(t, (struct made_call){ 1, 5, 1 });
	made_op(t, (struct made_op){ 10, 100, 1, .process = "1" });
	made_call(t, (struct made_call){ 180, 190, 2 });
	made_op(t, (struct made_op){ 200, 300, 2, .process = "1" });
	return t;
}

static void blind(struct fw_trace *t, const char *process, int64_t start, int64_t end)
{
	uint32_t row = fw_trace_add_blind_intervals(t);

	t->blind_intervals.start_ns[row] = start * US;
	t->blind_intervals.end_ns[row] = end * US;
	t->blind_intervals.process[row] = fw_trace_process(t, 0, made_string(t, process));
	t->blind_intervals.reason[row] = FW_LOSS_PAUSED;
}

static void off_cpu(struct fw_trace *t, const char *thread, int64_t start, int64_t end)
{
	uint32_t row = fw_trace_add_switches(t);

	t->switches.start_ns[row] = start * US;
	t->switches.end_ns[row] = end * US;
	t->switches.thread[row] = made_thread(t, 0, "1", thread);
	t->switches.why[row] = FW_OFF_RUNNABLE;
}

static int64_t owned(const struct fw_ledger *l, enum fw_class c)
{
	return l->devices[0].ns[c] / US;
}

static void gives_unrecorded_time_to_no_cause(void **state)
{
	struct fw_trace *t = two_kernels();
	struct fw_ledger *l;

	(void)state;
	/* The host is unrecorded to 180, then launches; blind [50, 120) and [150, 185), overlapping. */
	blind(t, "1", 50, 120);
	blind(t, "1", 160, 185);
	blind(t, "1", 150, 170);
	l = made_ledger(t);
	assert_int_equal(owned(l, FW_CLASS_UNKNOWN), 20 + 35);
	assert_int_equal(owned(l, FW_CLASS_HOST_UNRECORDED), 30);
	assert_int_equal(owned(l, FW_CLASS_LAUNCH_LATENCY), 15);
	assert_int_equal(owned(l, FW_CLASS_COMPUTE), 190);
	assert_true(t->blind_spots & 1u << FW_BLIND_PAUSED);
	assert_false(t->blind_spots & 1u << FW_BLIND_DROPPED);
	made_destroy(l);
}

static void ignores_other_processes_pauses(void **state)
{
	struct fw_trace *t = two_kernels();
	struct fw_ledger *l;

	(void)state;
	blind(t, "2", 0, 300);
	l = made_ledger(t);
	assert_int_equal(owned(l, FW_CLASS_UNKNOWN), 0);
	assert_int_equal(owned(l, FW_CLASS_HOST_UNRECORDED), 80);
	made_destroy(l);
}

/* A wait [20, 110) for the first kernel: 10 us of the gap come before its return, 90 after. */
static int64_t cost_of_wait(bool is_blind)
{
	struct fw_trace *t = two_kernels();
	uint32_t call = made_call(t, (struct made_call){ 20, 110, 3, "cudaDeviceSynchronize" });
	struct fw_ledger *l;
	int64_t ns;

	if (is_blind)
		blind(t, "1", 130, 170);
	l = made_ledger(t);
	ns = fw_cost_of_calls(l, &l->devices[0], &call, 1, NULL);
	made_destroy(l);
	return ns;
}

static void charges_no_wait_for_unrecorded_time(void **state)
{
	(void)state;
	assert_int_equal(cost_of_wait(false), 100 * US);
	assert_int_equal(cost_of_wait(true), 60 * US);
}

static void tells_when_the_thread_was_off_its_cpu(void **state)
{
	struct fw_trace *t = two_kernels();
	struct fw_ledger *l;

	(void)state;
	/* Operator [100, 160) around the switch [120, 150); a call [140, 145) inside counts first. */
	made_range(t, (struct made_range){ 100, 160, FW_RANGE_OPERATOR });
	made_call(t, (struct made_call){ 140, 145, 9, "cudaMalloc" });
	off_cpu(t, "main", 120, 150);
	l = made_ledger(t);
	for (size_t i = 0; i < l->devices[0].idle_count; i++) {
		const struct fw_idle *piece = &l->devices[0].idle[i];

		assert_int_equal(piece->off_cpu,
				 piece->class_id == FW_CLASS_HOST_NOT_RUNNING ? 0 : FW_NONE);
	}
	assert_int_equal(owned(l, FW_CLASS_HOST_NOT_RUNNING), 25);
	assert_int_equal(owned(l, FW_CLASS_ALLOC), 5);
	assert_int_equal(owned(l, FW_CLASS_HOST_OP), 30);
	assert_int_equal(owned(l, FW_CLASS_HOST_UNRECORDED), 20);
	assert_false(t->blind_spots & 1u << FW_BLIND_NO_SCHEDULING);
	made_destroy(l);
}

static void asks_the_other_thread_not_whether_it_slept(void **state)
{
	struct fw_trace *t = made_trace();
	struct fw_ledger *l;

	(void)state;
	made_call(t, (struct made_call){ 1, 5, 1, .thread = "backward" });
	made_op(t, (struct made_op){ 10, 100, 1, .process = "1" });
	made_call(t, (struct made_call){ 180, 190, 2 });
	made_op(t, (struct made_op){ 200, 300, 2, .process = "1" });
	/* The other thread sleeps, and works [120, 130); the first one runs but for [140, 150). */
	off_cpu(t, "backward", 100, 180);
	made_range(t, (struct made_range){ 120, 130, FW_RANGE_PYTHON, .thread = "backward" });
	off_cpu(t, "main", 140, 150);
	l = made_ledger(t);
	assert_int_equal(owned(l, FW_CLASS_HOST_NOT_RUNNING), 10);
	assert_int_equal(owned(l, FW_CLASS_HOST_PYTHON), 10);
	assert_int_equal(owned(l, FW_CLASS_HOST_UNRECORDED), 60);
	made_destroy(l);
}

static void counts_compilation_as_one_time(void **state)
{
	struct fw_trace *t = two_kernels();
	const struct fw_device_ledger *d;
	struct fw_ledger *l;
	int64_t compiled = 0;

	(void)state;
	made_range(t, (struct made_range){ 120, 150, FW_RANGE_COMPILE, "compile" });
	made_range(t, (struct made_range){ 100, 180, FW_RANGE_CALL_SITE, "train.py:3 item()" });
	l = made_ledger(t);
	d = &l->devices[0];
	assert_int_equal(owned(l, FW_CLASS_ONE_TIME), 30);
	assert_int_equal(owned(l, FW_CLASS_HOST_UNRECORDED), 50);
	for (size_t i = 0; i < d->idle_count; i++)
		if (d->idle[i].class_id == FW_CLASS_ONE_TIME) {
			assert_int_equal(d->idle[i].call, FW_NONE);
			assert_string_equal(fw_trace_text(t, t->ranges.name[d->idle[i].range]),
					    "compile");
			compiled++;
		}
	assert_int_equal(compiled, 1);
	made_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_unrecorded_time_to_no_cause),
		cmocka_unit_test(ignores_other_processes_pauses),
		cmocka_unit_test(charges_no_wait_for_unrecorded_time),
		cmocka_unit_test(tells_when_the_thread_was_off_its_cpu),
		cmocka_unit_test(asks_the_other_thread_not_whether_it_slept),
		cmocka_unit_test(counts_compilation_as_one_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
