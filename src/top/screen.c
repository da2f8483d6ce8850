#include "top/screen.h"

/* Its header would declare erase(), move() and the like as macros. */
#define NCURSES_NOMACROS
#include <ncurses.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct screen {
	struct fw_top *top;
	struct fw_view view;
	struct fw_view_options options;
	bool has_color;
};

static volatile sig_atomic_t end_signal;

static void note_signal(int number)
{
	end_signal = number;
}

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define END_SIGNALS (sizeof(end_signals) / sizeof(end_signals[0]))

static void catch_signals(struct sigaction old[END_SIGNALS])
{
	struct sigaction action = { .sa_handler =
					    note_signal }; /* no restart: waking up is the point */

	end_signal = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < END_SIGNALS; i++)
		sigaction(end_signals[i], &action, &old[i]);
}

static void release_signals(const struct sigaction old[END_SIGNALS])
{
	for (size_t i = 0; i < END_SIGNALS; i++)
		sigaction(end_signals[i], &old[i], NULL);
}

static int64_t steady_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static attr_t attributes(const struct screen *screen, enum fw_view_style style)
{
	attr_t color = 0;

	if (screen->has_color && style == FW_VIEW_GOOD)
		color = (attr_t)COLOR_PAIR(1);
	if (screen->has_color && style == FW_VIEW_BAD)
		color = (attr_t)COLOR_PAIR(2);
	switch (style) {
	case FW_VIEW_TITLE:
	case FW_VIEW_BAD: return A_BOLD | color;
	case FW_VIEW_DIM: return A_DIM;
	case FW_VIEW_SELECTED: return A_REVERSE;
	default: return color;
	}
}

/* ncurses sends only what differs from the screen, in one piece: no flicker. */
static void draw(struct screen *screen)
{
	const struct fw_view_line *lines;

	screen->options.columns = (unsigned)COLS;
	screen->options.rows = (unsigned)LINES;
	fw_view_render(&screen->view, screen->top, &screen->options);
	lines = screen->view.lines.data;
	werase(stdscr);
	for (size_t i = 0; i < screen->view.lines.len && !screen->view.failed; i++) {
		size_t row = i;

		if (i + 1 == screen->view.lines.len) /* the keys: at the bottom */
			row = screen->options.rows - 1;
		wattrset(stdscr, (int)attributes(screen, lines[i].style));
		mvwaddnstr(stdscr, (int)row, 0, screen->view.text.data + lines[i].offset,
			   (int)lines[i].len);
	}
	wattrset(stdscr, A_NORMAL);
	wrefresh(stdscr);
}

/* Moves the selection by `step` in the order shown; with none, the first one is taken. */
static void select_process(struct screen *screen, int step)
{
	const struct fw_top_process *processes = screen->top->processes.data;
	unsigned order[FW_SAMPLE_PROCESSES], count, at = 0;
	bool is_found = false;

	count = fw_view_order(screen->top, screen->options.sort, order);
	if (!count)
		return;
	for (unsigned i = 0; i < count && !is_found; i++) {
		const struct fw_top_process *p = &processes[order[i]];

		is_found = p->pid == screen->options.selected_pid &&
			   p->gpu == screen->options.selected_gpu;
		at = i;
	}
	if (!is_found)
		at = 0;
	else if (step > 0 && at + 1 < count)
		at++;
	else if (step < 0 && at)
		at--;
	screen->options.selected_pid = processes[order[at]].pid;
	screen->options.selected_gpu = processes[order[at]].gpu;
}

/* False: the user wants to leave. */
static bool take_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
	case 'Q': return false;
	case 's': screen->options.sort = (screen->options.sort + 1) % FW_SORT_COUNT; break;
	case KEY_DOWN:
	case 'j': select_process(screen, 1); break;
	case KEY_UP:
	case 'k': select_process(screen, -1); break;
	case 27: /* escape */ screen->options.selected_pid = 0; break;
	default: break;
	}
	return true;
}

static fw_status loop(struct screen *screen, struct fw_error *err)
{
	int64_t interval = (int64_t)(screen->options.interval_s * 1e9), next = steady_ns();

	while (!end_signal) {
		int64_t now = steady_ns();
		int key;

		if (now >= next) {
			fw_status status = fw_top_update(screen->top, now, err);

			if (status)
				return status;
			next += interval;
			if (next <= now) /* the machine slept, or a reading took too long */
				next = now + interval;
		}
		draw(screen);
		now = steady_ns();
		wtimeout(stdscr, next > now ? (int)((next - now) / 1000000) + 1 : 0);
		key = wgetch(stdscr);
		if (key != ERR && !take_key(screen, key))
			return FW_OK;
		if (key == ERR && !end_signal && !isatty(STDIN_FILENO))
			return FW_OK; /* the terminal is gone */
	}
	return FW_OK;
}

static void set_up(struct screen *screen)
{
	cbreak();
	noecho();
	keypad(stdscr, true);
	set_escdelay(25);
	curs_set(0);
	if (!screen->has_color || !has_colors() || start_color() != OK) {
		screen->has_color = false;
		return;
	}
	use_default_colors();
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_RED, -1);
}

fw_status fw_screen_run(struct fw_top *top, const struct fw_view_options *options, bool has_color,
			int *signal, struct fw_error *err)
{
	struct screen screen = { .top = top,
				 .view = { .lines = FW_VEC(struct fw_view_line) },
				 .options = *options,
				 .has_color = has_color };
	struct sigaction old[END_SIGNALS];
	SCREEN *terminal;
	fw_status status;

	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "this terminal (TERM) is not known here; --once needs none");
	catch_signals(old);
	screen.options.is_live = true;
	set_up(&screen);
	status = loop(&screen, err);
	endwin();
	delscreen(terminal);
	release_signals(old);
	fw_view_release(&screen.view);
	*signal = end_signal;
	return status;
}
