/* zlib, one piece after another. */
#include "serve/inflate.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define ANY_HEADER (15 + 32) /* the largest window; gzip or zlib, as the first bytes say */

struct fw_inflate {
	z_stream z;
	bool has_ended;
};

fw_status fw_inflate_open(struct fw_inflate **made_stream, struct fw_error *err)
{
	struct fw_inflate *made = calloc(1, sizeof(*made));

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	if (inflateInit2(&made->z, ANY_HEADER) != Z_OK) {
		free(made);
		return fw_fail_nomem(err, 1 << 15);
	}
	*made_stream = made;
	return FW_OK;
}

void fw_inflate_close(struct fw_inflate *stream)
{
	if (!stream)
		return;
	inflateEnd(&stream->z);
	free(stream);
}

fw_status fw_inflate_feed(struct fw_inflate *stream, const void *bytes, size_t size,
			  struct fw_error *err)
{
	if (stream->has_ended && size)
		return fw_fail(err, FW_ERR_FORMAT, "bytes follow the end of the compressed body");
	if (size > UINT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT, "a piece of %zu bytes", size);
	stream->z.next_in = (z_const Bytef *)(uintptr_t)bytes;
	stream->z.avail_in = (uInt)size;
	return FW_OK;
}

fw_status fw_inflate_take(struct fw_inflate *stream, void *to, size_t cap, size_t *taken,
			  struct fw_error *err)
{
	int code;

	*taken = 0;
	if (stream->has_ended)
		return FW_OK;
	stream->z.next_out = to;
	stream->z.avail_out = (uInt)cap;
	code = inflate(&stream->z, Z_NO_FLUSH);
	*taken = cap - stream->z.avail_out;
	stream->has_ended = code == Z_STREAM_END;
	if (code == Z_MEM_ERROR)
		return fw_fail_nomem(err, 1 << 15);
	/* Z_BUF_ERROR: the piece is used up, or there is no room. */
	if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
		return fw_fail(err, FW_ERR_FORMAT, "the body is not gzip or deflate: %s",
			       stream->z.msg ? stream->z.msg : "a dictionary is asked for");
	if (stream->has_ended && stream->z.avail_in)
		return fw_inflate_feed(stream, NULL, 1, err);
	return FW_OK;
}

bool fw_inflate_is_whole(const struct fw_inflate *stream)
{
	return stream->has_ended;
}
