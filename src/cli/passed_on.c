/* Commands that fullwarp-serve has: it takes this program's place. */
#include "cli/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "fullwarp-serve"

/* The one that was installed with this program goes before others. */
static void try_beside(char **argv)
{
	char path[PATH_MAX + sizeof(PROGRAM)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (len <= 0)
		return;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
	execv(path, argv);
}

static int pass_on(int argc, char **argv)
{
	char **passed = calloc((size_t)argc + 2, sizeof(*passed));

	if (!passed) {
		fprintf(stderr, "fullwarp %s: out of memory\n", argv[0]);
		return 1;
	}
	passed[0] = (char *)(uintptr_t)PROGRAM;
	memcpy(passed + 1, argv, (size_t)argc * sizeof(*argv));
	try_beside(passed);
	execvp(PROGRAM, passed);
	if (errno == ENOENT)
		fprintf(stderr,
			"fullwarp %s: " PROGRAM
			" is not installed: it is neither beside this program "
			"nor in PATH.\nIt is built with fullwarp where its libraries are found; "
			"'scripts/packages.sh test' in the source installs them.\n",
			argv[0]);
	else
		fprintf(stderr, "fullwarp %s: cannot run " PROGRAM ": %s\n", argv[0],
			strerror(errno));
	free(passed);
	return 1;
}

#define FW_CMD(name, summary)
#define FW_PASSED(name, summary)                                                                   \
	int fw_cmd_##name(int argc, char **argv)                                                   \
	{                                                                                          \
		return pass_on(argc, argv);                                                        \
	}
#include "cli/commands.def"
#undef FW_PASSED
#undef FW_CMD
