/* top's screen and exporter, where the build found their libraries. */
#include "cli/terminal.h"
#include "cli/top.h"
#include "top/exporter.h"
#include "top/metrics.h"
#include "top/screen.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fail(const struct fw_error *err)
{
	fprintf(stderr, "fullwarp top: %s\n", err->message);
	return err->code == FW_ERR_ARGUMENT ? 2 : 1;
}

int fw_top_live(const struct fw_top_arguments *args, struct fw_top *top)
{
	struct fw_error err = { 0 };
	int signal = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "fullwarp top: the screen needs a terminal; --once does not\n");
		return 1;
	}
	setlocale(LC_CTYPE, ""); /* for characters beyond ASCII; numbers keep their point */
	if (fw_screen_run(top, &args->view, fw_terminal_has_color(), &signal, &err))
		return fail(&err);
	return signal && signal != SIGINT;
}

static volatile sig_atomic_t is_ended;

static void end(int number)
{
	(void)number;
	is_ended = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int publish(struct fw_exporter *exporter, struct fw_top *top, const char *hostname)
{
	struct fw_error err = { 0 };
	struct fw_str text = { 0 };
	fw_status status = fw_top_update(top, fw_top_clock_ns(), &err);

	if (!status) {
		fw_top_metrics(&text, top, hostname);
		status = text.failed ? fw_fail(&err, FW_ERR_NOMEM, "out of memory")
				     : fw_exporter_publish(exporter, fw_str_text(&text),
							   !top->machine.result, top->machine.why);
	}
	fw_str_release(&text);
	return status ? fail(&err) : 0;
}

/* Sleeps until `next` on the steady clock; a signal that ends the program cuts it short. */
static void sleep_until(int64_t next)
{
	struct timespec t = { .tv_sec = (time_t)(next / 1000000000),
			      .tv_nsec = (long)(next % 1000000000) };

	while (!is_ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

int fw_top_export(const struct fw_top_arguments *args, struct fw_top *top)
{
	int64_t interval = (int64_t)(args->view.interval_s * 1e9), next = fw_top_clock_ns();
	struct fw_exporter *exporter;
	struct fw_error err = { 0 };
	char hostname[256] = "";
	int status = 0;

	catch_signals();
	if (gethostname(hostname, sizeof(hostname) - 1))
		hostname[0] = '\0';
	if (fw_exporter_open(&exporter, args->prometheus, 3 * args->view.interval_s + 5, &err))
		return fail(&err);
	fprintf(stderr, "fullwarp top: /metrics and /healthz on port %u\n",
		fw_exporter_port(exporter));
	while (!is_ended && !status) {
		status = publish(exporter, top, hostname);
		next += interval;
		if (next < fw_top_clock_ns()) /* the machine slept */
			next = fw_top_clock_ns() + interval;
		sleep_until(next);
	}
	fw_exporter_close(exporter);
	return status;
}
