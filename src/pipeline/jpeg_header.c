/* Walks the markers of a JPEG, the entropy-coded ones too. */
#include "pipeline/jpeg_header.h"

#include <string.h>

enum marker {
	SOF0 = 0xc0,
	DHT = 0xc4,
	RST0 = 0xd0,
	SOI = 0xd8,
	EOI = 0xd9,
	SOS = 0xda,
	DQT = 0xdb,
	DRI = 0xdd,
	APP0 = 0xe0,
	APP14 = 0xee,
	APP15 = 0xef,
	COM = 0xfe
};

struct walk {
	const uint8_t *bytes;
	size_t size, at;
	struct fw_jpeg_header *header;
	uint8_t ids[3];
	uint32_t restart_interval; /* MCUs; 0: none */
	bool has_frame, has_jfif, has_adobe;
	uint8_t adobe_transform;
};

static uint32_t word_of(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* Baseline, 8 bits; sampling factors are looked at later. */
static bool read_frame(struct walk *w, const uint8_t *body, size_t n)
{
	struct fw_jpeg_header *h = w->header;

	if (w->has_frame || n < 6 || body[0] != 8)
		return false;
	w->has_frame = true;
	h->height = word_of(body + 1);
	h->width = word_of(body + 3);
	h->n_components = body[5];
	if (!h->width || !h->height || (h->n_components != 1 && h->n_components != 3) ||
	    n != 6 + 3 * (size_t)h->n_components)
		return false;
	for (uint32_t i = 0; i < h->n_components; i++) {
		const uint8_t *component = body + 6 + 3 * i;

		w->ids[i] = component[0];
		h->h[i] = component[1] >> 4;
		h->v[i] = component[1] & 15;
		if (h->h[i] < 1 || h->h[i] > 4 || h->v[i] < 1 || h->v[i] > 4)
			return false;
	}
	return true;
}

static void read_application(struct walk *w, uint8_t marker, const uint8_t *body, size_t n)
{
	if (marker == APP0 && n >= 5 && !memcmp(body, "JFIF", 5))
		w->has_jfif = true;
	if (marker == APP14 && n >= 12 && !memcmp(body, "Adobe", 5)) {
		w->has_adobe = true;
		w->adobe_transform = body[11];
	}
}

/* One marker before the scan, with its body. */
static bool read_segment(struct walk *w, uint8_t marker, const uint8_t *body, size_t n)
{
	if (marker == SOF0)
		return read_frame(w, body, n);
	if (marker == DQT)
		return n &&
		       !(body[0] >> 4); /* 8 bits; a second table in it is the decoder's business */
	if (marker == DRI) {
		w->restart_interval = n == 2 ? word_of(body) : 0;
		return n == 2;
	}
	if (marker >= APP0 && marker <= APP15)
		read_application(w, marker, body, n);
	return marker == DHT || marker == COM || (marker >= APP0 && marker <= APP15);
}

/* The colours are YCbCr by what the file says, not by a guess that two decoders may make differently. */
static bool is_ycbcr(const struct walk *w)
{
	if (w->header->n_components == 1)
		return true;
	if (w->has_adobe)
		return w->adobe_transform == 1;
	return w->has_jfif || (w->ids[0] == 1 && w->ids[1] == 2 && w->ids[2] == 3);
}

static bool is_whole_scan(const struct walk *w, const uint8_t *body, size_t n)
{
	uint32_t components = w->header->n_components;

	if (!w->has_frame || n != 4 + 2 * (size_t)components || body[0] != components)
		return false;
	for (uint32_t i = 0; i < components; i++)
		if (body[1 + 2 * i] != w->ids[i])
			return false;
	return body[n - 3] == 0 && body[n - 2] == 63 && body[n - 1] == 0;
}

static uint64_t count_mcus(const struct fw_jpeg_header *h)
{
	uint32_t wide = 8, high = 8;

	/* A scan of one component has no padding to whole MCUs, whatever its factors. */
	for (uint32_t i = 0; h->n_components > 1 && i < h->n_components; i++) {
		wide = 8 * h->h[i] > wide ? 8 * h->h[i] : wide;
		high = 8 * h->v[i] > high ? 8 * h->v[i] : high;
	}
	return (uint64_t)((h->width + wide - 1) / wide) * ((h->height + high - 1) / high);
}

/* From the first coded byte to the end marker: stuffed bytes and the restart markers in their order, nothing else. */
static bool read_scan(struct walk *w)
{
	uint64_t left = w->restart_interval ? (count_mcus(w->header) - 1) / w->restart_interval : 0;
	uint8_t next = RST0;

	while (w->at < w->size) {
		const uint8_t *found = memchr(w->bytes + w->at, 0xff, w->size - w->at);
		uint8_t marker;

		if (!found || (size_t)(found - w->bytes) + 1 >= w->size)
			return false;
		w->at = (size_t)(found - w->bytes) + 2;
		marker = found[1];
		if (marker == EOI) {
			w->header->size = w->at;
			return !left;
		}
		if (marker == 0)
			continue;
		if (marker != next || !left--)
			return false;
		next = (uint8_t)(RST0 + (next - RST0 + 1) % 8);
	}
	return false;
}

bool fw_jpeg_header_read(const void *bytes, size_t size, struct fw_jpeg_header *header)
{
	struct walk w = { .bytes = bytes, .size = size, .at = 2, .header = header };

	*header = (struct fw_jpeg_header){ 0 };
	if (size < 4 || w.bytes[0] != 0xff || w.bytes[1] != SOI)
		return false;
	while (size - w.at >= 4) {
		const uint8_t *segment = w.bytes + w.at;
		size_t length = word_of(segment + 2);
		uint8_t marker = segment[1];

		if (segment[0] != 0xff || length < 2 || length > size - w.at - 2)
			return false;
		w.at += 2 + length;
		if (marker == SOS)
			return is_whole_scan(&w, segment + 4, length - 2) && is_ycbcr(&w) &&
			       read_scan(&w);
		if (!read_segment(&w, marker, segment + 4, length - 2))
			return false;
	}
	return false;
}
