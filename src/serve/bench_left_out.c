/* fullwarp-serve bench where the image pipeline is left out of the build. */
#include "serve/cmd.h"

#include <stdio.h>

int fw_serve_bench(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("fullwarp-serve bench: left out of this build, as libjpeg was not found: install "
	      "libjpeg62-turbo-dev and libspng-dev, and build again\n",
	      stderr);
	return 1;
}
