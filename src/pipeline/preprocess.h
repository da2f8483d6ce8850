#ifndef FW_PIPELINE_PREPROCESS_H
#define FW_PIPELINE_PREPROCESS_H
/*
 * torchvision's inference transform: orientation, colour, Resize(resize, antialias, bilinear), CenterCrop(crop),
 * normalisation: within 1/255 mean and 3/255 max per channel of PIL's and torchvision's result (before normalising).
 */
#include "pipeline/image.h"

struct fw_preprocess {
	uint32_t resize, crop; /* default 256, 224 */
	float mean[3], std[3]; /* default ImageNet's */
};

void fw_preprocess_init(struct fw_preprocess *preprocess);

/*
 * Whether they make sense; what a cell may hold then needs at most max_taps weights for a pixel on each axis. Both are
 * for who does the same sums elsewhere.
 */
fw_status fw_preprocess_check(const struct fw_preprocess *preprocess, size_t cell_bytes,
			      uint32_t *max_taps, struct fw_error *err);
/* A value of the network's input is level * scale + shift. */
void fw_preprocess_scale(const struct fw_preprocess *preprocess, float scale[3], float shift[3]);

struct fw_preprocess_scratch; /* sized for one preprocess and the largest picture of a cell; one thread at a time */
fw_status fw_preprocess_open(const struct fw_preprocess *preprocess, size_t cell_bytes,
			     struct fw_preprocess_scratch **scratch, struct fw_error *err);
void fw_preprocess_close(struct fw_preprocess_scratch *scratch);
/* The bytes that it has allocated. */
size_t fw_preprocess_bytes(const struct fw_preprocess_scratch *scratch);

/* out: crop x crop pixels of pixel_stride floats, channels R G B first, the rest set to 0. Allocates nothing. */
fw_status fw_preprocess_cpu(struct fw_preprocess_scratch *scratch, const uint8_t *cell,
			    const struct fw_image *image, float *out, size_t pixel_stride,
			    struct fw_error *err);

#endif
