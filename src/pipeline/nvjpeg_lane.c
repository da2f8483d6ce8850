/* Batches of JPEGs through nvJPEG, with a mark under each picture that tells whether it was written. */
#include "pipeline/nvjpeg_lane.h"

#include "gpu/nvjpeg.h"
#include "pipeline/gpu_kernels.h"
#include "pipeline/image_exif.h"
#include "pipeline/jpeg_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_ALIGNMENT 32u
/*
 * nvJPEG may report a batch as decoded and have skipped a picture of it, whose cell then holds an older one. So the first
 * bytes of each cell are marked before; a picture that really begins like that is decoded once more, by the CPU.
 */
#define MARK_BYTES 64u
#define MARK       0x5b

struct fw_nvjpeg_lane {
	const struct fw_cuda *cuda;
	struct fw_nvjpeg nvjpeg;
	void *handle, *state, *header; /* header: of the file that is asked about */
	bool is_hardware;
	char kind[96];
	uint32_t max_batch, prepared; /* the batch that the state is ready for; 0: none */
	size_t cell_bytes;
	struct fw_image_decoder *decoder;
	uint8_t *cell;  /* page-locked, the caller's: what the CPU decoded */
	uint8_t *marks; /* behind it: max_batch x MARK_BYTES */
	/* Of a batch. */
	const unsigned char **bytes;
	size_t *sizes;
	struct fw_nvjpeg_image *images;
	struct fw_nvjpeg_picture **chosen;
	struct fw_nvjpeg_lane_counts counts;
};

/* 4:4:4, 4:2:2, 4:2:0, 4:4:0: what the hardware engines decode. */
static bool is_sampling_common(const struct fw_jpeg_header *h)
{
	if (h->n_components == 1)
		return true;
	return h->h[1] == 1 && h->v[1] == 1 && h->h[2] == 1 && h->v[2] == 1 && h->h[0] <= 2 &&
	       h->v[0] <= 2;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* A plane for each component, with room for whole MCUs as decoders may write them. Returns the bytes of all. */
static uint64_t lay_out(const struct fw_jpeg_header *h, struct fw_image *image)
{
	uint32_t h_max = h->n_components == 1 ? 1 : h->h[0];
	uint32_t v_max = h->n_components == 1 ? 1 : h->v[0];
	uint64_t end = 0;

	for (uint32_t i = 0; i < h->n_components; i++) {
		struct fw_image_plane *plane = &image->planes[i];
		uint32_t across = i ? h_max : 1, down = i ? v_max : 1;
		uint32_t mcu_width = 8 * (h_max / across), mcu_height = 8 * (v_max / down);
		uint32_t rows = divide_up(h->height, 8 * v_max) * mcu_height;

		plane->width = divide_up(h->width, across);
		plane->height = divide_up(h->height, down);
		plane->stride =
			divide_up(divide_up(h->width, 8 * h_max) * mcu_width, ROW_ALIGNMENT) *
			ROW_ALIGNMENT;
		plane->offset = (uint32_t)end;
		end += (uint64_t)plane->stride * rows;
	}
	return end;
}

bool fw_nvjpeg_lane_takes(const void *bytes, size_t size, size_t cell_bytes, struct fw_image *image)
{
	struct fw_jpeg_header h;

	if (!fw_jpeg_header_read(bytes, size, &h) || !is_sampling_common(&h) ||
	    h.width < MARK_BYTES || (uint64_t)h.width * h.height > cell_bytes ||
	    h.size > cell_bytes)
		return false;
	*image = (struct fw_image){
		.kind = h.n_components == 1 ? FW_IMAGE_GREY : FW_IMAGE_YCBCR,
		.width = h.width,
		.height = h.height,
		.source_width = h.width,
		.source_height = h.height,
		.scale_num = 8,
		.scale_den = 8,
		.orientation = fw_exif_orientation_of_jpeg(bytes, h.size),
		.n_planes = h.n_components,
		.compressed_bytes = (uint32_t)h.size,
	};
	return lay_out(&h, image) <= cell_bytes;
}

static fw_status check(const struct fw_nvjpeg_lane *lane, int result, const char *call,
		       struct fw_error *err)
{
	return fw_gpu_kernels_check(lane->cuda, result, call, err);
}

/* The hardware engine, else what else this GPU can do. */
static fw_status create_handle(struct fw_nvjpeg_lane *lane, bool avoids_hardware,
			       struct fw_error *err)
{
	unsigned engines = 0, cores = 0;
	int result = -1;

	if (!avoids_hardware) {
		result = lane->nvjpeg.create_ex(FW_NVJPEG_HARDWARE, NULL, NULL, 0, &lane->handle);
		lane->is_hardware = !result;
	}
	if (result)
		result = lane->nvjpeg.create_ex(FW_NVJPEG_GPU_HYBRID, NULL, NULL, 0, &lane->handle);
	if (result) {
		lane->handle = NULL;
		fw_nvjpeg_fail(result, "nvjpegCreateEx", err);
		if (err)
			err->code = FW_ERR_UNSUPPORTED;
		return FW_ERR_UNSUPPORTED;
	}
	if (!lane->is_hardware)
		snprintf(lane->kind, sizeof(lane->kind), "nvJPEG %d.%d on the GPU's kernels",
			 lane->nvjpeg.major, lane->nvjpeg.minor);
	else if (lane->nvjpeg.get_hardware_info &&
		 !lane->nvjpeg.get_hardware_info(lane->handle, &engines, &cores))
		snprintf(lane->kind, sizeof(lane->kind),
			 "nvJPEG %d.%d on %u hardware engines of %u cores", lane->nvjpeg.major,
			 lane->nvjpeg.minor, engines, cores);
	else
		snprintf(lane->kind, sizeof(lane->kind), "nvJPEG %d.%d on the hardware engine",
			 lane->nvjpeg.major, lane->nvjpeg.minor);
	return FW_OK;
}

static fw_status create_states(struct fw_nvjpeg_lane *lane, struct fw_error *err)
{
	int result = lane->nvjpeg.state_create(lane->handle, &lane->state);

	if (result) {
		lane->state = NULL;
		return fw_nvjpeg_fail(result, "nvjpegJpegStateCreate", err);
	}
	result = lane->nvjpeg.stream_create(lane->handle, &lane->header);
	if (result) {
		lane->header = NULL;
		return fw_nvjpeg_fail(result, "nvjpegJpegStreamCreate", err);
	}
	return FW_OK;
}

static fw_status allocate(struct fw_nvjpeg_lane *lane, struct fw_error *err)
{
	uint32_t n = lane->max_batch;

	lane->bytes = calloc(n, sizeof(*lane->bytes));
	lane->sizes = calloc(n, sizeof(*lane->sizes));
	lane->images = calloc(n, sizeof(*lane->images));
	lane->chosen = calloc(n, sizeof(*lane->chosen));
	if (!lane->bytes || !lane->sizes || !lane->images || !lane->chosen)
		return fw_fail_nomem(err, n * sizeof(*lane->images));
	return FW_OK;
}

static fw_status open_all(struct fw_nvjpeg_lane *lane, const struct fw_nvjpeg_lane_options *options,
			  struct fw_error *err)
{
	const struct fw_cuda *cuda = options->cuda;
	fw_status status;

	if (!cuda->memset_async || !cuda->memcpy_device_to_host_async ||
	    !cuda->memcpy_host_to_device_async || !cuda->stream_synchronize)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "the driver lacks calls that nvJPEG needs");
	status = fw_nvjpeg_open(&lane->nvjpeg, options->library, err);
	if (!status)
		status = create_handle(lane, options->avoids_hardware, err);
	if (!status)
		status = create_states(lane, err);
	if (!status)
		status = fw_image_decoder_open(&options->limits, &lane->decoder, err);
	return status ? status : allocate(lane, err);
}

size_t fw_nvjpeg_lane_pinned_bytes(uint32_t max_batch, size_t cell_bytes)
{
	return cell_bytes + (size_t)max_batch * MARK_BYTES;
}

fw_status fw_nvjpeg_lane_open(const struct fw_nvjpeg_lane_options *options,
			      struct fw_nvjpeg_lane **lane, struct fw_error *err)
{
	struct fw_nvjpeg_lane *made;
	fw_status status;

	*lane = NULL;
	if (!options->max_batch || options->max_batch > INT32_MAX / MARK_BYTES ||
	    !options->cell_bytes || options->cell_bytes > UINT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT, "batches of %u JPEGs in cells of %zu bytes",
			       options->max_batch, options->cell_bytes);
	made = calloc(1, sizeof(*made));
	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->cuda = options->cuda;
	made->max_batch = options->max_batch;
	made->cell_bytes = options->cell_bytes;
	made->cell = options->pinned;
	made->marks = made->cell + options->cell_bytes;
	status = open_all(made, options, err);
	if (status) {
		fw_nvjpeg_lane_close(made);
		return status;
	}
	*lane = made;
	return FW_OK;
}

void fw_nvjpeg_lane_close(struct fw_nvjpeg_lane *lane)
{
	if (!lane)
		return;
	if (lane->header)
		lane->nvjpeg.stream_destroy(lane->header);
	if (lane->state)
		lane->nvjpeg.state_destroy(lane->state);
	if (lane->handle)
		lane->nvjpeg.destroy(lane->handle);
	fw_nvjpeg_close(&lane->nvjpeg);
	fw_image_decoder_close(lane->decoder);
	free(lane->bytes);
	free(lane->sizes);
	free(lane->images);
	free(lane->chosen);
	free(lane);
}

/* By libjpeg, and copied. */
static fw_status decode_here(struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_picture *picture,
			     void *stream, struct fw_error *err)
{
	const size_t size = picture->image->compressed_bytes;
	fw_status status;

	picture->status = fw_image_decode(lane->decoder, picture->bytes, size, lane->cell,
					  lane->cell_bytes, picture->image, picture->err);
	if (picture->status)
		return FW_OK;
	status = check(lane,
		       lane->cuda->memcpy_host_to_device_async(picture->cell, lane->cell,
							       lane->cell_bytes, stream),
		       "cuMemcpyHtoDAsync", err);
	return status ? status
		      : check(lane, lane->cuda->stream_synchronize(stream), "copying planes", err);
}

static bool is_supported(struct fw_nvjpeg_lane *lane, const struct fw_nvjpeg_picture *picture)
{
	int is_refused = 1;

	if (!lane->is_hardware || !lane->nvjpeg.batched_supported)
		return true;
	return !lane->nvjpeg.stream_parse_header(lane->handle, picture->bytes,
						 picture->image->compressed_bytes, lane->header) &&
	       !lane->nvjpeg.batched_supported(lane->handle, lane->header, &is_refused) &&
	       !is_refused;
}

/* Those that nvJPEG takes into `chosen`; the others are decoded here. */
static fw_status choose(struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_picture *pictures, uint32_t n,
			uint32_t *n_chosen, void *stream, struct fw_error *err)
{
	fw_status status = FW_OK;

	*n_chosen = 0;
	for (uint32_t i = 0; i < n && !status; i++) {
		struct fw_nvjpeg_picture *picture = &pictures[i];

		picture->status = FW_OK;
		if (is_supported(lane, picture)) {
			lane->chosen[(*n_chosen)++] = picture;
			continue;
		}
		lane->counts.unsupported++;
		status = decode_here(lane, picture, stream, err);
	}
	return status;
}

/* All marks are there before a decoder that does not wait for the stream may write. */
static fw_status mark(struct fw_nvjpeg_lane *lane, uint32_t n, void *stream, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < n && !status; i++)
		status = check(
			lane,
			lane->cuda->memset_async(lane->chosen[i]->cell, MARK, MARK_BYTES, stream),
			"cuMemsetD8Async", err);
	return status ? status
		      : check(lane, lane->cuda->stream_synchronize(stream), "marking cells", err);
}

static int decode_batch(struct fw_nvjpeg_lane *lane, uint32_t n, void *stream)
{
	const struct fw_nvjpeg *nvjpeg = &lane->nvjpeg;
	int result;

	for (uint32_t i = 0; i < n; i++) {
		const struct fw_nvjpeg_picture *picture = lane->chosen[i];
		struct fw_nvjpeg_image *to = &lane->images[i];

		lane->bytes[i] = picture->bytes;
		lane->sizes[i] = picture->image->compressed_bytes;
		*to = (struct fw_nvjpeg_image){ .channel = { NULL } };
		for (uint32_t c = 0; c < picture->image->n_planes; c++) {
			const struct fw_image_plane *plane = &picture->image->planes[c];

			to->channel[c] =
				(unsigned char *)(uintptr_t)(picture->cell + plane->offset);
			to->pitch[c] = plane->stride;
		}
	}
	if (lane->prepared != n) {
		lane->prepared = 0;
		result = nvjpeg->batched_initialize(lane->handle, lane->state, (int)n, 1,
						    FW_NVJPEG_OUTPUT_YUV);
		if (result)
			return result;
		lane->prepared = n;
	}
	result = nvjpeg->batched_decode(lane->handle, lane->state, lane->bytes, lane->sizes,
					lane->images, stream);
	if (result)
		lane->prepared = 0; /* a state that failed must be made ready again */
	return result;
}

/* Waits, and fetches what lies where the marks were. */
static fw_status fetch_marks(struct fw_nvjpeg_lane *lane, uint32_t n, void *stream,
			     struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < n && !status; i++)
		status = check(lane,
			       lane->cuda->memcpy_device_to_host_async(
				       lane->marks + (size_t)i * MARK_BYTES, lane->chosen[i]->cell,
				       MARK_BYTES, stream),
			       "cuMemcpyDtoHAsync", err);
	return status ? status
		      : check(lane, lane->cuda->stream_synchronize(stream), "decoding JPEGs", err);
}

static bool is_marked(const struct fw_nvjpeg_lane *lane, uint32_t i)
{
	const uint8_t *marks = lane->marks + (size_t)i * MARK_BYTES;

	for (uint32_t k = 0; k < MARK_BYTES; k++)
		if (marks[k] != MARK)
			return false;
	return true;
}

static fw_status finish(struct fw_nvjpeg_lane *lane, uint32_t n, bool is_failed, void *stream,
			struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < n && !status; i++) {
		struct fw_nvjpeg_picture *picture = lane->chosen[i];

		if (!is_failed && !is_marked(lane, i)) {
			picture->image->compressed_bytes = 0;
			lane->counts.decoded++;
			continue;
		}
		if (is_failed)
			lane->counts.failed++;
		else
			lane->counts.left_out++;
		status = decode_here(lane, picture, stream, err);
	}
	return status;
}

fw_status fw_nvjpeg_lane_decode(struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_picture *pictures,
				uint32_t n, void *stream, struct fw_error *err)
{
	bool is_failed;
	uint32_t n_chosen;
	fw_status status;

	if (n > lane->max_batch)
		return fw_fail(err, FW_ERR_ARGUMENT, "%u JPEGs in a lane for %u", n,
			       lane->max_batch);
	status = choose(lane, pictures, n, &n_chosen, stream, err);
	if (status || !n_chosen)
		return status;
	status = mark(lane, n_chosen, stream, err);
	if (status)
		return status;
	is_failed = decode_batch(lane, n_chosen, stream) != 0;
	/* Also after a failure: some pictures may still be being written. */
	status = fetch_marks(lane, n_chosen, stream, err);
	return status ? status : finish(lane, n_chosen, is_failed, stream, err);
}

void fw_nvjpeg_lane_count(const struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_lane_counts *counts)
{
	*counts = lane->counts;
}

bool fw_nvjpeg_lane_is_hardware(const struct fw_nvjpeg_lane *lane)
{
	return lane->is_hardware;
}

const char *fw_nvjpeg_lane_kind(const struct fw_nvjpeg_lane *lane)
{
	return lane->kind;
}
