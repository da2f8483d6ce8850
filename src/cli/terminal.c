/* What standard output is shown on. */
#include "cli/terminal.h"

#include "cli/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned fw_terminal_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns;

	if (text && fw_parse_count(text, 1, UINT_MAX, &columns))
		return (unsigned)columns;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return size.ws_col;
	return 0;
}

bool fw_terminal_has_color(void)
{
	const char *forbidden = getenv("NO_COLOR"); /* no-color.org: any value but the empty one */
	const char *term = getenv("TERM");

	if (forbidden && *forbidden)
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool fw_terminal_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		const char *dot;

		if (!value || !*value)
			continue;
		dot = strchr(value, '.');
		return dot && (!strncasecmp(dot, ".utf-8", 6) || !strncasecmp(dot, ".utf8", 5));
	}
	return false;
}
