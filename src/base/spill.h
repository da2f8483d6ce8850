#ifndef FW_BASE_SPILL_H
#define FW_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory that lies in temporary files without a name, which the kernel may write out and read back,
 * and which are gone when the process ends, however that happens. Thread-safe.
 */

/* The folder of the files: TMPDIR, else /var/tmp, which is on a disk where /tmp is not. */
const char *fw_spill_folder(void);

/* A file, or -1 with errno set. */
int fw_spill_open(void);

/*
 * Makes the file bytes long with all its blocks, so that a full disk is an error here and not a
 * signal at the first write; false with errno set.
 */
bool fw_spill_reserve(int fd, size_t bytes);

/* bytes of zeros in a file of their own, for munmap(); NULL with errno set. */
void *fw_spill_map(size_t bytes);

#endif
