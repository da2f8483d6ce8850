/* fullwarp: its commands. */
#include "cli/cmd.h"
#include "cli/program.h"

#include <stddef.h>

/* The last row closes the table, which may be empty in a build without any command. */
static const struct fw_command commands[] = {
#define FW_CMD(name, summary)    { #name, summary, fw_cmd_##name },
#define FW_PASSED(name, summary) { #name, summary, fw_cmd_##name },
#include "cli/commands.def"
#undef FW_PASSED
#undef FW_CMD
	{ NULL, NULL, NULL }
};

int main(int argc, char **argv)
{
	static const struct fw_program program = {
		.name = "fullwarp",
		.about = "My GPU is not full. Why, what do I change, and how much will that gain?",
		.commands = commands,
	};

	return fw_program_run(&program, argc, argv);
}
