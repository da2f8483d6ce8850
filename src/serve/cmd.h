#ifndef FW_SERVE_CMD_H
#define FW_SERVE_CMD_H

/* argv[0] is the command's name. Returns the exit code: 0 done, 1 failed, 2 bad usage. */
#define FW_CMD(name, summary) int fw_serve_##name(int argc, char **argv);
#include "serve/commands.def"
#undef FW_CMD

#endif
