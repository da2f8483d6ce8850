#ifndef FW_IMPORT_SCAN_H
#define FW_IMPORT_SCAN_H
/*
 * The inner loops of the reader, each with a plain twin that says what it means and that is used
 * where there is no SSE2. They read up to 16 bytes past what they find, never past the padding.
 */
#include <stdbool.h>
#include <stddef.h>

/* The first byte at or after p that is a quote, a backslash or below 0x20; *high: one over 0x7f before it. */
const char *fw_scan_string(const char *p, bool *high);
const char *fw_scan_string_plain(const char *p, bool *high);

/* The first byte at or after p that is not a blank, tab, newline or carriage return. */
const char *fw_scan_space(const char *p);
const char *fw_scan_space_plain(const char *p);

#endif
