/* fullwarp occupancy: the theoretical occupancy of values typed in. */
#include "cli/cmd.h"
#include "cli/occupancy.h"

#include <stdio.h>

int fw_cmd_occupancy(int argc, char **argv)
{
	struct occupancy_args args;
	int status = occupancy_args_parse(&args, argc, argv);

	if (status >= 0)
		return status;
	if (args.file_count) {
		fprintf(stderr, "fullwarp occupancy: this build reads no files\n");
		return 1;
	}
	return occupancy_calculate(&args);
}
