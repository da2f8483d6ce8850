#ifndef FW_PIPELINE_JPEG_HEADER_H
#define FW_PIPELINE_JPEG_HEADER_H
/* What a decoder on the GPU must know of a JPEG before it is given one. */
#include "pipeline/image.h"

struct fw_jpeg_header {
	uint32_t width, height, n_components;
	uint32_t h[3], v[3]; /* sampling factors */
	size_t size;         /* up to the end of the end marker; what follows is no part of it */
};

/*
 * Whether it is of the plainest kind and whole as far as its markers tell: baseline, 8 bits, Huffman codes, grey or YCbCr beyond
 * doubt, all components in one scan, every restart marker in its place, an end marker. False: another decoder shall look.
 */
bool fw_jpeg_header_read(const void *bytes, size_t size, struct fw_jpeg_header *header);

#endif
