#ifndef FW_SERVE_BASE64_H
#define FW_SERVE_BASE64_H
#include <stdbool.h>
#include <stddef.h>

/*
 * RFC 4648's base64, with or without its padding, to bytes; to may be text's own memory. At most 3 bytes for every 4 begun
 * characters. False: another character, or a length that no bytes have.
 */
bool fw_base64_decode(const char *text, size_t len, unsigned char *to, size_t *size);

#endif
