#ifndef FW_CLI_OPTIONS_H
#define FW_CLI_OPTIONS_H
/* Command lines: a table of options in, values and operands out; --help is made of the same table. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fw_option {
	char letter;       /* -o; 0: none */
	const char *name;  /* "output" for --output */
	const char *value; /* what the help calls the value, e.g. "FILE"; NULL: a flag */
	const char *help;
	bool *flag;        /* set by a flag */
	const char **text; /* receives the value; the last one given counts */
};

struct fw_usage {
	const char *program;  /* NULL: "fullwarp" */
	const char *command;  /* "report" */
	const char *operands; /* "TRACE..." */
	const char *about;    /* what it does, ends in a newline */
	const struct fw_option *options;
	size_t count;
	bool ends_at_operand; /* the first operand is a program: what follows is its own */
};

/*
 * Reads argv[1..]: --name VALUE, --name=VALUE, -o VALUE, -oVALUE; "--" ends the options, "-" is an
 * operand. Operands move to argv[1..] in their order and *argc counts them with argv[0]. Returns -1
 * to go on, 0 after --help was printed, 2 after a mistake was explained on stderr.
 */
int fw_options_parse(const struct fw_usage *usage, int *argc, char **argv);

/* Explains a mistake in the usage on stderr; returns 2. */
int fw_usage_error(const struct fw_usage *usage, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole number from least to most, decimal; false: it is not one. */
bool fw_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *value);

#endif
