/* Images into memory, and the order in which they are used. */
#include "serve/bench_images.h"

#include "serve/image_bytes.h"
#include "serve/random.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_FILE_BYTES ((size_t)128 << 20)

static fw_status read_one(struct fw_bench_images *images, const char *name, uint64_t most,
			  struct fw_error *err)
{
	struct fw_bench_image read, *image;
	struct fw_error why;

	if (fw_image_bytes_read(name, MAX_FILE_BYTES, &read.bytes, &read.size, &why)) {
		if (!images->unreadable++) {
			images->why = why;
			fw_error_prefix(&images->why, "%s", name);
		}
		return FW_OK;
	}
	image = fw_vec_push(&images->images);
	if (!image || read.size > most - images->bytes) {
		free(read.bytes);
		images->images.len -= image != NULL;
		if (!image)
			return fw_fail_nomem(err, images->images.len * sizeof(*image));
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: with it the images take more than %" PRIu64
			       " bytes of memory: give fewer, or a larger --max-input",
			       name, most);
	}
	*image = read;
	images->bytes += read.size;
	return FW_OK;
}

fw_status fw_bench_images_read(struct fw_bench_images *images, const struct fw_image_names *names,
			       uint64_t most, struct fw_error *err)
{
	char *const *name = names->names.data;
	fw_status status = FW_OK;

	for (size_t i = 0; i < names->names.len && !status; i++)
		status = read_one(images, name[i], most, err);
	return status;
}

fw_status fw_bench_images_shuffle(struct fw_bench_images *images, uint64_t seed,
				  struct fw_error *err)
{
	size_t n = images->images.len;

	if (!n || n > UINT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT, "no image could be read%s%s",
			       images->unreadable ? ": " : "",
			       images->unreadable ? images->why.message : "");
	images->order = calloc(n, sizeof(*images->order));
	if (!images->order)
		return fw_fail_nomem(err, n * sizeof(*images->order));
	for (size_t i = 0; i < n; i++) { /* Fisher and Yates, from the inside out */
		size_t other = (size_t)fw_random_below(&seed, i + 1);

		images->order[i] = images->order[other];
		images->order[other] = (uint32_t)i;
	}
	return FW_OK;
}

const struct fw_bench_image *fw_bench_images_at(const struct fw_bench_images *images, uint64_t turn)
{
	const struct fw_bench_image *all = images->images.data;

	return &all[images->order[turn % images->images.len]];
}

void fw_bench_images_release(struct fw_bench_images *images)
{
	struct fw_bench_image *all = images->images.data;

	for (size_t i = 0; i < images->images.len; i++)
		free(all[i].bytes);
	fw_vec_release(&images->images);
	free(images->order);
	images->order = NULL;
}
