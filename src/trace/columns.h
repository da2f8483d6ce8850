#ifndef FW_TRACE_COLUMNS_H
#define FW_TRACE_COLUMNS_H
/*
 * Where columns live: ordinary memory up to a limit, then temporary files without a name, which the
 * kernel may write out and read back. One thread.
 */
#include "base/vec.h"

#include <stdint.h>

struct fw_columns {
	uint64_t limit;        /* bytes of ordinary memory; 0: no limit */
	uint64_t used;         /* bytes of ordinary memory taken, room to grow included */
	struct fw_vec spilled; /* struct fw_spilled: those that lie in files */
	int error;             /* errno of the last failure; 0: none */
};

#define FW_COLUMNS                                                                                 \
	{                                                                                          \
		.spilled = FW_VEC(struct fw_spilled)                                               \
	}

struct fw_spilled {
	void *data;
	size_t bytes;
	int fd;
};

/*
 * A column of old_bytes (data NULL: none yet) made new_bytes long; what is added is undefined. NULL,
 * with the column as it was, when memory or the disk is full: see error.
 */
void *fw_columns_resize(struct fw_columns *columns, void *data, size_t old_bytes, size_t new_bytes);

void fw_columns_free(struct fw_columns *columns, void *data, size_t bytes);

#endif
