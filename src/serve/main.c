/* fullwarp-serve: what fullwarp does with models. */
#include "cli/program.h"
#include "serve/cmd.h"

#include <stddef.h>

static const struct fw_command commands[] = {
#define FW_CMD(name, summary) { #name, summary, fw_serve_##name },
#include "serve/commands.def"
#undef FW_CMD
	{ NULL, NULL, NULL }
};

int main(int argc, char **argv)
{
	static const struct fw_program program = {
		.name = "fullwarp-serve",
		.about = "Plans and runs image classifiers in ONNX files, classifies images.",
		.commands = commands,
	};

	return fw_program_run(&program, argc, argv);
}
