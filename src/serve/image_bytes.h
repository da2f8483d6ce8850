#ifndef FW_SERVE_IMAGE_BYTES_H
#define FW_SERVE_IMAGE_BYTES_H
#include "base/error.h"

/*
 * The bytes of a regular file, copied, since a mapped file that somebody cuts ends the program; freed by the caller with
 * free. FW_ERR_UNSUPPORTED: it is no regular file, or larger than most bytes.
 */
fw_status fw_image_bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size,
			      struct fw_error *err);

#endif
