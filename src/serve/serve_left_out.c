/* fullwarp-serve serve where its libraries were not found. */
#include "serve/cmd.h"

#include <stdio.h>

int fw_serve_serve(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("fullwarp-serve serve: left out of this build, as libjpeg, libmicrohttpd or "
	      "libjansson "
	      "was not found: install libjpeg62-turbo-dev, libspng-dev, libmicrohttpd-dev and "
	      "libjansson-dev, and build again\n",
	      stderr);
	return 1;
}
