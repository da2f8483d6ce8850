#ifndef FW_TUNE_INCLUDE_HASH_H
#define FW_TUNE_INCLUDE_HASH_H
/* What a source includes of the user's own files, as one number: an object compiled before they changed is not used. */
#include "tune/spec.h"

/* The folder of the source, "." where its path has none; FW_ERR_ARGUMENT: too long. */
#define FW_TUNE_FOLDER_BYTES 1024
fw_status fw_tune_source_folder(const struct fw_tune_spec *spec, char folder[FW_TUNE_FOLDER_BYTES],
				struct fw_error *err);

/*
 * Files named by #include that lie beside the source, beside an included one, or in a -I folder of the flags, and their
 * includes. LIMIT: names that a macro gives are not seen; at most 256 files.
 */
fw_status fw_tune_include_hash(const struct fw_tune_spec *spec, uint64_t *hash,
			       struct fw_error *err);

#endif
