/* fullwarp record: runs a program, and records what it and its children do on the GPU. */
#include "base/amount.h"
#include "cli/cmd.h"
#include "cli/recording.h"

#include <stdio.h>

static const char about[] =
	"Runs a program, unchanged, and records what it and the processes below it do on the "
	"GPU, the\n"
	"GPU's counters, and what the host does meanwhile, into a folder that 'fullwarp report' "
	"reads.\n"
	"The exit status is the program's.\n";

static void note(void *user, const char *message)
{
	(void)user;
	fprintf(stderr, "fullwarp record: %s\n", message);
}

/* Where the recording is, and how much. */
static void tell(const struct fw_record_result *result, const struct fw_record_options *options)
{
	if (!result->is_recorded || !result->folder ||
	    fw_recording_is_empty("record", result, options->command[0]))
		return;
	if (result->counters_why && options->counter_source == FW_COUNTERS_AUTO)
		fprintf(stderr, "fullwarp record: GPU counters of a lesser source: %s\n",
			result->counters_why);
	fprintf(stderr, "fullwarp record: %s: %u process%s, %s", result->folder, result->processes,
		result->processes == 1 ? "" : "es", fw_amount_bytes((int64_t)result->bytes).text);
	if (result->records_lost == UINT64_MAX)
		fprintf(stderr, ", records lost");
	else if (result->records_lost)
		fprintf(stderr, ", %llu records lost", (unsigned long long)result->records_lost);
	if (result->samples_lost)
		fprintf(stderr, ", %llu samples lost", (unsigned long long)result->samples_lost);
	fprintf(stderr, "; fullwarp report reads it\n");
}

int fw_cmd_record(int argc, char **argv)
{
	struct fw_recording_arguments args = { 0 };
	struct fw_record_options options = { .note = note };
	struct fw_record_result result;
	struct fw_error err = { 0 };
	struct fw_option table[FW_RECORDING_OPTIONS];
	const struct fw_usage usage = { .command = "record",
					.operands = "[--] COMMAND [ARGUMENT...]",
					.about = about,
					.options = table,
					.count = FW_RECORDING_OPTIONS,
					.ends_at_operand = true };
	int status;

	fw_recording_options(table, &args);
	status = fw_options_parse(&usage, &argc, argv);
	if (status < 0)
		status = fw_recording_settle(&usage, &args, &options);
	if (status >= 0)
		return status;
	if (argc < 2)
		return fw_usage_error(&usage, "no program given");
	argv[argc] = NULL; /* parsing moved the operands to the front */
	options.command = argv + 1;
	if (fw_record(&options, &result, &err))
		return fw_recording_failure("record", &err);
	tell(&result, &options);
	status = result.status;
	fw_record_result_release(&result);
	return status;
}
