/* Structures of other versions of the public header. */
#include "occupancy/versioned.h"

#include <limits.h>
#include <string.h>

fw_status fw_versioned_check(const void *object, size_t known, const char *what,
			     struct fw_error *err)
{
	const unsigned char *bytes = object;
	size_t size;

	memcpy(&size, object, sizeof(size));
	/* No version had a smaller one; a huge one is memory that was never initialised. */
	if (size < known || size > INT_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s: struct_size %zu is wrong", what, size);
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return fw_fail(
				err, FW_ERR_UNSUPPORTED,
				"%s: has members that this library (%s) does not know; update it",
				what, fw_version());
	return FW_OK;
}
