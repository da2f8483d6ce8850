/* Command lines: a table of options in, values and operands out. */
#include "cli/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Columns before the explanations of the help. */
#define HELP_INDENT 26

static const char *program_of(const struct fw_usage *usage)
{
	return usage->program ? usage->program : "fullwarp";
}

int fw_usage_error(const struct fw_usage *usage, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s %s: ", program_of(usage), usage->command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "; '%s %s --help' says more\n", program_of(usage), usage->command);
	return 2;
}

static void print_option(const struct fw_option *option)
{
	int used = option->letter ? printf("  -%c, ", option->letter) : printf("      ");

	used += printf("--%s%s%s", option->name, option->value ? " " : "",
		       option->value ? option->value : "");
	printf("%*s%s\n", used < HELP_INDENT ? HELP_INDENT - used : 1, "", option->help);
}

static void print_help(const struct fw_usage *usage)
{
	static const struct fw_option help = { .letter = 'h',
					       .name = "help",
					       .help = "print this" };

	printf("usage: %s %s [OPTIONS]%s%s\n\n%s\n", program_of(usage), usage->command,
	       *usage->operands ? " " : "", usage->operands, usage->about);
	for (size_t i = 0; i < usage->count; i++)
		print_option(&usage->options[i]);
	print_option(&help);
}

/* The option that `name` (len bytes, without dashes) means; NULL: none. */
static const struct fw_option *find_name(const struct fw_usage *usage, const char *name, size_t len)
{
	for (size_t i = 0; i < usage->count; i++)
		if (strlen(usage->options[i].name) == len &&
		    !memcmp(usage->options[i].name, name, len))
			return &usage->options[i];
	return NULL;
}

static const struct fw_option *find_letter(const struct fw_usage *usage, char letter)
{
	for (size_t i = 0; i < usage->count; i++)
		if (usage->options[i].letter == letter)
			return &usage->options[i];
	return NULL;
}

/*
 * Reads the option at argv[*at], and moves *at to its value where that is an argument of its own.
 * -1: go on, 2: a mistake, explained.
 */
static int take_option(const struct fw_usage *usage, int argc, char **argv, int *at)
{
	const char *arg = argv[*at];
	bool is_long = arg[1] == '-';
	const char *equals = is_long ? strchr(arg, '=') : NULL;
	const struct fw_option *option;
	const char *attached; /* the value, where it is part of this argument */

	if (is_long) {
		size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

		option = find_name(usage, arg + 2, len - 2);
		attached = equals ? equals + 1 : NULL;
	} else {
		option = find_letter(usage, arg[1]);
		attached = arg[2] ? arg + 2 : NULL;
	}
	if (!option)
		return fw_usage_error(usage, "there is no option '%s'", arg);
	if (!option->value) {
		if (attached)
			return fw_usage_error(usage, "--%s takes no value", option->name);
		*option->flag = true;
		return -1;
	}
	if (!attached && *at + 1 >= argc)
		return fw_usage_error(usage, "--%s needs a value: %s", option->name, option->value);
	*option->text = attached ? attached : argv[++*at];
	return -1;
}

int fw_options_parse(const struct fw_usage *usage, int *argc, char **argv)
{
	bool only_operands = false;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		const char *arg = argv[i];
		int status;

		if (only_operands || arg[0] != '-' || !arg[1]) {
			argv[kept++] = argv[i];
			only_operands = only_operands || usage->ends_at_operand;
			continue;
		}
		if (!strcmp(arg, "--")) {
			only_operands = true;
			continue;
		}
		if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
			print_help(usage);
			return 0;
		}
		status = take_option(usage, *argc, argv, &i);
		if (status >= 0)
			return status;
	}
	*argc = kept;
	return -1;
}

bool fw_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	uint64_t n = 0;

	if (!*text)
		return false;
	for (const char *p = text; *p; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (n < least || n > most)
		return false;
	*value = n;
	return true;
}
