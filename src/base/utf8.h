#ifndef FW_BASE_UTF8_H
#define FW_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed UTF-8 character that text starts with (1-4); 0 if it is not one. */
size_t fw_utf8_length(const char *text, size_t len);

/*
 * The same, but 0 as well for what must not reach a terminal as it is: control characters (C0, C1, DEL)
 * and the marks that turn the direction of writing around.
 */
size_t fw_utf8_printable(const char *text, size_t len);

/* Columns that len bytes take on a terminal; wide East Asian characters count two. */
size_t fw_utf8_width(const char *text, size_t len);

/* Bytes of the longest prefix of text that takes at most width columns. */
size_t fw_utf8_cut(const char *text, size_t len, size_t width);

#endif
