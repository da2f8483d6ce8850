#ifndef FW_SERVE_FOREIGN_TEXT_H
#define FW_SERVE_FOREIGN_TEXT_H
#include <stdio.h>

/* Text with names of files in it: lines as they are, but '?' for what would move a terminal. */
void fw_serve_print_safely(FILE *to, const char *text);

#endif
