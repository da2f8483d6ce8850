/* How full the GPU is, on /metrics: the one that computes, known values only, read at most once a second. */
#include "fake_gpus.h"
#include "serve/gpu_figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
/* Of the second of two GPUs. */
#define UUID "GPU-00000000-0000-0000-0000-000000000001"
#define TWO                                                                                        \
	"count 2\n0.gpu_percent 11\n1.gpu_percent 97\n1.gpm2 66\n1.gpm3 9.8\n1.gpm5 64\n"          \
	"1.power_mw 690000\n"

static struct fw_gpu_figures figures;

static int begin(void **state)
{
	return fake_gpus_begin(state);
}

static int end(void **state)
{
	fw_gpu_figures_close(&figures);
	return fake_gpus_end(state);
}

/* What a scrape at this second has; the caller frees it. */
static struct fw_str scrape(int64_t second)
{
	struct fw_str text = { .len = 0 };
	struct fw_openmetrics writer = { .out = &text };

	fw_gpu_figures_write(&figures, second * SECOND, &writer);
	return text;
}

static void assert_has(const struct fw_str *text, const char *part)
{
	if (!text->data || !strstr(text->data, part))
		fail_msg("'%s' is not in: %s", part, text->data ? text->data : "nothing");
}

static void the_gpu_that_computes_is_told_of(void **state)
{
	struct fw_str text;

	(void)state;
	fake_gpus_are(TWO);
	assert_int_equal(fw_gpu_figures_open(&figures, UUID, FW_FAKE_NVML, NULL), FW_OK);
	text = scrape(1);
	assert_has(&text, "fullwarp_gpu_busy_ratio{UUID=\"" UUID "\"} 0.97\n");
	assert_null(strstr(text.data, "sm_busy")); /* takes two readings: unknown, not 0 */
	assert_null(strstr(text.data, "000000000000\""));
	fw_str_release(&text);
	text = scrape(2);
	assert_has(&text, "fullwarp_gpu_sm_busy_ratio{UUID=\"" UUID "\"} 0.66\n");
	assert_has(&text, "fullwarp_gpu_tensor_ratio{UUID=\"" UUID "\"} 0.64\n");
	assert_has(&text, "fullwarp_gpu_power_watts{UUID=\"" UUID "\"} 690\n");
	fw_str_release(&text);
}

static void two_scrapes_in_a_second_read_once(void **state)
{
	struct fw_str text;

	(void)state;
	fake_gpus_are(TWO);
	assert_int_equal(fw_gpu_figures_open(&figures, UUID, FW_FAKE_NVML, NULL), FW_OK);
	text = scrape(1);
	fw_str_release(&text);
	fake_gpus_are("count 2\n1.gpu_percent 5\n");
	text = scrape(1);
	assert_has(&text, "fullwarp_gpu_busy_ratio{UUID=\"" UUID "\"} 0.97\n");
	fw_str_release(&text);
	text = scrape(3);
	assert_has(&text, "fullwarp_gpu_busy_ratio{UUID=\"" UUID "\"} 0.05\n");
	fw_str_release(&text);
}

static void another_gpu_or_no_driver_is_nothing(void **state)
{
	struct fw_str text;

	(void)state;
	fake_gpus_are(TWO);
	assert_int_equal(fw_gpu_figures_open(&figures, "GPU-none", FW_FAKE_NVML, NULL), FW_OK);
	text = scrape(1);
	assert_int_equal(text.len, 0);
	fw_str_release(&text);
	fw_gpu_figures_close(&figures);
	assert_int_equal(fw_gpu_figures_open(&figures, UUID, "/no/such/libnvidia-ml.so", NULL),
			 FW_OK);
	text = scrape(1);
	assert_int_equal(text.len, 0);
	fw_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_gpu_that_computes_is_told_of, begin, end),
		cmocka_unit_test_setup_teardown(two_scrapes_in_a_second_read_once, begin, end),
		cmocka_unit_test_setup_teardown(another_gpu_or_no_driver_is_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
