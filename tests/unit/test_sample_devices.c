#include "fake_gpus.h"
#include "sample/clocks.h"
#include "sample/devices.h"
#include "sample/gpm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* A GEMM loop on an H200 (measured with NVML GPM while nvidia-smi said 97 %). */
#define GEMM                                                                                       \
	"*.gpu_percent 97\n*.gpm2 66\n*.gpm3 9.8\n*.gpm5 64\n*.gpm10 12.7\n*.gpm20 100\n"          \
	"*.gpm21 200\n*.clocks_reasons 4\n*.power_mw 690000\n"

static struct fw_devices *devices;
static struct fw_machine_sample sample;
static int64_t now_ns;

static int begin(void **state)
{
	if (fake_gpus_begin(state))
		return -1;
	now_ns = 0;
	return fw_devices_open(&devices, FW_FAKE_NVML, NULL);
}

static int end(void **state)
{
	fw_devices_close(devices);
	return fake_gpus_end(state);
}

/* Reads a second after the reading before. */
static void read_next(void)
{
	now_ns += 1000000000;
	fw_devices_read(devices, now_ns, &sample);
}

static struct fw_value value(unsigned gpu, enum fw_gpu_value id)
{
	return sample.gpus[gpu].values[id];
}

static void a_gemm_loop_is_read_as_it_was_measured(void **state)
{
	(void)state;
	fake_gpus_are(GEMM);
	read_next();
	assert_int_equal(sample.result, 0);
	assert_int_equal(sample.gpu_count, 1);
	assert_string_equal(sample.driver, "580.159.04");
	assert_string_equal(sample.gpus[0].identity.name, "NVIDIA H200");
	assert_int_equal(value(0, FW_GPU_SM_BUSY).source, FW_VALUE_UNKNOWN); /* needs two */
	read_next();
	assert_true(value(0, FW_GPU_BUSY).number == 97);
	assert_int_equal(value(0, FW_GPU_BUSY).source, FW_VALUE_SAMPLED);
	assert_true(value(0, FW_GPU_SM_BUSY).number == 66);
	assert_int_equal(value(0, FW_GPU_SM_BUSY).source, FW_VALUE_MEASURED);
	assert_string_equal(value(0, FW_GPU_SM_BUSY).note, "GPM");
	assert_true(value(0, FW_GPU_WARPS).number == 9.8);
	assert_true(value(0, FW_GPU_TENSOR).number == 64);
	assert_true(value(0, FW_GPU_DRAM).number == 12.7);
	assert_true(value(0, FW_GPU_PCIE_TX).number == 100.0 * 1048576);
	assert_true(value(0, FW_GPU_POWER).number == 690);
	assert_string_equal(fw_clocks_throttle(sample.gpus[0].reasons)->name, "power_cap");
}

static void zeros_of_gpm_are_no_truth(void **state)
{
	(void)state;
	fake_gpus_are("*.gpu_percent 97\n");
	read_next();
	read_next();
	for (int i = FW_GPU_SM_BUSY; i <= FW_GPU_NVLINK_TX; i++)
		assert_int_equal(value(0, i).source, FW_VALUE_UNKNOWN);
	assert_non_null(strstr(value(0, FW_GPU_SM_BUSY).note, "zero"));
}

static void what_is_no_number_or_impossible_is_unknown(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm2 50\n*.gpm10 nan\n*.gpm3 7219\n*.gpm5 -1\n*.gpm12 !3\n*.gpm20 1e12\n"
		      "*.gpu_percent 4000\n");
	read_next();
	read_next();
	assert_true(value(0, FW_GPU_SM_BUSY).number == 50);
	assert_int_equal(value(0, FW_GPU_DRAM).source, FW_VALUE_UNKNOWN);
	assert_int_equal(value(0, FW_GPU_WARPS).source, FW_VALUE_UNKNOWN);
	assert_int_equal(value(0, FW_GPU_TENSOR).source, FW_VALUE_UNKNOWN);
	assert_int_equal(value(0, FW_GPU_FP32).source, FW_VALUE_UNKNOWN);
	assert_int_equal(value(0, FW_GPU_PCIE_TX).source, FW_VALUE_UNKNOWN);
	assert_int_equal(value(0, FW_GPU_BUSY).source, FW_VALUE_UNKNOWN);
}

static void gpm_takes_no_samples_too_close_together(void **state)
{
	(void)state;
	fake_gpus_are(GEMM);
	read_next();
	now_ns += FW_GPM_LEAST_NS - 1;
	fw_devices_read(devices, now_ns, &sample);
	assert_int_equal(value(0, FW_GPU_SM_BUSY).source, FW_VALUE_UNKNOWN);
	now_ns += 1;
	fw_devices_read(devices, now_ns, &sample);
	assert_true(value(0, FW_GPU_SM_BUSY).number == 66);
}

static void says_why_counters_are_missing(void **state)
{
	(void)state;
	fake_gpus_are("count 3\n0.gpm 0\n1.mig 1\n2.gpm_sample !4\n*.gpu_percent 10\n*.gpm2 5\n");
	read_next();
	read_next();
	assert_non_null(strstr(value(0, FW_GPU_SM_BUSY).note, "Hopper"));
	assert_non_null(strstr(value(1, FW_GPU_SM_BUSY).note, "MIG"));
	assert_true(sample.gpus[1].has_mig);
	assert_string_equal(value(2, FW_GPU_SM_BUSY).note, "no permission");
	assert_true(value(2, FW_GPU_BUSY).number == 10);
}

static void one_lost_gpu_leaves_the_others(void **state)
{
	(void)state;
	fake_gpus_are("count 8\n" GEMM "3.* !15\n");
	read_next();
	read_next();
	assert_int_equal(sample.gpu_count, 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(sample.gpus[i].result, i == 3 ? FW_NVML_GPU_IS_LOST : 0);
		assert_int_equal(value(i, FW_GPU_SM_BUSY).source,
				 i == 3 ? FW_VALUE_UNKNOWN : FW_VALUE_MEASURED);
	}
	assert_int_equal(value(3, FW_GPU_BUSY).source, FW_VALUE_UNKNOWN);
	fake_gpus_are("count 8\n" GEMM); /* it is back, and is found again after a while */
	for (int i = 0; i < 7; i++)
		read_next();
	assert_int_equal(sample.gpus[3].result, 0);
	assert_true(value(3, FW_GPU_SM_BUSY).number == 66);
}

static void survives_unplugging_and_a_driver_reload(void **state)
{
	(void)state;
	fake_gpus_are("count 8\n" GEMM);
	read_next();
	fake_gpus_are("count 7\n" GEMM);
	read_next();
	assert_int_equal(sample.gpu_count, 7);
	fake_gpus_are("count 7\n*.* !1\n"); /* all answer: uninitialised */
	read_next();
	assert_int_equal(sample.gpu_count, 0);
	assert_int_equal(sample.result, FW_NVML_UNINITIALIZED);
	fake_gpus_are("init !9\ncount !9\n");
	read_next();
	assert_int_equal(sample.result, FW_NVML_DRIVER_NOT_LOADED);
	assert_non_null(strstr(sample.why, "not loaded"));
	fake_gpus_are(GEMM);
	read_next();
	assert_int_equal(sample.result, 0);
	assert_int_equal(sample.gpu_count, 1);
	read_next();
	assert_true(value(0, FW_GPU_SM_BUSY).number == 66);
}

static void no_library_is_said(void **state)
{
	struct fw_devices *none;

	(void)state;
	assert_int_equal(fw_devices_open(&none, "/nowhere/libnvidia-ml.so.1", NULL), FW_OK);
	fw_devices_read(none, 1, &sample);
	assert_int_equal(sample.result, FW_NVML_NO_CALL);
	assert_non_null(strstr(sample.why, "/nowhere/libnvidia-ml.so.1"));
	assert_int_equal(sample.gpu_count, 0);
	fw_devices_close(none);
}

/* C078: drivers hand out old samples, of processes that are gone too, and garbage. */
static void believes_only_new_and_possible_samples_of_processes(void **state)
{
	char text[1024];
	struct timespec t;
	unsigned long long now;

	(void)state;
	fake_gpus_are("");
	read_next();
	clock_gettime(CLOCK_REALTIME, &t);
	now = (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
	snprintf(text, sizeof(text),
		 "0.process 10 1000\n0.process 11 -\n0.process 12 3000\n0.process 13 1\n"
		 "0.graphics 10 1000\n"
		 "0.procutil 10 %llu 30 0 0 0\n0.procutil 10 %llu 40 0 0 0\n" /* newest: 40 */
		 "0.procutil 10 %llu 35 0 0 0\n"
		 "0.procutil 11 %llu 4294967 0 0 0\n0.procutil 12 1000 99 0 0 0\n"
		 "0.procutil 13 %llu 50 0 0 0\n0.procutil 77 %llu 50 0 0 0\n",
		 now + 100, now + 300, now + 200, now + 100, now + 3600000000ull, now + 100);
	fake_gpus_are(text);
	usleep(1000);
	read_next();
	assert_int_equal(sample.process_count, 4);
	assert_int_equal(sample.processes[0].pid, 10);
	assert_true(sample.processes[0].gpu_memory.number == 1000);
	assert_true(sample.processes[0].gpu_busy.number == 40);
	assert_int_equal(sample.processes[1].gpu_memory.source, FW_VALUE_UNKNOWN);
	for (int i = 1; i < 4; i++) /* garbage, old, from the future */
		assert_int_equal(sample.processes[i].gpu_busy.source, FW_VALUE_UNKNOWN);
}

static void counts_processes_that_do_not_fit(void **state)
{
	static char text[8192];
	size_t len = (size_t)snprintf(text, sizeof(text), "count 3\n");

	(void)state;
	for (int i = 0; i < 100; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "*.process %d 1\n", i + 1);
	fake_gpus_are(text);
	read_next();
	assert_int_equal(sample.process_count, FW_SAMPLE_PROCESSES);
	assert_int_equal(sample.processes_left_out, 300 - FW_SAMPLE_PROCESSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gemm_loop_is_read_as_it_was_measured, begin, end),
		cmocka_unit_test_setup_teardown(zeros_of_gpm_are_no_truth, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_number_or_impossible_is_unknown, begin,
						end),
		cmocka_unit_test_setup_teardown(gpm_takes_no_samples_too_close_together, begin,
						end),
		cmocka_unit_test_setup_teardown(says_why_counters_are_missing, begin, end),
		cmocka_unit_test_setup_teardown(one_lost_gpu_leaves_the_others, begin, end),
		cmocka_unit_test_setup_teardown(survives_unplugging_and_a_driver_reload, begin,
						end),
		cmocka_unit_test_setup_teardown(no_library_is_said, begin, end),
		cmocka_unit_test_setup_teardown(believes_only_new_and_possible_samples_of_processes,
						begin, end),
		cmocka_unit_test_setup_teardown(counts_processes_that_do_not_fit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
