#ifndef FW_IMPORT_SOURCE_H
#define FW_IMPORT_SOURCE_H
/*
 * A file as a stream of bytes, unpacked when it is packed, in a second thread; what it is is told
 * from its first bytes. To be used from one thread.
 */
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum fw_source_damage {
	FW_SOURCE_WHOLE,
	FW_SOURCE_CUT,    /* the packed stream ends early */
	FW_SOURCE_CORRUPT /* the packed stream is damaged: nothing after the damage can be unpacked */
};

struct fw_source;

/* path "-" is standard input. Formats that are known but not read give FW_ERR_UNSUPPORTED. */
fw_status fw_source_open(struct fw_source **source, const char *path, struct fw_error *err);

/* The same over bytes in memory, which must outlive the source; name stands in messages. */
fw_status fw_source_open_bytes(struct fw_source **source, const char *name, const void *bytes,
			       size_t size, struct fw_error *err);

/* Up to size unpacked bytes; *got 0 only at the end. */
fw_status fw_source_read(struct fw_source *source, void *buffer, size_t size, size_t *got,
			 struct fw_error *err);

/* Valid once the end was read. */
enum fw_source_damage fw_source_damage(const struct fw_source *source);

/* The name for messages ("standard input" for "-"); bytes taken from the file, of how many (0: unknown). */
const char *fw_source_name(const struct fw_source *source);
uint64_t fw_source_position(const struct fw_source *source);
uint64_t fw_source_size(const struct fw_source *source);

void fw_source_close(struct fw_source *source); /* NULL accepted */

#endif
