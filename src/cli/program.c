/* Chooses the command, and makes a lost write of its output a failure. */
#include "cli/program.h"
#include "fullwarp/fullwarp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int usage(const struct fw_program *program, FILE *out, int status)
{
	fprintf(out, "usage: %s COMMAND [OPTIONS]\n\n%s\n\n", program->name, program->about);
	for (const struct fw_command *c = program->commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->summary);
	fprintf(out, "\n  %s COMMAND --help says more; --version prints the version.\n",
		program->name);
	return status;
}

static int finish(const struct fw_program *program, int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE) /* the reader, e.g. head, has seen enough */
			return 1;
		fprintf(stderr, "%s: cannot write the result: %s\n", program->name,
			strerror(errno));
		return 1;
	}
	return status;
}

int fw_program_run(const struct fw_program *program, int argc, char **argv)
{
	if (argc < 2)
		return usage(program, stderr, 2);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return finish(program, usage(program, stdout, 0));
	if (!strcmp(argv[1], "--version")) {
		printf("%s %s\n", program->name, fw_version());
		return finish(program, 0);
	}
	for (const struct fw_command *c = program->commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return finish(program, c->run(argc - 1, argv + 1));
	fprintf(stderr, "%s: no command '%s'; '%s --help' lists them\n", program->name, argv[1],
		program->name);
	return 2;
}
