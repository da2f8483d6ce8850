#ifndef FW_SERVE_BENCH_IMAGES_H
#define FW_SERVE_BENCH_IMAGES_H
/* Compressed images in memory, so that a measurement reads no file. */
#include "base/error.h"
#include "base/vec.h"
#include "serve/image_names.h"

#include <stdint.h>

struct fw_bench_image {
	unsigned char *bytes; /* owned */
	size_t size;
};

/* Initialise with {.images = FW_VEC(struct fw_bench_image)}. */
struct fw_bench_images {
	struct fw_vec images;
	uint64_t bytes;      /* of all */
	size_t unreadable;   /* files that could not be read */
	struct fw_error why; /* the first of them */
	uint32_t *order;     /* of use: a shuffled list of the images, over and over; owned */
};

/*
 * Reads files until they take most bytes. A file that cannot be read is counted; one that is no image is read as it is, and
 * fails when it is decoded. FW_ERR_ARGUMENT: they take more than most bytes.
 */
fw_status fw_bench_images_read(struct fw_bench_images *images, const struct fw_image_names *names,
			       uint64_t most, struct fw_error *err);

/* A JPEG that is drawn: blobs of colour with edges and noise, about as large as a photograph's file. */
struct fw_bench_picture {
	uint32_t width, height;
	uint64_t seed;
};

/* count pictures, the same bytes for a seed wherever the same libjpeg is. */
fw_status fw_bench_images_draw(struct fw_bench_images *images,
			       const struct fw_bench_picture *picture, uint32_t count,
			       uint64_t most, struct fw_error *err);

/* Once, after all are in. */
fw_status fw_bench_images_shuffle(struct fw_bench_images *images, uint64_t seed,
				  struct fw_error *err);

/* The image whose turn it is. */
const struct fw_bench_image *fw_bench_images_at(const struct fw_bench_images *images,
						uint64_t turn);

void fw_bench_images_release(struct fw_bench_images *images);

#endif
