#ifndef FW_SERVE_INFLATE_H
#define FW_SERVE_INFLATE_H
/* A gzip or zlib stream that comes in pieces. One thread at a time. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fw_inflate;

fw_status fw_inflate_open(struct fw_inflate **inflate, struct fw_error *err);
void fw_inflate_close(struct fw_inflate *inflate);

/* The next piece, borrowed until all of it was taken. FW_ERR_FORMAT: the stream has ended before. */
fw_status fw_inflate_feed(struct fw_inflate *inflate, const void *bytes, size_t size,
			  struct fw_error *err);

/* The next bytes of the content, fewer than cap where the piece is used up. cap: not 0. */
fw_status fw_inflate_take(struct fw_inflate *inflate, void *to, size_t cap, size_t *taken,
			  struct fw_error *err);

/* Whether the stream has ended, with the right checksum. */
bool fw_inflate_is_whole(const struct fw_inflate *inflate);

#endif
