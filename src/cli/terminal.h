#ifndef FW_CLI_TERMINAL_H
#define FW_CLI_TERMINAL_H
/* What standard output is shown on. */
#include <stdbool.h>

/* Columns: COLUMNS, else the terminal's, else 0 (unknown). */
unsigned fw_terminal_columns(void);

/* Standard output is a terminal that shows colours, and NO_COLOR does not forbid them. */
bool fw_terminal_has_color(void);

/* The locale (LC_ALL, LC_CTYPE, LANG) says UTF-8. */
bool fw_terminal_is_utf8(void);

#endif
