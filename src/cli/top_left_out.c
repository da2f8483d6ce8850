/* A build without the libraries of top's screen and exporter: says so. */
#include "cli/top.h"

#include <stdio.h>

static int left_out(const char *what)
{
	fprintf(stderr,
		"fullwarp top: this build has no %s: ncursesw and libmicrohttpd were not found "
		"when "
		"it was built\n(Debian: apt-get install libncurses-dev libmicrohttpd-dev, then "
		"build "
		"again); --once works\n",
		what);
	return 1;
}

int fw_top_live(const struct fw_top_arguments *args, struct fw_top *top)
{
	(void)args;
	(void)top;
	return left_out("live screen");
}

int fw_top_export(const struct fw_top_arguments *args, struct fw_top *top)
{
	(void)args;
	(void)top;
	return left_out("exporter");
}
