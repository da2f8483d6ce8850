/* Whole tuning runs on stand-ins for NVIDIA's libraries, whose kernels take the time that their source says. */
#include "tune/effects.h"
#include "tune/paste.h"
#include "tune/plot.h"
#include "tune_case.h"

#include <dlfcn.h>
#include <math.h>

/* Value 0 of BX, 256, is the default and takes 100 us. */
#define SPEC                                                                                       \
	"// fullwarp: kernel scale ; grid = ceil(N / BX) ; block = BX\n"                           \
	"// fullwarp: param BX = 256 32 64 96 128 160 192 224 ; set N = 1000 ; check N = 777\n"    \
	"// fullwarp: arg out f32[N] output rel 1e-5 ; arg in f32[N] random(1, 2)\n"               \
	"// fullwarp: arg n i32 = N\n"                                                             \
	"__global__ void scale(float *out, const float *in, int n) { int i = BX + N; }\n"          \
	"// fake scale: effect scale\n"

struct run_case {
	struct fw_tune_spec spec;
	struct fw_tune_run_options options;
	struct fw_tune_report report;
	unsigned notes;
	uint64_t stop_after; /* progress calls; 0: never */
	uint64_t calls;
};

static bool is_stopped(void *user)
{
	const struct run_case *c = user;

	return c->stop_after && c->calls >= c->stop_after;
}

static void count_progress(void *user, const struct fw_tune_progress *progress)
{
	struct run_case *c = user;

	assert_true(!progress->of || progress->done <= progress->of);
	c->calls++;
}

static void count_note(void *user, const char *text)
{
	struct run_case *c = user;

	assert_true(text[0]);
	c->notes++;
}

static void read_spec(struct run_case *c, const char *text)
{
	struct fw_error err = { 0 };

	*c = (struct run_case){ .options = { .workers = 2,
					     .nvrtc_path = FW_FAKE_TUNE_NVRTC,
					     .search = { "auto", 1, 200, NULL, 0 },
					     .is_stopped = is_stopped,
					     .progress = count_progress,
					     .note = count_note } };
	if (fw_tune_spec_parse("k.cu", text, strlen(text), &c->spec, &err))
		fail_msg("%s", err.message);
}

static void run(struct run_case *c)
{
	struct fw_error err = { 0 };

	c->options.user = c;
	if (fw_tune_run(&c->spec, &c->options, &c->report, &err))
		fail_msg("%s", err.message);
}

static void close_case(struct run_case *c)
{
	fw_tune_report_release(&c->report);
	fw_tune_spec_free(&c->spec);
}

/* The entry of a value of BX. */
static const struct fw_tune_entry *entry(const struct run_case *c, const char *value)
{
	for (size_t i = 0; i < c->report.entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(&c->report, i);

		if (!strcmp(c->spec.space.params[0].values[e->result.config.value[0]].text, value))
			return e;
	}
	fail_msg("%s was not evaluated", value);
	return NULL;
}

static const struct fw_tune_entry *winner(const struct run_case *c)
{
	assert_true(c->report.winner >= 0);
	return fw_tune_entry(&c->report, (size_t)c->report.winner);
}

#define TIMES                                                                                      \
	"// fake scale BX=32: time_us 60\n"                                                        \
	"// fake scale BX=64: time_us 40.1\n"                                                      \
	"// fake scale BX=96: time_us 40\n"                                                        \
	"// fake scale BX=128: effect wrong 17\n// fake scale BX=128: time_us 1\n"                 \
	"// fake scale BX=160: effect crash 700\n"                                                 \
	"// fake * BX=192: error no such thing\n"                                                  \
	"// fake scale BX=224: registers 300\n"

/* 64 and 96 cannot be told apart (0.25 %): the one with fewer threads holds fewer registers. */
static void finds_the_cheapest_of_the_fastest(void **state)
{
	struct run_case c;
	const struct fw_tune_report *r = &c.report;

	(void)state;
	read_spec(&c, SPEC TIMES);
	run(&c);
	assert_string_equal(r->strategy, "exhaustive");
	assert_true(r->is_complete);
	assert_int_equal(r->entries.len, 8);
	assert_int_equal(r->ranked.len, 4);
	assert_int_equal(r->n_equal, 2);
	assert_ptr_equal(winner(&c), entry(&c, "64"));
	assert_ptr_equal(fw_tune_entry(r, (size_t)r->preset), entry(&c, "256"));
	assert_float_equal(winner(&c)->result.median_s, 40.1e-6, 1e-9);
	assert_true(winner(&c)->is_raced);
	assert_true(winner(&c)->result.low_s > 0);
	assert_int_equal(entry(&c, "128")->result.status, FW_TUNE_WRONG_OUTPUT);
	assert_int_equal(entry(&c, "160")->result.status, FW_TUNE_CRASHED);
	assert_int_equal(entry(&c, "192")->result.status, FW_TUNE_COMPILE_FAILED);
	assert_int_equal(entry(&c, "224")->result.status, FW_TUNE_NOT_LAUNCHABLE);
	assert_int_equal(r->n_sizes_checked, 1);
	assert_float_equal(r->confirmed.median_s, 40.1e-6, 1e-9);
	assert_float_equal(r->confirmed_preset.median_s, 100e-6, 1e-9);
	assert_int_equal(c.notes, 0);
	close_case(&c);
}

/* Right at the size that is tuned, wrong at another one: the next wins. */
static void a_winner_must_be_right_on_other_sizes(void **state)
{
	struct run_case c;

	(void)state;
	read_spec(&c, SPEC TIMES "// fake scale BX=64 N=777: effect wrong 3\n");
	run(&c);
	assert_ptr_equal(winner(&c), entry(&c, "96"));
	assert_int_equal(entry(&c, "64")->result.status, FW_TUNE_WRONG_OUTPUT);
	assert_non_null(strstr(entry(&c, "64")->result.reason, "with N=777: out[3]"));
	assert_int_equal(c.notes, 1);
	close_case(&c);
}

static char cache_path[] = "/tmp/fw-tune-run-XXXXXX";

/* A second run measures nothing in its search, and races what is near the best anew. */
static void a_second_run_uses_the_cache(void **state)
{
	struct run_case c;
	size_t cached = 0;

	(void)state;
	read_spec(&c, SPEC TIMES);
	c.options.cache_path = cache_path;
	run(&c);
	close_case(&c);
	read_spec(&c, SPEC TIMES);
	c.options.cache_path = cache_path;
	run(&c);
	assert_int_equal(c.notes, 1); /* how many are used */
	assert_ptr_equal(winner(&c), entry(&c, "64"));
	assert_true(winner(&c)->is_raced && !winner(&c)->is_cached);
	for (size_t i = 0; i < c.report.entries.len; i++)
		cached += fw_tune_entry(&c.report, i)->is_cached;
	assert_int_equal(cached, 4); /* the failures */
	/* The default as the reference, the racers, and winner and default for the other size. */
	assert_int_equal(c.report.compile.compiled, 1 + 4 + 2);
	close_case(&c);
}

/* It takes 50 us when it is new and 80 later: what the search saw does not stand in the race. */
static void a_lucky_one_loses_the_race(void **state)
{
	struct run_case c;

	(void)state;
	read_spec(&c, SPEC "// fake scale BX=32: time_us 90\n// fake scale BX=64: time_us 80\n"
			   "// fake scale BX=96: time_us 52\n// fake scale BX=96: registers 64\n"
			   "// fake scale BX=64: cold_us 50\n");
	run(&c);
	assert_ptr_equal(winner(&c), entry(&c, "96"));
	assert_int_equal(c.report.n_equal, 1);
	close_case(&c);
}

/* Values that change nothing give the same code: it is measured once. */
static void equal_code_is_measured_once(void **state)
{
	struct run_case c;
	const struct fw_tune_entry *a, *b;

	(void)state;
	read_spec(
		&c,
		"// fullwarp: kernel scale ; grid = ceil(N / 64) ; block = 64\n"
		"// fullwarp: param A = 1 2 3 ; set N = 1000\n"
		"// fullwarp: arg out f32[N] output ; arg in f32[N] random(1, 2) ; arg n i32 = N\n"
		"__global__ void scale(float *out, const float *in, int n) { int i = A + N; }\n"
		"// fake scale: effect scale\n// fake scale A=3: time_us 30\n");
	run(&c);
	a = entry(&c, "1");
	b = entry(&c, "2");
	assert_int_equal(a->same_as, -1);
	assert_ptr_equal(fw_tune_entry(&c.report, (size_t)b->same_as), a);
	assert_true(b->result.median_s == a->result.median_s);
	assert_ptr_equal(winner(&c), entry(&c, "3"));
	close_case(&c);
}

/* What is wrong on another size is out with all that runs the same code; it is not tried once more. */
static void equal_code_is_rejected_together(void **state)
{
	struct run_case c;

	(void)state;
	read_spec(
		&c,
		"// fullwarp: kernel scale ; grid = ceil(N / 64) ; block = 64\n"
		"// fullwarp: param A = 1 2 3 4 ; set N = 1000 ; check N = 777\n"
		"// fullwarp: arg out f32[N] output ; arg in f32[N] random(1, 2) ; arg n i32 = N\n"
		"__global__ void scale(float *out, const float *in, int n) { int i = A + N; }\n"
		"// fake scale: effect scale\n"
		"// fake scale A=3: time_us 30\n// fake scale A=4: time_us 30\n"
		"// fake scale A=3 N=777: effect wrong 1\n// fake scale A=4 N=777: effect wrong "
		"1\n");
	run(&c);
	assert_int_equal(entry(&c, "3")->result.status, FW_TUNE_WRONG_OUTPUT);
	assert_int_equal(entry(&c, "4")->result.status, FW_TUNE_WRONG_OUTPUT);
	assert_int_equal(
		!!strstr(entry(&c, "3")->result.reason, "as another with the same code") +
			!!strstr(entry(&c, "4")->result.reason, "as another with the same code"),
		1);
	assert_ptr_equal(winner(&c), entry(&c, "1"));
	assert_int_equal(c.report.confirmed.n_samples, 20);
	assert_int_equal(c.notes, 1);
	close_case(&c);
}

static void stops_when_asked(void **state)
{
	struct run_case c;

	(void)state;
	read_spec(&c, SPEC TIMES);
	c.stop_after = 2;
	run(&c);
	assert_true(c.report.is_stopped);
	assert_false(c.report.is_complete);
	assert_int_equal(c.report.entries.len, 2);
	assert_int_equal(c.report.confirmed.n_samples, 0);
	assert_false(winner(&c)->is_raced);
	close_case(&c);
}

/* Outputs are checked against the default: without it nothing can be said. */
static void a_default_that_fails_is_an_error(void **state)
{
	struct fw_error err = { 0 };
	struct run_case c;

	(void)state;
	read_spec(&c, SPEC "// fake * BX=256: error oh no\n");
	c.options.user = &c;
	assert_int_equal(fw_tune_run(&c.spec, &c.options, &c.report, &err), FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "oh no"));
	close_case(&c);
}

#define TILES                                                                                      \
	"// fullwarp: kernel scale ; grid = ceil(N / BX) ; block = BX\n"                           \
	"// fullwarp: param BX = 256 64 128 ; param T = 1 2 4 8 ; set N = 100000\n"                \
	"// fullwarp: arg out f32[N] output ; arg in f32[N] random(1, 2) ; arg n i32 = N\n"        \
	"__global__ void scale(float *out, const float *in, int n) { int i = BX + T + N; }\n"      \
	"// fake scale: effect scale\n"                                                            \
	"// fake scale BX=64: time_us 90\n// fake scale BX=128: time_us 80\n"                      \
	"// fake scale T=4: time_us 25\n// fake scale BX=128 T=4: time_us 20\n"                    \
	"// fake scale BX=128 T=4: registers 40\n"

/* By hand: BX alone gives 100/80; T is 4 in the three fastest. */
static void says_where_the_gain_is_from(void **state)
{
	struct fw_tune_effect effects[FW_TUNE_MAX_PARAMS];
	struct fw_str text = { 0 };
	struct run_case c;
	uint32_t measured;
	ptrdiff_t block;

	(void)state;
	read_spec(&c, TILES);
	run(&c);
	assert_int_equal(fw_tune_block_params(&c.spec), 1);
	block = fw_tune_best_block(&c.spec, &c.report, &measured);
	assert_int_equal(measured, 2);
	assert_float_equal(fw_tune_entry(&c.report, (size_t)block)->guide_s, 80e-6, 1e-9);
	assert_int_equal(fw_tune_effects(&c.spec, &c.report, effects), 2);
	assert_int_equal(effects[0].param, 1);
	assert_int_equal(effects[0].fastest, 2);
	/* Mean logs: T=4: (25 25 20), T=1: (100 90 80). */
	assert_float_equal(effects[0].ratio, cbrt(100. * 90 * 80 / (25. * 25 * 20)), 1e-6);
	assert_float_equal(effects[0].share + effects[1].share, 1, 1e-9);
	assert_int_equal(fw_tune_paste(&c.spec, &winner(&c)->result, &text, NULL), FW_OK);
	assert_string_equal(fw_str_text(&text),
			    "#define BX 128\n#define T 4\n"
			    "__global__ void __launch_bounds__(128) scale(...)\n"
			    "dim3 block(128);\n"
			    "dim3 grid(782); // ceil(N / BX)\n"
			    "scale<<<grid, block>>>(...);\n");
	fw_str_clear(&text);
	assert_int_equal(fw_tune_plot(&c.spec, &c.report, &text, NULL), FW_OK);
	assert_non_null(strstr(fw_str_text(&text), "20 us: BX=128 T=4</title>"));
	fw_str_release(&text);
	close_case(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_cheapest_of_the_fastest),
		cmocka_unit_test(a_winner_must_be_right_on_other_sizes),
		cmocka_unit_test(a_second_run_uses_the_cache),
		cmocka_unit_test(a_lucky_one_loses_the_race),
		cmocka_unit_test(equal_code_is_measured_once),
		cmocka_unit_test(equal_code_is_rejected_together),
		cmocka_unit_test(stops_when_asked),
		cmocka_unit_test(a_default_that_fails_is_an_error),
		cmocka_unit_test(says_where_the_gain_is_from),
	};
	int fd, failed;

	/* The loader takes a library that is open already, by its soname; so do the children. */
	if (!dlopen(FW_FAKE_TUNE_CUDA, RTLD_NOW) || !dlopen(FW_FAKE_NVML, RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	fd = mkstemp(cache_path);
	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(cache_path);
	return failed;
}
