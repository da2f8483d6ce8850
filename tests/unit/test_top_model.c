#include "base/utf8.h"
#include "fake_gpus.h"
#include "openmetrics_check.h"
#include "top/metrics.h"
#include "top/view.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define GEMM                                                                                       \
	"*.gpu_percent 97\n*.gpm2 66\n*.gpm3 9.8\n*.gpm5 64\n*.gpm10 12.7\n*.clocks_reasons 4\n"   \
	"*.power_mw 690000\n*.memory_used 80000000000\n"

/* A command's name and a GPU's that would break a format that does not escape. */
#define EVIL "a\"\\,\x1b[2J\xff"

static struct fw_top *top;
static struct fw_view view = { .lines = FW_VEC(struct fw_view_line) };
static struct fw_str text;
static char root[64];
static int64_t now_ns;

static void put(const char *path, const char *content)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

/* Process 100 with so much anonymous memory, on a machine with 1 GiB left. */
static void put_process(unsigned anonymous_kb)
{
	char status[128];

	put("proc/100/stat",
	    "100 (" EVIL ") S 1 1 1 0 -1 4 0 0 0 0 10 10 0 0 20 0 1 0 5 9 1000 1\n");
	snprintf(status, sizeof(status), "RssAnon: %u kB\nRssShmem: 0 kB\n", anonymous_kb);
	put("proc/100/status", status);
	put("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\n");
}

static int begin(void **state)
{
	struct fw_top_options options = { .nvml = FW_FAKE_NVML, .root = root };
	char folder[128];

	snprintf(root, sizeof(root), "/tmp/fw-top-XXXXXX");
	if (fake_gpus_begin(state) || !mkdtemp(root))
		return -1;
	snprintf(folder, sizeof(folder), "%s/proc", root);
	mkdir(folder, 0755);
	snprintf(folder, sizeof(folder), "%s/proc/100", root);
	mkdir(folder, 0755);
	put_process(1000);
	now_ns = 0;
	return fw_top_open(&top, &options, NULL);
}

static int end(void **state)
{
	char command[128];
	FILE *pipe;

	fw_top_close(top);
	fw_view_release(&view);
	fw_str_release(&text);
	snprintf(command, sizeof(command), "rm -r %s", root);
	pipe = popen(command, "r");
	return (pipe ? pclose(pipe) : -1) | fake_gpus_end(state);
}

static void update(double seconds)
{
	now_ns += (int64_t)(seconds * 1e9);
	assert_int_equal(fw_top_update(top, now_ns, NULL), FW_OK);
}

static void a_step_in_power_with_zero_use_makes_use_unknown(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm 0\n*.power_mw 4000\n*.power_limit_mw !3\n");
	update(1);
	assert_int_equal(top->gpus[0].verdict.kind, FW_VERDICT_IDLE);
	fake_gpus_are("*.gpm 0\n*.power_mw 20000\n*.power_limit_mw !3\n");
	update(1);
	assert_int_equal(top->gpus[0].sample.values[FW_GPU_BUSY].source, FW_VALUE_UNKNOWN);
	assert_int_equal(top->gpus[0].verdict.kind, FW_VERDICT_UNKNOWN);
	assert_non_null(strstr(top->gpus[0].verdict.text, "power"));
}

/* 1 MiB a second and 1 GiB left: 1024 s. */
static void a_leak_raises_the_alarm_with_its_time(void **state)
{
	const struct fw_top_process *process;

	(void)state;
	fake_gpus_are(GEMM "0.process 100 1000\n");
	for (unsigned i = 0; i < 40; i++) {
		put_process(10000 + i * 1024 * 5);
		update(5);
	}
	process = top->processes.data;
	assert_int_equal(top->processes.len, 1);
	assert_true(process->alarm.is_raised);
	assert_true(process->alarm.slope.number > 1048570 && process->alarm.slope.number < 1048582);
	assert_true(process->alarm.seconds_left.number > 1023 &&
		    process->alarm.seconds_left.number < 1025);
	fw_view_render(&view, top,
		       &(struct fw_view_options){ .columns = 80, .rows = 24, .is_live = true });
	assert_non_null(strstr(view.text.data, "! PID 100: host memory grows 60.0 MiB/min; machine "
					       "limit 8.0 GiB in 17 min"));
	fake_gpus_are(GEMM);
	update(5);
	assert_int_equal(top->processes.len, 0);
}

static void unknown_is_shown_and_never_zero(void **state)
{
	(void)state;
	fake_gpus_are("*.gpu_percent 97\n*.power_mw !3\n0.process 4242 -\n");
	update(1);
	update(1);
	fw_view_render(&view, top, &(struct fw_view_options){ .columns = 100 });
	assert_non_null(strstr(view.text.data, "SM ? | warp slots ? | tensor ? | fp32 ?"));
	assert_non_null(strstr(view.text.data, "?/700 W"));
	assert_non_null(strstr(view.text.data, "4242   0       ?     ?       ?       ?      ?"));
	fw_view_json(&text, top);
	assert_non_null(
		strstr(fw_str_text(&text), "\"sm_busy_percent\": {\n          \"value\": null"));
	fw_str_clear(&text);
	fw_view_csv(&text, top);
	assert_non_null(strstr(fw_str_text(&text), "gpu,0,,NVIDIA H200,sm_busy_percent,,unknown,"));
	fw_str_clear(&text);
	fw_top_metrics(&text, top, "host");
	assert_null(strstr(fw_str_text(&text), "\nfullwarp_gpu_sm_busy_ratio{"));
	assert_non_null(strstr(fw_str_text(&text), "value=\"fullwarp_gpu_sm_busy_ratio\",source="
						   "\"unknown\"} 1\n"));
}

static void the_view_fits_every_window(void **state)
{
	(void)state;
	fake_gpus_are("count 8\n" GEMM "*.process 100 1000\n3.* !15\n");
	update(1);
	update(1);
	for (unsigned rows = 1; rows < 70; rows++)
		for (unsigned columns = 1; columns < 220; columns += 13) {
			struct fw_view_options options = { .columns = columns,
							   .rows = rows,
							   .is_live = true,
							   .is_ascii = rows % 2,
							   .selected_pid = rows % 3 ? 100 : 0,
							   .selected_gpu = 5 };
			const struct fw_view_line *lines;

			fw_view_render(&view, top, &options);
			assert_false(view.failed);
			assert_true(view.lines.len <= rows);
			lines = view.lines.data;
			for (size_t i = 0; i < view.lines.len; i++)
				assert_true(fw_utf8_width(view.text.data + lines[i].offset,
							  lines[i].len) <= columns);
		}
}

/* In 80 x 24 all 8 GPUs have their line, and their processes. */
static void eight_gpus_fit_a_small_terminal(void **state)
{
	struct fw_view_options options = { .columns = 80, .rows = 24, .is_live = true };

	(void)state;
	fake_gpus_are("count 8\n" GEMM "*.process 100 1000\n3.* !15\n");
	update(1);
	update(1);
	fw_view_render(&view, top, &options);
	for (char digit = '0'; digit < '8'; digit++) {
		char start[] = "GPU ?";

		start[4] = digit;
		assert_non_null(strstr(view.text.data, start));
	}
	assert_non_null(strstr(view.text.data, "no answer: the GPU is lost"));
	assert_non_null(strstr(view.text.data, "q quit"));
	assert_non_null(strstr(view.text.data, "     100   0"));
	assert_null(strchr(view.text.data, '\x1b'));
}

static void selection_keeps_its_process_in_sight(void **state)
{
	char states[4096] = GEMM;
	struct fw_view_options options = {
		.columns = 80, .rows = 14, .is_live = true, .selected_pid = 1060
	};
	unsigned order[FW_SAMPLE_PROCESSES];

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(states + strlen(states), sizeof(states) - strlen(states),
			 "0.process %d %d\n", 1000 + i, 1000 - i);
	fake_gpus_are(states);
	update(1);
	fw_view_render(&view, top, &options);
	assert_non_null(strstr(view.text.data, "    1060   0"));
	assert_non_null(strstr(view.text.data, "PID 1060: children"));
	assert_int_equal(fw_view_order(top, FW_SORT_GPU_MEMORY, order), 100);
	assert_int_equal(((struct fw_top_process *)top->processes.data)[order[0]].pid, 1000);
	fw_view_order(top, FW_SORT_PID, order);
	assert_int_equal(((struct fw_top_process *)top->processes.data)[order[99]].pid, 1099);
}

/* Whatever the state, what is exported is OpenMetrics, and no name breaks out of its label. */
static void every_state_exports_sound_openmetrics(void **state)
{
	static const char *const states[] = {
		"",
		"count 0\n",
		"init !9\n",
		"count 8\n" GEMM "*.process 100 1000\n3.* !15\n",
		"count 2\n*.name " EVIL "\n*.uuid !3\n0.mig 1\n*.process 100 -\n",
		"count 3\n*.gpm_sample !4\n*.process !4\n*.memory_used !4\n*.minor !3\n",
		"count !999\n",
	};
	struct openmetrics_check check;

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		fake_gpus_are(states[i]);
		for (int n = 0; n < 3; n++) {
			update(1);
			fw_str_clear(&text);
			fw_top_metrics(&text, top, "ho\"st");
			assert_string_equal(openmetrics_check(&check, fw_str_text(&text)), "");
		}
	}
}

/* 10,000 readings with processes that come and go take no more memory than 100. */
static void memory_is_bounded(void **state)
{
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		if (i % 500 == 0) {
			char states[256];

			snprintf(states, sizeof(states),
				 "*.gpm 0\n0.process 100 1\n0.process %d 1\n", 200 + i);
			fake_gpus_are(states);
		}
		update(2);
		if (i % 100 == 0)
			fw_view_render(&view, top,
				       &(struct fw_view_options){ .columns = 80, .rows = 24 });
		if (i == 600)
			before = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	assert_int_equal(top->processes.len, 2);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd <= before + 65536);
	assert_int_equal(top->gpus[0].busy.len, FW_HISTORY_POINTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_step_in_power_with_zero_use_makes_use_unknown,
						begin, end),
		cmocka_unit_test_setup_teardown(a_leak_raises_the_alarm_with_its_time, begin, end),
		cmocka_unit_test_setup_teardown(unknown_is_shown_and_never_zero, begin, end),
		cmocka_unit_test_setup_teardown(the_view_fits_every_window, begin, end),
		cmocka_unit_test_setup_teardown(eight_gpus_fit_a_small_terminal, begin, end),
		cmocka_unit_test_setup_teardown(selection_keeps_its_process_in_sight, begin, end),
		cmocka_unit_test_setup_teardown(every_state_exports_sound_openmetrics, begin, end),
		cmocka_unit_test_setup_teardown(memory_is_bounded, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
