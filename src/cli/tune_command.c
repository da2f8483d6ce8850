/* fullwarp tune KERNEL.cu: starts the run, shows how far it is, writes what came of it. */
#include "cli/tune.h"

#include "base/error.h"
#include "tune/plot.h"
#include "tune/simple.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Configurations between two lines of progress where stderr is no terminal. */
#define TELL_EVERY 50

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static bool is_interrupted(void *user)
{
	(void)user;
	return interrupted;
}

static void describe(const struct fw_tune_progress *p, char *text, size_t size)
{
	static const char *const phases[] = { "search", "race", "confirm" };
	int n = snprintf(text, size, "%s: %llu", phases[p->phase], (unsigned long long)p->done);

	if (p->of && p->of < UINT64_C(1) << 60)
		n += snprintf(text + n, size - (size_t)n, " of %llu", (unsigned long long)p->of);
	if (p->best_s >= 0)
		n += snprintf(text + n, size - (size_t)n, ", best %.4g us", 1e6 * p->best_s);
	if (p->best_s > 0 && p->preset_s >= 0)
		n += snprintf(text + n, size - (size_t)n, " (default %.4g us, x%.2f)",
			      1e6 * p->preset_s, p->preset_s / p->best_s);
	if (p->failed)
		snprintf(text + n, size - (size_t)n, ", %llu failed",
			 (unsigned long long)p->failed);
}

static void show_progress(void *user, const struct fw_tune_progress *progress)
{
	bool is_terminal = *(const bool *)user;
	char text[256];

	describe(progress, text, sizeof(text));
	if (is_terminal)
		fprintf(stderr, "\r%.100s\033[K", text);
	else if (progress->phase == FW_TUNE_PHASE_SEARCH && progress->done % TELL_EVERY == 0)
		fprintf(stderr, "%s\n", text);
}

static void show_note(void *user, const char *text)
{
	fprintf(stderr, "%sfullwarp tune: %s\n", *(const bool *)user ? "\r\033[K" : "", text);
}

fw_status fw_tune_command_spec(const struct fw_tune_arguments *args,
			       const struct fw_tune_settings *settings, const char *source,
			       struct fw_tune_spec *spec, struct fw_error *err)
{
	if (args->n || args->init)
		return fw_tune_spec_simple(source, args->kernel,
					   args->n ? (int64_t)settings->n : 1 << 20, spec, err);
	return fw_tune_spec_read(source, spec, err);
}

/* A folder that is there or can be made, and may be written to. */
static bool is_folder(const char *path)
{
	return (!mkdir(path, 0700) || errno == EEXIST) && !access(path, W_OK | X_OK);
}

/* "$XDG_CACHE_HOME/fullwarp/tune", else in ~/.cache; NULL: there is no place for it, which is said. */
static char *find_object_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct fw_str path = { 0 };
	bool is_there;

	if (base && base[0] == '/')
		fw_str_puts(&path, base);
	else if (home && home[0] == '/')
		fw_str_printf(&path, "%s/.cache", home);
	is_there = path.len && is_folder(fw_str_text(&path));
	if (is_there)
		fw_str_puts(&path, "/fullwarp");
	if (is_there && is_folder(fw_str_text(&path))) {
		fw_str_puts(&path, "/tune");
		return fw_str_detach(&path);
	}
	fprintf(stderr, "fullwarp tune: compiled code is not kept: %s: %s\n",
		path.len ? fw_str_text(&path) : "neither XDG_CACHE_HOME nor HOME is set",
		path.len ? strerror(errno) : "no place");
	fw_str_release(&path);
	return NULL;
}

static void set_search(const struct fw_tune_arguments *args,
		       const struct fw_tune_settings *settings,
		       struct fw_tune_search_options *search)
{
	search->strategy = args->exhaustive ? "exhaustive"
			   : args->strategy ? args->strategy
					    : "auto";
	search->seed = settings->seed;
	search->budget = 200;
	if (settings->budget)
		search->budget = settings->budget;
	else if (settings->limit_s > 0 || !strcmp(search->strategy, "exhaustive"))
		search->budget = UINT64_C(1) << 60;
}

/* 0, or 1 with the reason told. */
static int write_file(const char *path, const struct fw_str *text)
{
	FILE *file = fopen(path, "w");
	bool lost;

	if (!file) {
		fprintf(stderr, "fullwarp tune: %s: %s\n", path, strerror(errno));
		return 1;
	}
	lost = fwrite(fw_str_text(text), 1, text->len, file) != text->len;
	lost = fclose(file) || lost;
	if (lost)
		fprintf(stderr, "fullwarp tune: %s: %s\n", path, strerror(errno));
	return lost;
}

static int write_plot(const char *path, const struct fw_tune_spec *spec,
		      const struct fw_tune_report *report)
{
	struct fw_str text = { 0 };
	struct fw_error err = { 0 };
	int code;

	if (fw_tune_plot(spec, report, &text, &err))
		code = fw_tune_failure(&err);
	else
		code = write_file(path, &text);
	fw_str_release(&text);
	return code;
}

static int write_result(const struct fw_tune_arguments *args, const struct fw_tune_page *page)
{
	struct fw_str text = { 0 };
	struct fw_error err = { 0 };
	fw_status status = page->settings->is_json ? fw_tune_write_json(page, &text, &err)
						   : fw_tune_write_text(page, &text, &err);
	int code = 0;

	if (status)
		code = fw_tune_failure(&err);
	else
		fputs(fw_str_text(&text), stdout);
	fw_str_release(&text);
	if (args->plot && page->report->winner >= 0)
		code |= write_plot(args->plot, page->spec, page->report);
	/* The run has its result, but what it promised to keep is not kept. */
	if (page->report->cache_error.code)
		fprintf(stderr, "fullwarp tune: the cache is not complete: %s\n",
			page->report->cache_error.message);
	return code || page->report->winner < 0 || page->report->is_stopped ||
	       page->report->cache_error.code;
}

static void set_signals(void)
{
	/* The second one ends the program at once. */
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	/* A limit on the size of files is then an error of the write, as a full disk is. */
	signal(SIGXFSZ, SIG_IGN);
}

static int run(const struct fw_tune_arguments *args, const struct fw_tune_settings *settings,
	       const struct fw_tune_spec *spec, const char *cache_path)
{
	char *object_dir = args->no_cache ? NULL : find_object_dir();
	bool is_terminal = isatty(STDERR_FILENO);
	struct fw_tune_run_options options = { .device = (unsigned)settings->device,
					       .flushes_l2 = settings->flushes_l2,
					       .workers = (unsigned)settings->jobs,
					       .object_dir = object_dir,
					       .nvrtc_path = args->nvrtc,
					       .cache_path = cache_path,
					       .forgets = args->fresh,
					       .limit_s = settings->limit_s,
					       .is_stopped = is_interrupted,
					       .progress = show_progress,
					       .note = show_note,
					       .user = &is_terminal };
	struct fw_tune_report report;
	const struct fw_tune_page page = { spec, &report, settings, cache_path };
	struct fw_error err = { 0 };
	fw_status status;
	int code;

	set_search(args, settings, &options.search);
	set_signals();
	status = fw_tune_run(spec, &options, &report, &err);
	if (is_terminal)
		fputs("\r\033[K", stderr);
	code = status ? fw_tune_failure(&err) : write_result(args, &page);
	fw_tune_report_release(&report);
	free(object_dir);
	return code;
}

int fw_tune_command_run(const struct fw_tune_arguments *args,
			const struct fw_tune_settings *settings, const char *source)
{
	struct fw_str cache_path = { 0 };
	struct fw_tune_spec spec = { 0 };
	struct fw_error err = { 0 };
	int code;

	if (args->cache)
		fw_str_puts(&cache_path, args->cache);
	else if (!args->no_cache)
		fw_str_printf(&cache_path, "%s.tune.jsonl", source);
	if (fw_tune_command_spec(args, settings, source, &spec, &err)) {
		code = fw_tune_failure(&err);
	} else if (args->resume && access(fw_str_text(&cache_path), R_OK)) {
		fprintf(stderr, "fullwarp tune: --resume: %s: %s\n", fw_str_text(&cache_path),
			strerror(errno));
		code = 1;
	} else {
		code = run(args, settings, &spec, args->no_cache ? NULL : fw_str_text(&cache_path));
	}
	fw_tune_spec_free(&spec);
	fw_str_release(&cache_path);
	return code;
}

int fw_tune_command_init(const struct fw_tune_arguments *args,
			 const struct fw_tune_settings *settings, const char *source)
{
	struct fw_tune_spec spec = { 0 };
	struct fw_error err = { 0 };
	struct fw_str text = { 0 };
	fw_status status = fw_tune_command_spec(args, settings, source, &spec, &err);

	if (!status)
		status = fw_tune_init_write(&spec, NULL, &text, &err);
	if (!status)
		fputs(fw_str_text(&text), stdout);
	fw_str_release(&text);
	fw_tune_spec_free(&spec);
	return status ? fw_tune_failure(&err) : 0;
}
