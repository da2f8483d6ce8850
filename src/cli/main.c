/* Chooses the command, and makes a lost write of its output a failure. */
#include "cli/cmd.h"
#include "fullwarp/fullwarp.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

/* The last row closes the table, which may be empty in a build without any command. */
static const struct command commands[] = {
#define FW_CMD(name, summary) { #name, summary, fw_cmd_##name },
#include "cli/commands.def"
#undef FW_CMD
	{ NULL, NULL, NULL }
};

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: fullwarp COMMAND [OPTIONS]\n\n"
		     "My GPU is not full. Why, what do I change, and how much will that gain?\n\n");
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->summary);
	fprintf(out, "\n  fullwarp COMMAND --help says more; --version prints the version.\n");
	return status;
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE) /* the reader, e.g. head, has seen enough */
			return 1;
		fprintf(stderr, "fullwarp: cannot write the result: %s\n", strerror(errno));
		return 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, 2);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return finish(usage(stdout, 0));
	if (!strcmp(argv[1], "--version")) {
		printf("fullwarp %s\n", fw_version());
		return finish(0);
	}
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return finish(c->run(argc - 1, argv + 1));
	fprintf(stderr, "fullwarp: no command '%s'; 'fullwarp --help' lists them\n", argv[1]);
	return 2;
}
