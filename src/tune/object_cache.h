#ifndef FW_TUNE_OBJECT_CACHE_H
#define FW_TUNE_OBJECT_CACHE_H
/*
 * Compiled objects on disk, one file each, named by a hash of all that went into the compile. Written to a temporary
 * file and renamed, so that several processes may share a folder and a crash leaves no half of one.
 */
#include "gpu/nvrtc.h"

#include <stdint.h>

struct fw_tune_object_key {
	uint64_t high, low;
};

/* Of the text that describes a compile: versions, options, names, source. */
struct fw_tune_object_key fw_tune_object_key(const void *text, size_t bytes);

enum fw_tune_cached {
	FW_TUNE_CACHED,
	FW_TUNE_NOT_CACHED,
	FW_TUNE_CACHE_DAMAGED /* there, but not whole: err says which; to be written again */
};

enum fw_tune_cached fw_tune_object_load(const char *folder, struct fw_tune_object_key key,
					struct fw_nvrtc_output *output, struct fw_error *err);
fw_status fw_tune_object_store(const char *folder, struct fw_tune_object_key key,
			       const struct fw_nvrtc_output *output, struct fw_error *err);

/* Creates the folder (its parent must exist); removes the objects least lately used until at most max_bytes are left. */
fw_status fw_tune_object_folder(const char *folder, uint64_t max_bytes, struct fw_error *err);

#endif
