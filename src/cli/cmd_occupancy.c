/* fullwarp occupancy: the theoretical occupancy of values typed in, or of every kernel in files. */
#include "cli/cmd.h"
#include "cli/occupancy_list.h"

#include <stdio.h>
#include <string.h>

static bool print(const struct fw_occupancy_list *list)
{
	bool has_summary = list->args->has_summary;

	switch (list->args->format) {
	case FW_OCCUPANCY_JSON:
		return has_summary ? fw_occupancy_print_summary_json(list)
				   : fw_occupancy_print_json(list);
	case FW_OCCUPANCY_CSV: return fw_occupancy_print_csv(list);
	default:
		return has_summary ? fw_occupancy_print_summary(list)
				   : fw_occupancy_print_table(list);
	}
}

/* What could not be read; the exit code is 1 only if nothing else was found. */
static int tell_problems(const struct fw_binary *binary)
{
	struct fw_str line = { 0 };

	for (size_t i = 0; i < binary->problem_count; i++) {
		const struct fw_binary_problem *problem = &binary->problems[i];

		/* Members of archives and wheels have names from the file, and messages quote it. */
		fw_occupancy_put_clean(&line, problem->source, strlen(problem->source));
		fw_str_puts(&line, ": ");
		fw_occupancy_put_clean(&line, problem->message, strlen(problem->message));
		fprintf(stderr, "fullwarp occupancy: %s\n", fw_str_text(&line));
		fw_str_clear(&line);
	}
	fw_str_release(&line);
	return binary->problem_count && !binary->kernel_count;
}

static int list_files(const struct fw_occupancy_args *args)
{
	struct fw_occupancy_list list;
	struct fw_error err;
	fw_status status = fw_occupancy_list_open(&list, args, &err);
	int code = 1;

	if (status) {
		fprintf(stderr, "fullwarp occupancy: %s\n", err.message);
		code = status == FW_ERR_ARGUMENT ? 2 : 1;
	} else if (!print(&list)) {
		fprintf(stderr, "fullwarp occupancy: out of memory\n");
	} else {
		code = tell_problems(list.binary);
	}
	fw_occupancy_list_release(&list);
	return code;
}

int fw_cmd_occupancy(int argc, char **argv)
{
	struct fw_occupancy_args args;
	int status = fw_occupancy_args_parse(&args, argc, argv);

	if (status >= 0)
		return status;
	return args.file_count ? list_files(&args) : fw_occupancy_calculate(&args);
}
