#ifndef FW_CLI_CMD_H
#define FW_CLI_CMD_H

/* argv[0] is the command's name. Returns the exit code: 0 done, 1 failed or gate tripped, 2 bad usage. */
#define FW_CMD(name, summary)    int fw_cmd_##name(int argc, char **argv);
#define FW_PASSED(name, summary) int fw_cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef FW_PASSED
#undef FW_CMD

#endif
