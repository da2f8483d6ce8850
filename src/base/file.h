#ifndef FW_BASE_FILE_H
#define FW_BASE_FILE_H

#include "base/error.h"

#include <stdint.h>

/* A whole file, mapped read-only (empty: data is NULL). Immutable; unmap with fw_file_close. */
struct fw_file {
	const unsigned char *data;
	size_t size;
};

/* Maps a regular file. Directories, pipes and devices are refused with FW_ERR_UNSUPPORTED. */
fw_status fw_file_open(struct fw_file *file, const char *path, struct fw_error *err);
void fw_file_close(struct fw_file *file);

#endif
