/* Pictures of our own. */
#include "pipeline/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A picture is this much larger than what it is resized to, where its cell holds it. */
#define ZOOM 1.25

/* Waves that no two samples and planes share, and some noise: what a network sees in photographs. */
static uint8_t level(uint32_t x, uint32_t y, uint32_t number)
{
	uint32_t noise = (x * 73856093u ^ y * 19349663u ^ number * 83492791u) * 2654435761u;
	double wave = sin(x * 0.031 * (1 + number % 3) + number) * cos(y * 0.023 + number * 0.7);

	return (uint8_t)(128 + 90 * wave + (double)(noise >> 28));
}

static void fill_plane(uint8_t *cell, const struct fw_image_plane *plane, uint32_t row_bytes,
		       uint32_t number)
{
	for (uint32_t y = 0; y < plane->height; y++)
		for (uint32_t x = 0; x < row_bytes; x++)
			cell[plane->offset + y * plane->stride + x] = level(x, y, number);
}

/* Height of a picture half as wide again, of 3 bytes a pixel, that a cell holds. */
static uint32_t height_of(const struct fw_classifier *c)
{
	double wanted = c->preprocess.resize * ZOOM, possible = sqrt(c->cell_bytes / 4.5) - 1;

	return possible < 1 ? 1 : (uint32_t)(wanted < possible ? wanted : possible);
}

static void make(struct fw_image *image, uint8_t *cell, uint32_t number, uint32_t height)
{
	static const uint32_t kinds[FW_SAMPLES] = { FW_IMAGE_YCBCR, FW_IMAGE_RGB, FW_IMAGE_GREY };
	uint32_t width = height * 3 / 2, kind = kinds[number];
	uint32_t offset = 0;

	*image = (struct fw_image){ .kind = kind,
				    .width = width,
				    .height = height,
				    .source_width = width,
				    .source_height = height,
				    .scale_num = 1,
				    .scale_den = 1,
				    .orientation = kind == FW_IMAGE_YCBCR ? 6 : 1,
				    .n_planes = kind == FW_IMAGE_YCBCR ? 3 : 1 };
	for (uint32_t i = 0; i < image->n_planes; i++) {
		struct fw_image_plane *plane = &image->planes[i];

		plane->width = i ? (width + 1) / 2 : width;
		plane->height = i ? (height + 1) / 2 : height;
		plane->stride = plane->width * (kind == FW_IMAGE_RGB ? 3 : 1);
		plane->offset = offset;
		fill_plane(cell, plane, plane->stride, number * 3 + i);
		offset += plane->stride * plane->height;
	}
}

size_t fw_samples_bytes(const struct fw_classifier *c)
{
	uint32_t height = height_of(c);

	return FW_SAMPLES * (size_t)height * (height * 3 / 2) * 3;
}

void fw_samples_make(const struct fw_classifier *c, uint8_t *cells, struct fw_samples *samples)
{
	*samples = (struct fw_samples){
		.cells = cells,
		.cell_bytes = fw_samples_bytes(c) / FW_SAMPLES,
	};
	for (uint32_t i = 0; i < FW_SAMPLES; i++)
		make(&samples->images[i], cells + i * samples->cell_bytes, i, height_of(c));
}

/* What the comparison runs on. */
struct reference {
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instance;
	struct fw_preprocess_scratch *scratch;
};

static fw_status open_reference(const struct fw_classifier *c, struct reference *r,
				struct fw_error *err)
{
	static const int64_t one = 1;
	const struct fw_nn_engine_options engine = { .name = "onednn" };
	const struct fw_nn_network_options network = {
		.precision = FW_NN_FP32,
		.n_batches = 1,
		.batches = &one,
		.fuse = true,
	};
	fw_status status = fw_nn_engine_open(&engine, &r->engine, err);

	if (!status)
		status = fw_nn_network_load(r->engine, &c->graph, &network, &r->network, err);
	if (!status)
		status = fw_nn_instance_open(r->network, &r->instance, err);
	if (!status)
		status = fw_preprocess_open(&c->preprocess, c->cell_bytes, &r->scratch, err);
	return status;
}

static void close_reference(struct reference *r)
{
	fw_preprocess_close(r->scratch);
	fw_nn_instance_close(r->instance);
	fw_nn_network_free(r->network);
	fw_nn_engine_close(r->engine);
}

static fw_status score(const struct reference *r, const struct fw_samples *samples, uint32_t number,
		       float *scores, struct fw_error *err)
{
	struct fw_nn_io input;
	fw_status status = fw_nn_instance_io(r->instance, 1, &input, &(struct fw_nn_io){ 0 }, err);

	if (!status)
		status = fw_preprocess_cpu(
			r->scratch, samples->cells + number * samples->cell_bytes,
			&samples->images[number], input.data, (size_t)input.pixel_stride, err);
	if (!status)
		status = fw_nn_instance_launch(r->instance, 1, NULL, err);
	if (!status)
		status = fw_nn_instance_wait(r->instance, err);
	return status ? status : fw_nn_instance_read(r->instance, 1, scores, err);
}

fw_status fw_samples_score(const struct fw_classifier *c, struct fw_samples *samples,
			   struct fw_error *err)
{
	struct reference r = { .engine = NULL };
	struct fw_error why = { .code = FW_OK };
	fw_status status = open_reference(c, &r, &why);

	if (status == FW_ERR_UNSUPPORTED) {
		fw_classifier_say(c,
				  "the GPU's answers are compared with each other only, not with "
				  "the CPU's: %s",
				  why.message);
		close_reference(&r);
		return FW_OK;
	}
	if (!status) {
		samples->scores = calloc((size_t)FW_SAMPLES * c->classes, sizeof(float));
		if (!samples->scores)
			status = fw_fail_nomem(&why, FW_SAMPLES * c->classes * sizeof(float));
	}
	for (uint32_t i = 0; i < FW_SAMPLES && !status; i++)
		status = score(&r, samples, i, samples->scores + (size_t)i * c->classes, &why);
	close_reference(&r);
	if (status && err)
		*err = why;
	return status;
}

void fw_samples_release(struct fw_samples *samples)
{
	free(samples->scores);
	samples->scores = NULL;
}

void fw_samples_batch(const struct fw_samples *samples, uint32_t n, struct fw_flow_batch *batch)
{
	batch->n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct fw_flow_item *item = &batch->items[i];

		item->cell = samples->cells + i % FW_SAMPLES * samples->cell_bytes;
		item->image = &samples->images[i % FW_SAMPLES];
		item->status = FW_OK;
	}
}
