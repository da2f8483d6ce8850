#ifndef FW_IMPORT_AHEAD_H
#define FW_IMPORT_AHEAD_H
/*
 * A second thread that unpacks ahead of the reader, by at most FW_AHEAD_BLOCKS blocks. The reader's
 * side is for one thread; what the fill function touches belongs to the second thread until
 * fw_ahead_stop(), but for what it wrote before it gave *got = 0, which the reader may look at once
 * it has read the end.
 */
#include "base/error.h"

#define FW_AHEAD_BLOCKS 8
#define FW_AHEAD_BYTES  (256u << 10)

/* Up to size bytes; *got 0 only at the end. */
typedef fw_status (*fw_ahead_fill)(void *user, void *buffer, size_t size, size_t *got,
				   struct fw_error *err);

struct fw_ahead;

fw_status fw_ahead_start(struct fw_ahead **ahead, fw_ahead_fill fill, void *user,
			 struct fw_error *err);

/* As the fill function; an error of it comes after all that it gave before. */
fw_status fw_ahead_read(struct fw_ahead *ahead, void *buffer, size_t size, size_t *got,
			struct fw_error *err);

/* Ends the thread, also in the middle. NULL accepted. */
void fw_ahead_stop(struct fw_ahead *ahead);

#endif
