#ifndef FW_TRACE_RECORDING_PACK_H
#define FW_TRACE_RECORDING_PACK_H
/* Making a file of a recording smaller, once its writer has ended. */
#include "base/error.h"

#include <stdint.h>

struct fw_recording_packed {
	uint64_t before, after; /* bytes of the file; equal where nothing was to be gained */
};

/*
 * Rewrites a file with its chunks merged and compressed (zstd) beside it, "<path>.packing", which then
 * takes its place. On any failure, and where the file is damaged or would not become smaller, the
 * original stays as it was and nothing is left beside it. The file must not be written meanwhile. A
 * last chunk that is cut, as a killed program leaves it, is dropped. packed may be NULL. Any thread.
 */
fw_status fw_recording_pack(const char *path, struct fw_recording_packed *packed,
			    struct fw_error *err);

#endif
