#include "fake_gpus.h"
#include "fake_pm.h"
#include "record/counters.h"
#include "trace/recording_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static char path[64];
static struct fw_record_counters *counters;
static int64_t began_mono;

/* What the file holds. */
struct found {
	char names[256][256];
	struct fw_rec_counter counters[20000];
	size_t counter_count;
	struct fw_rec_device devices[8];
	size_t device_count, clock_count, loss_count;
	struct fw_rec_device_clock clock;
	struct fw_rec_loss loss;
	char source[256], why[512], cannot[512]; /* the last */
};
static struct found found;

static int begin(void **state)
{
	int fd;

	if (fake_gpus_begin(state) || fake_pm_begin(state))
		return -1;
	snprintf(path, sizeof(path), "/tmp/fw-counters-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	began_mono = fw_record_now();
	return 0;
}

static int end(void **state)
{
	unlink(path);
	return fake_gpus_end(state) | fake_pm_end(state);
}

static void open_with(enum fw_counter_source best)
{
	struct fw_record_counters_options options = {
		.path = path, .nvml = FW_FAKE_NVML, .cupti = FW_FAKE_PM_CUPTI, .best = best
	};

	assert_int_equal(fw_record_counters_open(&counters, &options, NULL), FW_OK);
}

static void copy_name(const struct fw_rec_info *info, char *to, size_t room)
{
	assert_true(info->text < 256);
	snprintf(to, room, "%s", found.names[info->text]);
}

static void take_info(const struct fw_rec_info *info)
{
	switch (info->head.extra) {
	case FW_REC_INFO_SOURCE: copy_name(info, found.source, sizeof(found.source)); break;
	case FW_REC_INFO_SOURCE_WHY: copy_name(info, found.why, sizeof(found.why)); break;
	case FW_REC_INFO_CANNOT: copy_name(info, found.cannot, sizeof(found.cannot)); break;
	default: break;
	}
}

static void take_record(const uint8_t *at, const struct fw_rec *head)
{
	struct fw_rec_string string;
	struct fw_rec_info info;

	switch (head->kind) {
	case FW_REC_STRING:
		memcpy(&string, at, sizeof(string));
		assert_true(head->extra < 256);
		snprintf(found.names[head->extra], 256, "%.*s", (int)string.length,
			 (const char *)at + sizeof(string));
		break;
	case FW_REC_INFO:
		memcpy(&info, at, sizeof(info));
		take_info(&info);
		break;
	case FW_REC_COUNTER:
		assert_true(found.counter_count < 20000);
		memcpy(&found.counters[found.counter_count++], at, sizeof(found.counters[0]));
		break;
	case FW_REC_DEVICE:
		assert_true(found.device_count < 8);
		memcpy(&found.devices[found.device_count++], at, sizeof(found.devices[0]));
		break;
	case FW_REC_DEVICE_CLOCK:
		memcpy(&found.clock, at, sizeof(found.clock));
		found.clock_count++;
		break;
	case FW_REC_LOSS:
		memcpy(&found.loss, at, sizeof(found.loss));
		found.loss_count++;
		break;
	default: fail_msg("record of kind %u", head->kind);
	}
}

/* Ends the recording and reads its file. */
static void close_and_read(void)
{
	static uint8_t payload[FW_REC_CHUNK_BYTES];
	struct fw_rec_file header;
	struct fw_rec_chunk chunk;
	FILE *file;

	fw_record_counters_end(counters);
	fw_record_counters_close(counters, NULL);
	memset(&found, 0, sizeof(found));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	assert_int_equal(header.kind, FW_REC_FILE_COUNTERS);
	while (fread(&chunk, sizeof(chunk), 1, file) == 1) {
		uint32_t size = fw_rec_padded(chunk.stored_bytes);
		struct fw_rec head;

		assert_int_equal(fread(payload, 1, size, file), size);
		for (uint32_t at = 0; at < chunk.raw_bytes; at += head.size) {
			memcpy(&head, payload + at, sizeof(head));
			take_record(payload + at, &head);
		}
	}
	fclose(file);
}

static void sleep_ms(long ms)
{
	struct timespec t = { 0, ms * MS };

	nanosleep(&t, NULL);
}

/* The records of a value of a device and a source; the first is in *first. */
static size_t count(const char *name, const char *source, uint32_t device,
		    const struct fw_rec_counter **first)
{
	size_t n = 0;

	for (size_t i = 0; i < found.counter_count; i++) {
		const struct fw_rec_counter *c = &found.counters[i];

		if (strcmp(found.names[c->name], name) != 0 ||
		    strcmp(found.names[c->source], source) != 0 || c->head.extra != device)
			continue;
		if (!n++ && first)
			*first = c;
	}
	return n;
}

static void samples_are_written_at_their_times(void **state)
{
	const struct fw_rec_counter *first = NULL;
	int64_t last = 0, covered = 0;

	(void)state;
	/* The GPU's clock is 7 s ahead. */
	fake_gpus_are("*.power_mw 300000\n");
	fake_pm_is("steady 2 30 20 10\nahead 7000000000\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	for (int i = 0; i < 4; i++) {
		sleep_ms(30);
		fw_record_counters_tick(counters, fw_record_now());
	}
	assert_null(fw_record_counters_why(counters));
	close_and_read();
	assert_string_equal(found.source, "pm-sampling");
	assert_string_equal(found.why, "");
	assert_int_equal(found.device_count, 1);
	assert_int_equal(found.devices[0].cc, 90);
	assert_string_equal(found.names[found.devices[0].name], "NVIDIA H200");
	assert_true(count("sm_busy_percent", "pm-sampling", 0, &first) >= 1);
	assert_true(first->value == 30);
	assert_true(count("warp_slots_percent", "pm-sampling", 0, &first) && first->value == 20);
	assert_true(count("tensor_percent", "pm-sampling", 0, &first) && first->value == 10);
	assert_true(count("pcie_rx_bytes_per_second", "pm-sampling", 0, NULL) >= 1);
	assert_true(count("power_watts", "nvml", 0, &first) && first->value == 300);
	assert_true(first->start_mono == first->end_mono);
	assert_int_equal(count("sm_busy_percent", "gpm", 0, NULL), 0);
	for (size_t i = 0; i < found.counter_count; i++) {
		const struct fw_rec_counter *c = &found.counters[i];

		if (strcmp(found.names[c->name], "sm_busy_percent") != 0)
			continue;
		assert_true(c->start_mono >= last && c->end_mono > c->start_mono);
		/* Real time, within a sample: it can be told no better. */
		assert_true(c->start_mono > began_mono - 3 * MS);
		assert_true(c->end_mono <= fw_record_now());
		last = c->end_mono;
		covered += c->end_mono - c->start_mono;
	}
	assert_true(last > began_mono + 80 * MS && covered > 50 * MS);
	assert_true(found.clock_count >= 1);
	assert_true(found.clock.before_mono <= (int64_t)found.clock.device_ns - 7000 * MS);
	assert_true(found.clock.after_mono >= (int64_t)found.clock.device_ns - 7000 * MS);
}

static void samples_that_say_the_same_are_one_record(void **state)
{
	const struct fw_rec_counter *first = NULL;

	(void)state;
	fake_gpus_are("");
	fake_pm_is("sample 1000000 2000000 * 0\nsample 2000000 3000000 * 0\n"
		   "sample 3000000 4000000 * 5\nsample 5000000 6000000 * 5\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	fw_record_counters_tick(counters, fw_record_now());
	close_and_read();
	/* Two of 0, one of 5, and after a hole another of 5. */
	assert_int_equal(count("sm_busy_percent", "pm-sampling", 0, &first), 3);
	assert_int_equal(first->end_mono - first->start_mono, 2 * MS);
	/* The mean of a link over all four milliseconds: (0 + 0 + 5 + 5) / 4. */
	assert_int_equal(count("pcie_tx_bytes_per_second", "pm-sampling", 0, &first), 1);
	assert_true(first->value == 2.5);
	assert_int_equal(first->end_mono - first->start_mono, 5 * MS);
}

static void without_permission_gpm_counts(void **state)
{
	const struct fw_rec_counter *first = NULL;
	int64_t now;

	(void)state;
	fake_gpus_are("*.gpm2 66\n*.gpm3 9.8\n*.gpm_min_ms 0\n");
	fake_pm_is("enable 35\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	now = fw_record_now();
	fw_record_counters_tick(counters, now + 600 * MS); /* GPM's first sample */
	fw_record_counters_tick(counters, now + 700 * MS); /* too early */
	fw_record_counters_tick(counters, now + 1200 * MS);
	close_and_read();
	assert_string_equal(found.source, "gpm");
	assert_non_null(strstr(found.why, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_int_equal(count("sm_busy_percent", "gpm", 0, &first), 1);
	assert_true(first->value == 66);
	assert_int_equal(first->end_mono - first->start_mono, 600 * MS);
	assert_int_equal(count("busy_percent", "nvml", 0, NULL), 3);
}

static void without_gpm_nvml_remains(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm !3\n*.cc 86\n");
	fake_pm_is("chip 33\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	close_and_read();
	assert_string_equal(found.source, "nvml");
	assert_non_null(strstr(found.why, "virtual GPU"));
	assert_non_null(strstr(found.why, "GPM needs Hopper"));
	assert_int_equal(count("sm_busy_percent", "gpm", 0, NULL), 0);
	assert_int_equal(count("memory_used_bytes", "nvml", 0, NULL), 1);
}

static void a_lesser_source_can_be_asked_for(void **state)
{
	(void)state;
	fake_gpus_are("");
	fake_pm_is("steady 1 * 30\n");
	open_with(FW_COUNTERS_GPM);
	assert_true(fw_record_counters_begin(counters));
	assert_null(fw_record_counters_why(counters)); /* it is as wished */
	close_and_read();
	assert_string_equal(found.source, "gpm");
	assert_non_null(strstr(found.why, "not asked for"));
	open_with(FW_COUNTERS_NVML);
	assert_true(fw_record_counters_begin(counters));
	close_and_read();
	assert_string_equal(found.source, "nvml");
}

static void a_sampler_that_breaks_down_is_replaced(void **state)
{
	(void)state;
	fake_gpus_are("");
	fake_pm_is("sample 1000000 2000000 7219 -1\nsample 1000000 1000000 * 1\ndecode 1 9\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	fw_record_counters_tick(counters, fw_record_now());
	assert_null(fw_record_counters_why(counters));
	fw_record_counters_tick(counters, fw_record_now());
	assert_non_null(strstr(fw_record_counters_why(counters), "the hardware failed"));
	close_and_read();
	assert_string_equal(found.source, "gpm");
	assert_non_null(strstr(found.why, "cuptiPmSamplingDecodeData"));
	assert_non_null(
		strstr(found.cannot, "1 PM samples with impossible times and 2 impossible"));
}

static void samples_lost_in_the_hardware_are_said(void **state)
{
	(void)state;
	fake_gpus_are("");
	fake_pm_is("sample 1000000 2000000 * 1\noverflow 0\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	fw_record_counters_tick(counters, fw_record_now());
	close_and_read();
	assert_int_equal(found.loss_count, 1);
	assert_int_equal(found.loss.head.extra, FW_REC_LOSS_DROPPED_GPU);
	assert_true(found.loss.count == UINT64_MAX);
}

static void what_is_paused_is_not_written(void **state)
{
	(void)state;
	fake_gpus_are("");
	fake_pm_is("sample 1000000 2000000 * 1\nsample 2000000 3000000 * 2\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	fw_record_counters_paused(counters, began_mono, fw_record_now());
	fw_record_counters_tick(counters, fw_record_now());
	close_and_read();
	assert_int_equal(count("sm_busy_percent", "pm-sampling", 0, NULL), 0);
	assert_int_equal(found.loss_count, 1);
	assert_int_equal(found.loss.head.extra, FW_REC_LOSS_PAUSED);
}

static void only_gpus_in_use_that_are_visible_are_recorded(void **state)
{
	int64_t now;

	(void)state;
	/* CUDA shows GPUs 0 and 1; somebody is on 1 and 2, later 0's memory fills. */
	fake_gpus_are("count 3\n1.process 77 1000000\n2.process 78 1000000\n"
		      "0.memory_used 1000000000\n");
	fake_pm_is("devices 2\nsteady 1 * 30\n");
	open_with(FW_COUNTERS_AUTO);
	assert_true(fw_record_counters_begin(counters));
	now = fw_record_now();
	fake_gpus_are("count 3\n1.process 77 1000000\n2.process 78 1000000\n"
		      "0.memory_used 1600000000\n");
	fw_record_counters_tick(counters, now + 1000 * MS);
	close_and_read();
	assert_int_equal(found.device_count, 2);
	assert_int_equal(found.devices[0].head.extra, 1);
	assert_int_equal(found.devices[1].head.extra, 0);
	assert_int_equal(found.devices[0].uuid[15], 1);
}

static void without_a_driver_the_file_says_so(void **state)
{
	(void)state;
	fake_gpus_are("init !9\n");
	fake_pm_is("cuInit 100\n");
	open_with(FW_COUNTERS_AUTO);
	assert_false(fw_record_counters_begin(counters));
	assert_non_null(strstr(fw_record_counters_why(counters), "driver is not loaded"));
	close_and_read();
	assert_non_null(strstr(found.cannot, "driver is not loaded"));
	assert_int_equal(found.counter_count, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(samples_are_written_at_their_times),
		CASE(samples_that_say_the_same_are_one_record),
		CASE(without_permission_gpm_counts),
		CASE(without_gpm_nvml_remains),
		CASE(a_lesser_source_can_be_asked_for),
		CASE(a_sampler_that_breaks_down_is_replaced),
		CASE(samples_lost_in_the_hardware_are_said),
		CASE(what_is_paused_is_not_written),
		CASE(only_gpus_in_use_that_are_visible_are_recorded),
		CASE(without_a_driver_the_file_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
