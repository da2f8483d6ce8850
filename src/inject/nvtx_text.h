#ifndef FW_INJECT_NVTX_TEXT_H
#define FW_INJECT_NVTX_TEXT_H
/* The texts that a program gives to NVTX -> UTF-8 of bounded length. Any thread; no lock, no allocation. */
#include "inject/nvtx_api.h"

#define FW_NVTX_TEXT_BYTES 1023u /* longer ones are cut, never inside a character */

struct fw_nvtx_message {
	enum fw_nvtx_message_type type;
	const void *text; /* by type: char, wchar_t, what fw_nvtx_intern gave; NULL: none */
};

/* The message of attributes as the program filled them in; none where they are too short to have one. */
struct fw_nvtx_message fw_nvtx_message_of(const struct fw_nvtx_attributes *attributes);

/* Copies it to `to`, at most `most` bytes, without a NUL; what is not UTF-8 becomes '?'. Returns the bytes. */
size_t fw_nvtx_copy(char *to, size_t most, struct fw_nvtx_message message);

/*
 * The same address for the same text, valid until the process ends: domains and registered strings. Of
 * texts beyond the bounds (4,096 of them, 1 MiB) only that there are more is kept. NULL for no text.
 */
const char *fw_nvtx_intern(struct fw_nvtx_message message);

#endif
