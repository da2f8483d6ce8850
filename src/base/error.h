#ifndef FW_BASE_ERROR_H
#define FW_BASE_ERROR_H

#include "fullwarp/fullwarp.h"

/*
 * Fills err (if not NULL) and returns code, so that callers write `return fw_fail(err, ...)`.
 * The message names what failed, where, and the value. A message too long is cut and ends in "...".
 */
fw_status fw_fail(struct fw_error *err, fw_status code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The usual message for a failed allocation of bytes. */
fw_status fw_fail_nomem(struct fw_error *err, size_t bytes);

/* Puts "prefix: " before the message that err holds already. */
void fw_error_prefix(struct fw_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
