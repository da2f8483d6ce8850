#ifndef FW_TESTS_MADE_PICTURE_H
#define FW_TESTS_MADE_PICTURE_H
/* Pictures of every kind that the decoders give, drawn here: noise, waves and edges in planes of a cell. */
#include "pipeline/image.h"

#include <math.h>
#include <string.h>

struct made_kind {
	const char *name;
	uint32_t kind, n_planes;
	uint32_t h, v; /* luma samples for one of chroma */
};

static const struct made_kind made_kinds[] = {
	{ "4:4:4", FW_IMAGE_YCBCR, 3, 1, 1 },      { "4:2:2", FW_IMAGE_YCBCR, 3, 2, 1 },
	{ "4:2:0", FW_IMAGE_YCBCR, 3, 2, 2 },      { "4:4:0", FW_IMAGE_YCBCR, 3, 1, 2 },
	{ "4:1:1", FW_IMAGE_YCBCR, 3, 4, 1 },      { "4:1:0", FW_IMAGE_YCBCR, 3, 4, 2 },
	{ "1 of 4 x 4", FW_IMAGE_YCBCR, 3, 4, 4 }, { "1 of 1 x 4", FW_IMAGE_YCBCR, 3, 1, 4 },
	{ "grey", FW_IMAGE_GREY, 1, 1, 1 },        { "RGB", FW_IMAGE_RGB, 1, 1, 1 },
	{ "RGB planes", FW_IMAGE_RGB, 3, 1, 1 },   { "RGB planes 2 x 2", FW_IMAGE_RGB, 3, 2, 2 },
};
#define MADE_KINDS (sizeof(made_kinds) / sizeof(made_kinds[0]))

static inline uint32_t made_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* What to draw; scale: decoded eighths of the source. */
struct made_wish {
	const struct made_kind *kind;
	uint32_t source_width, source_height, scale, orientation;
};

/* Describes the picture; returns the bytes of its cell that it needs. */
static inline size_t made_describe(const struct made_wish *wish, struct fw_image *image)
{
	uint32_t width = (wish->source_width * wish->scale + 7) / 8;
	uint32_t height = (wish->source_height * wish->scale + 7) / 8;
	uint32_t is_interleaved = wish->kind->kind == FW_IMAGE_RGB && wish->kind->n_planes == 1;
	uint32_t end = 0;

	*image = (struct fw_image){
		.kind = wish->kind->kind,
		.width = width,
		.height = height,
		.source_width = wish->source_width,
		.source_height = wish->source_height,
		.scale_num = wish->scale,
		.scale_den = 8,
		.orientation = wish->orientation,
		.n_planes = wish->kind->n_planes,
	};
	for (uint32_t i = 0; i < image->n_planes; i++) {
		uint32_t h = i ? wish->kind->h : 1, v = i ? wish->kind->v : 1;
		struct fw_image_plane *plane = &image->planes[i];

		plane->width = (width + h - 1) / h;
		plane->height = (height + v - 1) / v;
		plane->stride = (plane->width * (is_interleaved ? 3 : 1) + 31) / 32 * 32;
		plane->offset = end;
		end += plane->stride * plane->height;
	}
	return end;
}

struct made_style {
	uint32_t number;
	double a, b; /* of a wave */
};

static inline uint8_t made_sample(const struct made_style *style, uint32_t x, uint32_t y,
				  uint64_t *state)
{
	switch (style->number) {
	case 0: return (uint8_t)made_random(state);
	case 1: return (uint8_t)(127.5 + 127.5 * sin(style->a * x + style->b * y));
	case 2: return (x / 3 + y / 5) % 2 ? 255 : 0;
	default: return (uint8_t)((x * 7 + y * 3) / 4);
	}
}

/* Fills the whole of its planes. */
static inline void made_draw(const struct fw_image *image, uint64_t *state, uint8_t *cell)
{
	struct made_style style = { .number = made_random(state) % 4 };

	for (uint32_t i = 0; i < image->n_planes; i++) {
		const struct fw_image_plane *plane = &image->planes[i];

		style.a = made_random(state) % 100 / 50.0;
		style.b = made_random(state) % 100 / 50.0;
		for (uint32_t y = 0; y < plane->height; y++)
			for (uint32_t x = 0; x < plane->stride; x++)
				cell[plane->offset + (size_t)y * plane->stride + x] =
					made_sample(&style, x, y, state);
	}
}

/* One field of a sound description gets a value that a broken file or program might give it. */
static inline void made_damage(struct fw_image *image, uint64_t *random)
{
	static const uint32_t values[] = { 0,        1,        2,          3,
					   4,        5,        8,          9,
					   16,       255,      4096,       65535,
					   1u << 20, 1u << 31, UINT32_MAX, UINT32_MAX - 1 };
	uint32_t *fields = (uint32_t *)image;
	uint32_t field = made_random(random) % (sizeof(*image) / sizeof(*fields));
	uint32_t how = made_random(random) % 3;

	if (how == 0)
		fields[field] = values[made_random(random) % (sizeof(values) / sizeof(values[0]))];
	else if (how == 1)
		fields[field] += made_random(random) % 3 - 1;
	else
		fields[field] = made_random(random) << 1;
	if (image->kind == FW_IMAGE_TENSOR) /* not of fw_preprocess_cpu */
		image->kind = FW_IMAGE_TENSOR + 1;
}

#endif
