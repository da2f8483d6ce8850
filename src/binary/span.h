#ifndef FW_BINARY_SPAN_H
#define FW_BINARY_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that someone else owns. */
struct fw_span {
	const unsigned char *data;
	size_t size;
};

/* Part of span; false if it does not lie inside it whole. */
static inline bool fw_span_part(struct fw_span span, uint64_t offset, uint64_t size,
				struct fw_span *part)
{
	if (offset > span.size || size > span.size - offset)
		return false;
	/* No bytes may have no address, to which even 0 must not be added. */
	part->data = offset ? span.data + offset : span.data;
	part->size = (size_t)size;
	return true;
}

/* Little-endian numbers at any address; the compiler makes one load of each. */
static inline uint16_t fw_le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t fw_le32(const unsigned char *p)
{
	return fw_le16(p) | (uint32_t)fw_le16(p + 2) << 16;
}

static inline uint64_t fw_le64(const unsigned char *p)
{
	return fw_le32(p) | (uint64_t)fw_le32(p + 4) << 32;
}

static inline bool fw_span_starts(struct fw_span span, const void *bytes, size_t size)
{
	return span.size >= size && memcmp(span.data, bytes, size) == 0;
}

/* Longest name read from a file, in bytes; names of heavily templated kernels reach some thousand. */
#define FW_NAME_MAX 65536

#endif
