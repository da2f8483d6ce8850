#ifndef FW_CLI_INPUTS_H
#define FW_CLI_INPUTS_H
/* The traces that the operands of a command name. */
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

/* Initialise with {.paths = FW_VEC(const char *)}; release with fw_inputs_release. */
struct fw_inputs {
	struct fw_arena arena;
	struct fw_vec paths; /* const char * */
};

/*
 * Adds a trace file, "-" (standard input), or every trace in a folder (*.json, *.json.gz, *.json.zst,
 * by name, not in folders below it). FW_ERR_FORMAT: the folder holds none.
 */
fw_status fw_inputs_add(struct fw_inputs *inputs, const char *operand, struct fw_error *err);
void fw_inputs_release(struct fw_inputs *inputs);

#endif
