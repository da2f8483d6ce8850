#ifndef FW_CLI_RECORDING_H
#define FW_CLI_RECORDING_H
/* What the commands that record have in common: record and run. */
#include "cli/options.h"
#include "record/record.h"

struct fw_recording_arguments {
	const char *folder, *delay, *duration, *every, *every_for, *signal, *range;
	const char *kernels, *max_size, *graphs, *interval, *counters;
	bool syncs, python_calls, no_python, no_counters, no_host;
};

#define FW_RECORDING_OPTIONS 17

/* Fills the first FW_RECORDING_OPTIONS rows of a table of options. */
void fw_recording_options(struct fw_option *table, struct fw_recording_arguments *args);

/* Checks the values and fills options; -1: go on, 2: a mistake, explained. */
int fw_recording_settle(const struct fw_usage *usage, const struct fw_recording_arguments *args,
			struct fw_record_options *options);

/* The exit code for a recording that failed before the program ran, explained. */
int fw_recording_failure(const char *command, const struct fw_error *err);

/* Says on stderr why nothing of the GPU was recorded, as far as it can be told; false: something was. */
bool fw_recording_is_empty(const char *command, const struct fw_record_result *result,
			   const char *program);

#endif
