#ifndef FW_NN_CUDNN_STORE_H
#define FW_NN_CUDNN_STORE_H
/* Files of the engine's cache folder: written whole or not at all, told from damaged ones by a checksum last. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a of a text, continued from hash (0: from the start). For names only. */
uint64_t fw_nn_store_hash(uint64_t hash, const char *text);

/* "FOLDER/WHAT-HASH END"; false: too long. */
bool fw_nn_store_path(const char *folder, const char *what, uint64_t hash, const char *end,
		      char path[PATH_MAX]);

/*
 * The data, then "end CRC" and a line feed; an older file is replaced by rename. Makes the folder, not those above it. errno
 * says what failed.
 */
bool fw_nn_store_write(const char *path, const void *data, size_t bytes);

/* Whether that ends the data and is true. *body: bytes before it; may be NULL. */
bool fw_nn_store_is_whole(const void *data, size_t bytes, size_t *body);

#endif
