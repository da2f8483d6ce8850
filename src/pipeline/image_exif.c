/* Finds the orientation in the EXIF data of a JPEG or PNG: a walk over segments, then over one TIFF directory. */
#include "pipeline/image_exif.h"

#include <stdbool.h>
#include <string.h>

enum {
	TAG_ORIENTATION = 0x0112,
	TYPE_SHORT = 3,
	DIRECTORY_ENTRY_BYTES = 12,
	MARKER_SOI = 0xd8,
	MARKER_EOI = 0xd9,
	MARKER_SOS = 0xda,
	MARKER_APP1 = 0xe1,
	MARKER_TEM = 0x01,
	MARKER_RST0 = 0xd0,
};

struct tiff {
	const uint8_t *bytes;
	size_t size;
	bool is_big_endian;
};

/* Both return 0 past the end: no tag, no entries, no orientation have that value. */
static uint32_t read_u16(const struct tiff *tiff, size_t at)
{
	if (at > tiff->size || tiff->size - at < 2)
		return 0;
	const uint8_t *b = tiff->bytes + at;
	return tiff->is_big_endian ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

static uint32_t read_u32(const struct tiff *tiff, size_t at)
{
	if (at > tiff->size || tiff->size - at < 4)
		return 0;
	uint32_t first = read_u16(tiff, at), second = read_u16(tiff, at + 2);
	return tiff->is_big_endian ? first << 16 | second : second << 16 | first;
}

uint32_t fw_exif_orientation(const uint8_t *bytes, size_t size)
{
	struct tiff tiff = { .bytes = bytes, .size = size };

	if (size < 8)
		return 1;
	tiff.is_big_endian = bytes[0] == 'M';
	if (memcmp(bytes, "II*\0", 4) && memcmp(bytes, "MM\0*", 4))
		return 1;
	uint64_t at = read_u32(&tiff, 4);
	if (at >= size)
		return 1;
	uint32_t entries = read_u16(&tiff, (size_t)at); /* at most 65535 */
	at += 2;
	for (uint32_t i = 0; i < entries; i++, at += DIRECTORY_ENTRY_BYTES) {
		if (at > size || size - at < DIRECTORY_ENTRY_BYTES)
			return 1;
		if (read_u16(&tiff, (size_t)at) != TAG_ORIENTATION)
			continue;
		uint32_t value = read_u16(&tiff, (size_t)at + 8);
		bool is_sound =
			read_u16(&tiff, (size_t)at + 2) == TYPE_SHORT && value >= 1 && value <= 8;
		return is_sound ? value : 1;
	}
	return 1;
}

uint32_t fw_exif_orientation_of_jpeg(const uint8_t *bytes, size_t size)
{
	static const uint8_t exif[6] = { 'E', 'x', 'i', 'f', 0, 0 };
	size_t at = 0;

	while (size - at >= 2) {
		uint8_t marker = bytes[at + 1];
		if (bytes[at] != 0xff)
			return 1;
		if (marker == 0xff) { /* a fill byte */
			at++;
			continue;
		}
		at += 2;
		if (marker == MARKER_TEM || (marker >= MARKER_RST0 && marker <= MARKER_SOI))
			continue;
		if (marker == MARKER_SOS || marker == MARKER_EOI || size - at < 2)
			return 1;
		size_t length = (size_t)bytes[at] << 8 | bytes[at + 1];
		if (length < 2 || length > size - at)
			return 1;
		if (marker == MARKER_APP1 && length >= 2 + sizeof(exif) &&
		    !memcmp(bytes + at + 2, exif, sizeof(exif)))
			return fw_exif_orientation(bytes + at + 2 + sizeof(exif),
						   length - 2 - sizeof(exif));
		at += length;
	}
	return 1;
}
