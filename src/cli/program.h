#ifndef FW_CLI_PROGRAM_H
#define FW_CLI_PROGRAM_H
/* What the programs of the house share: a table of commands, --help, --version, and a result that is not lost. */

struct fw_command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

struct fw_program {
	const char *name, *about;
	const struct fw_command *commands; /* ends with a name of NULL */
};

/* Chooses the command, and makes a lost write of its output a failure. The exit code. */
int fw_program_run(const struct fw_program *program, int argc, char **argv);

#endif
