/*
 * The body of an infer request: its first two bytes are the length of the JSON, little-endian (65535: all of it), the next one
 * says whether what follows is gzip. What is read must lie in the body, and can be answered.
 */
#include "serve/infer.h"
#include "serve/json_in.h"

#include <stdlib.h>

#define IMAGES 8
#define TOP    4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const struct fw_infer *infer)
{
	static uint32_t ids[IMAGES * TOP];
	static float probabilities[IMAGES * TOP];
	static const char *names[] = { "only" };
	const struct fw_labels labels = { .names = names, .count = 1 };
	const struct fw_infer_answer made = { .model = "m",
					      .labels = &labels,
					      .stride = TOP,
					      .ids = ids,
					      .probabilities = probabilities };
	struct fw_str out = { 0 };

	if (fw_infer_write(infer, &made, &out) > out.len || out.failed)
		abort();
	fw_str_release(&out);
}

static void check(const struct fw_infer *infer, const struct fw_body *body)
{
	if (!infer->count || infer->count > IMAGES || !infer->top || infer->top > TOP ||
	    !infer->n_outputs || infer->n_outputs > FW_INFER_KINDS)
		abort();
	for (uint32_t i = 0; i < infer->count; i++) {
		const struct fw_infer_image *image = &infer->images[i];
		size_t at = (size_t)(image->bytes - body->bytes);

		if (at > body->size || image->size > body->size - at)
			abort();
	}
	answer(infer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fw_bodies bodies;
	const struct fw_infer_limits limits = { .max_images = IMAGES,
						.side = 2,
						.top = TOP,
						.has_labels = true,
						.json_bytes = 1 << 18 };
	struct fw_infer_image images[IMAGES];
	struct fw_infer infer = { .images = images };
	struct fw_body body;
	size_t json_bytes;

	if (!bodies.memory) {
		fw_json_in_init();
		if (fw_bodies_open(&bodies, 1, 1 << 16, 1 << 17, NULL))
			abort();
	}
	if (size < 3)
		return 0;
	json_bytes = data[0] | (size_t)data[1] << 8;
	fw_body_init(&body, &bodies, 0);
	if (data[2] == 'z' && fw_body_compressed(&body, NULL))
		abort();
	if (!fw_body_append(&body, data + 3, size - 3, NULL) && !fw_body_end(&body, NULL) &&
	    !fw_infer_read(&infer, &limits, &body, json_bytes == 65535 ? body.size : json_bytes,
			   NULL))
		check(&infer, &body);
	fw_body_release(&body);
	if (atomic_load(&bodies.used))
		abort();
	return 0;
}
