#ifndef FW_OCCUPANCY_VERSIONED_H
#define FW_OCCUPANCY_VERSIONED_H

#include "base/error.h"

/*
 * A public structure starts with the size that its caller was compiled with. The structure at object
 * may be larger than what this library knows (known bytes), but then only with zeros in the rest:
 * otherwise a newer caller asks for something that cannot be honoured. what names it in messages.
 */
fw_status fw_versioned_check(const void *object, size_t known, const char *what,
			     struct fw_error *err);

#endif
