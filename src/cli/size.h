#ifndef FW_CLI_SIZE_H
#define FW_CLI_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* "512M": a whole number over 0, in bytes or with K, M, G, T (powers of 1024). False: it is not that. */
bool fw_parse_size(const char *text, uint64_t *bytes);

#endif
