#include "serve/warm_images.h"

#include "serve/bench_images.h"

/* Of the size of what people send. */
#define WIDTH  500
#define HEIGHT 375
#define DRAWN  4
/* For each decoder and worker; they take them as they like. */
#define EACH 4
/* After the others: one at a time, as the first requests will be. */
#define ALONE 8

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct fw_error *first = user;

	if (answer->outcome != FW_PIPELINE_CLASSIFIED && !first->code)
		*first = *answer->error;
}

static fw_status submit_all(struct fw_pipeline *pipeline, const struct fw_bench_images *images,
			    uint32_t count, struct fw_error *err)
{
	const struct fw_bench_image *list = images->images.data;
	struct fw_error failed = { .code = FW_OK };
	struct fw_pipeline_request request;
	fw_status status = FW_OK;

	fw_pipeline_request_init(&request);
	request.is_waiting = 1;
	request.callback = on_answer;
	request.user = &failed;
	for (uint32_t i = 0; i < count + ALONE && !status; i++) {
		const struct fw_bench_image *image = &list[i % images->images.len];

		request.bytes = image->bytes;
		request.size = image->size;
		status = fw_pipeline_submit(pipeline, &request, err);
		if (i >= count)
			fw_pipeline_wait(pipeline, -1);
	}
	fw_pipeline_wait(pipeline, -1);
	if (!status && failed.code) {
		status = failed.code;
		*err = failed;
		fw_error_prefix(err, "a picture that was drawn to warm up");
	}
	return status;
}

fw_status fw_warm_images(struct fw_pipeline *pipeline, const struct fw_pipeline_stats *stats,
			 struct fw_error *err)
{
	const struct fw_bench_picture picture = { .width = WIDTH, .height = HEIGHT, .seed = 1 };
	struct fw_bench_images images = { .images = FW_VEC(struct fw_bench_image) };
	fw_status status = fw_bench_images_draw(&images, &picture, DRAWN, UINT64_MAX, err);

	if (!status)
		status = submit_all(pipeline, &images,
				    (stats->decode_threads + stats->workers) * EACH, err);
	fw_bench_images_release(&images);
	return status;
}
