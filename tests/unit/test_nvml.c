/* NVML through the stand-in of tests/fake: each state that a driver can be in, known or unknown. */
#include "gpu/nvml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char states[] = "/tmp/fw_nvml_XXXXXX";

static void set_states(const char *text)
{
	FILE *file = fopen(states, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void open_with(struct fw_nvml *nvml, const char *text)
{
	struct fw_error err;

	set_states(text);
	assert_int_equal(fw_nvml_open(nvml, FW_FAKE_NVML, NULL, &err), FW_OK);
}

static void *gpu(const struct fw_nvml *nvml, unsigned index)
{
	void *device = NULL;

	assert_int_equal(nvml->device_get_handle_by_index(index, &device), 0);
	return device;
}

static void an_idle_gpu_is_known(void **state)
{
	struct fw_nvml_identity identity;
	struct fw_nvml_state now;
	struct fw_nvml nvml;

	(void)state;
	open_with(&nvml, "*.link_gen 1\n");
	fw_nvml_identify(&nvml, gpu(&nvml, 0), &identity);
	fw_nvml_read_state(&nvml, gpu(&nvml, 0), &now);
	assert_string_equal(identity.name, "NVIDIA H200");
	assert_string_equal(identity.bus_id, "00000000:17:00.0");
	assert_int_equal(identity.cc.value, 90);
	assert_true(now.link_gen.is_known && now.link_gen.value == 1);
	assert_true(identity.link_gen_max.is_known && identity.link_gen_max.value == 5);
	assert_true(now.clocks_reasons.value & FW_NVML_CLOCKS_IDLE);
	assert_int_equal(now.memory_total.value, 150754820096ull);
	fw_nvml_close(&nvml);
}

static void a_lost_gpu_leaves_the_others(void **state)
{
	struct fw_nvml_state now;
	struct fw_nvml nvml;
	unsigned count = 0;
	void *device = NULL;

	(void)state;
	open_with(&nvml, "count 8\n3.* !15\n");
	assert_int_equal(nvml.device_get_count(&count), 0);
	assert_int_equal(count, 8);
	assert_int_equal(nvml.device_get_handle_by_index(3, &device), FW_NVML_GPU_IS_LOST);
	fw_nvml_read_state(&nvml, gpu(&nvml, 4), &now);
	assert_true(now.gpu_percent.is_known);
	fw_nvml_close(&nvml);
}

static void what_fails_is_unknown_with_its_reason(void **state)
{
	struct fw_nvml_state now;
	struct fw_nvml nvml;

	(void)state;
	open_with(&nvml, "*.gpu_percent !3\n*.memory_used !4\n*.mig 1\n");
	fw_nvml_read_state(&nvml, gpu(&nvml, 0), &now);
	assert_false(now.gpu_percent.is_known);
	assert_int_equal(now.gpu_percent.result, FW_NVML_NOT_SUPPORTED);
	assert_false(now.memory_used.is_known);
	assert_int_equal(now.memory_used.result, FW_NVML_NO_PERMISSION);
	assert_true(now.mig.is_known && now.mig.value == 1);
	nvml.device_get_temperature = NULL;
	fw_nvml_read_state(&nvml, gpu(&nvml, 0), &now);
	assert_false(now.celsius.is_known);
	assert_int_equal(now.celsius.result, FW_NVML_NO_CALL);
	fw_nvml_close(&nvml);
}

static void a_driver_that_is_not_loaded_is_told_from_no_library(void **state)
{
	struct fw_error err;
	struct fw_nvml nvml;
	int result = 0;

	(void)state;
	set_states("init !9\n");
	assert_int_equal(fw_nvml_open(&nvml, FW_FAKE_NVML, &result, &err), FW_ERR_UNSUPPORTED);
	assert_int_equal(result, FW_NVML_DRIVER_NOT_LOADED);
	assert_non_null(strstr(err.message, "not loaded"));
	fw_nvml_close(&nvml);
	assert_int_equal(fw_nvml_open(&nvml, "libfw-none.so.1", &result, &err), FW_ERR_UNSUPPORTED);
	assert_int_equal(result, FW_NVML_NO_CALL);
}

static void states_change_under_a_running_program(void **state)
{
	struct fw_nvml nvml;
	unsigned counts[3] = { 0 };

	(void)state;
	open_with(&nvml, "count 8\n@2 count 7\n@3 count !18\n");
	assert_int_equal(nvml.device_get_count(&counts[0]), 0);
	assert_int_equal(nvml.device_get_count(&counts[1]), 0);
	assert_int_equal(nvml.device_get_count(&counts[2]), FW_NVML_VERSION_MISMATCH);
	assert_int_equal(counts[0], 8);
	assert_int_equal(counts[1], 7);
	fw_nvml_close(&nvml);
}

static void processes_are_listed_up_to_the_room(void **state)
{
	struct fw_nvml_process found[2];
	struct fw_nvml nvml;
	unsigned count;

	(void)state;
	open_with(&nvml, "0.process 100 1048576\n0.process 200 -\n");
	assert_int_equal(
		fw_nvml_processes(&nvml, gpu(&nvml, 0), FW_NVML_PROCESS_COMPUTE, found, 2, &count),
		0);
	assert_int_equal(count, 2);
	assert_int_equal(found[0].memory, 1048576);
	assert_true(found[1].memory == FW_NVML_NO_VALUE);
	assert_int_equal(
		fw_nvml_processes(&nvml, gpu(&nvml, 0), FW_NVML_PROCESS_COMPUTE, found, 1, &count),
		FW_NVML_INSUFFICIENT_SIZE);
	fw_nvml_close(&nvml);
}

static void gpm_metrics_fail_one_by_one(void **state)
{
	static struct fw_nvml_gpm_metrics metrics = { .version = 1, .count = 2 };
	struct fw_nvml nvml;

	(void)state;
	open_with(&nvml, "*.gpm2 66.5\n*.gpm5 !3\n");
	metrics.metrics[0].id = FW_NVML_GPM_SM;
	metrics.metrics[1].id = FW_NVML_GPM_TENSOR;
	assert_int_equal(nvml.gpm_sample_alloc(&metrics.first), 0);
	assert_int_equal(nvml.gpm_sample_alloc(&metrics.second), 0);
	assert_int_equal(nvml.gpm_sample_get(gpu(&nvml, 0), metrics.first), 0);
	assert_int_equal(nvml.gpm_sample_get(gpu(&nvml, 0), metrics.second), 0);
	assert_int_equal(nvml.gpm_metrics_get(&metrics), 0);
	assert_true(metrics.metrics[0].result == 0 && metrics.metrics[0].value == 66.5);
	assert_int_equal(metrics.metrics[1].result, FW_NVML_NOT_SUPPORTED);
	nvml.gpm_sample_free(metrics.first);
	nvml.gpm_sample_free(metrics.second);
	fw_nvml_close(&nvml);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_gpu_is_known),
		cmocka_unit_test(a_lost_gpu_leaves_the_others),
		cmocka_unit_test(what_fails_is_unknown_with_its_reason),
		cmocka_unit_test(a_driver_that_is_not_loaded_is_told_from_no_library),
		cmocka_unit_test(states_change_under_a_running_program),
		cmocka_unit_test(processes_are_listed_up_to_the_room),
		cmocka_unit_test(gpm_metrics_fail_one_by_one),
	};
	int fd = mkstemp(states), failed;

	if (fd < 0)
		return 1;
	close(fd);
	setenv("FW_FAKE_NVML", states, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(states);
	return failed;
}
