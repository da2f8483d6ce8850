/* One compute instance on a GPU. */
#include "pipeline/worker_gpu.h"

#include "pipeline/nvjpeg_lane.h"
#include "pipeline/preprocess_gpu.h"
#include "pipeline/ranges.h"

#include <stdlib.h>
#include <string.h>

struct fw_gpu_worker {
	const struct fw_classifier *classifier;
	struct fw_gpu *gpu;
	struct fw_nn_instance *instance;
	struct fw_preprocess_gpu *preprocess;
	struct fw_top_gpu *top;
	void *compute,
		*copy;       /* streams; copies that block go to the stream of all, which is NULL */
	void *copied, *done; /* events: the images are there, the answers are there */
	void *graphs[FW_PIPELINE_MAX_BATCH]; /* for each prepared size; NULL: launched one by one */
	uint64_t cells;                      /* device: max_batch x cell_bytes */
	uint64_t pictures;                   /* device: max_batch descriptions */
	uint64_t answers;                    /* device: max_batch x top */
	struct fw_gpu_picture *host_pictures; /* page-locked twins */
	struct fw_gpu_answer *host_answers;
	struct fw_nvjpeg_lane *lane; /* NULL: every image comes decoded */
	void *lane_pinned;
	struct fw_nvjpeg_picture
		jpegs[FW_PIPELINE_MAX_BATCH]; /* of a batch, and their places in it */
	uint32_t jpeg_places[FW_PIPELINE_MAX_BATCH], n_jpegs;
	uint64_t parts_bytes; /* device memory that the parts took themselves */
	bool spins;
};

static size_t pictures_bytes(const struct fw_classifier *c)
{
	return c->max_batch * sizeof(struct fw_gpu_picture);
}

static size_t answers_bytes(const struct fw_classifier *c, uint32_t images)
{
	return (size_t)images * c->top * sizeof(struct fw_gpu_answer);
}

static size_t cells_bytes(const struct fw_classifier *c)
{
	return c->max_batch * c->cell_bytes;
}

static fw_status check(const struct fw_gpu_worker *w, int result, const char *call,
		       struct fw_error *err)
{
	return fw_gpu_check(w->gpu, result, call, err);
}

/* Everything between the images on the GPU and the answers in host memory. */
static fw_status enqueue(struct fw_gpu_worker *w, uint32_t size, struct fw_error *err)
{
	const struct fw_classifier *c = w->classifier;
	const struct fw_top_gpu_rows rows = {
		.n = size,
		.classes = c->classes,
		.top = c->top,
		.are_probabilities = c->ends_in_softmax,
	};
	struct fw_nn_io input, output;
	fw_status status = fw_nn_instance_io(w->instance, size, &input, &output, err);

	if (status ||
	    (status = fw_preprocess_gpu_launch(w->preprocess, w->pictures, size, &input, w->compute,
					       err)) ||
	    (status = fw_nn_instance_launch(w->instance, size, w->compute, err)) ||
	    (status = fw_top_gpu_launch(w->top, &output, &rows, w->answers, w->compute, err)))
		return status;
	return check(w,
		     w->gpu->cuda.memcpy_device_to_host_async(w->host_answers, w->answers,
							      answers_bytes(c, size), w->compute),
		     "cuMemcpyDtoHAsync", err);
}

static fw_status capture(struct fw_gpu_worker *w, uint32_t size, void **exec, struct fw_error *err)
{
	const struct fw_cuda *cuda = &w->gpu->cuda;
	void *graph = NULL;
	int result = cuda->stream_begin_capture(w->compute, FW_CUDA_CAPTURE_THREAD_LOCAL);
	fw_status status;

	if (result)
		return check(w, result, "cuStreamBeginCapture", err);
	status = enqueue(w, size, err);
	result = cuda->stream_end_capture(w->compute, &graph);
	if (!status)
		status = check(w, result, "cuStreamEndCapture", err);
	if (!status) {
		result = cuda->graph_instantiate(exec, graph, 0);
		status = check(w, result, "cuGraphInstantiate", err);
		if (result)
			*exec = NULL;
	}
	if (graph)
		cuda->graph_destroy(graph);
	return status;
}

/* A run of each size before it is captured: the driver loads kernels when they are first launched. */
static fw_status prepare(struct fw_gpu_worker *w, struct fw_error *err)
{
	const struct fw_pipeline_settings *s = &w->classifier->settings;
	const struct fw_cuda *cuda = &w->gpu->cuda;
	fw_status status = check(
		w, cuda->memset_async(w->pictures, 0, pictures_bytes(w->classifier), w->compute),
		"cuMemsetD8Async", err);

	for (uint32_t i = 0; i < s->n_sizes && !status; i++)
		status = enqueue(w, s->sizes[i], err);
	if (!status)
		status = check(w, cuda->stream_synchronize(w->compute), "the first run", err);
	for (uint32_t i = 0; i < s->n_sizes && s->graph && !status; i++)
		status = capture(w, s->sizes[i], &w->graphs[i], err);
	return status;
}

static fw_status allocate(struct fw_gpu_worker *w, struct fw_error *err)
{
	const struct fw_classifier *c = w->classifier;
	void *pictures = NULL, *answers = NULL;
	fw_status status;

	status = fw_gpu_alloc(w->gpu, cells_bytes(c), "the images of a batch", &w->cells, err);
	if (!status)
		status = fw_gpu_alloc(w->gpu, pictures_bytes(c), "the images of a batch",
				      &w->pictures, err);
	if (!status)
		status = fw_gpu_alloc(w->gpu, answers_bytes(c, c->max_batch), "answers",
				      &w->answers, err);
	if (!status)
		status = fw_gpu_pin(w->gpu, pictures_bytes(c), "descriptions of images", &pictures,
				    err);
	w->host_pictures = pictures;
	if (!status)
		status = fw_gpu_pin(w->gpu, answers_bytes(c, c->max_batch), "answers", &answers,
				    err);
	w->host_answers = answers;
	return status;
}

static fw_status make_event(struct fw_gpu_worker *w, unsigned flags, void **event,
			    struct fw_error *err)
{
	int result = w->gpu->cuda.event_create(event, flags | FW_CUDA_EVENT_DISABLE_TIMING);

	if (result)
		*event = NULL;
	return check(w, result, "cuEventCreate", err);
}

static fw_status make_stream(struct fw_gpu_worker *w, void **stream, struct fw_error *err)
{
	int result = w->gpu->cuda.stream_create(stream, FW_CUDA_STREAM_NON_BLOCKING);

	if (result)
		*stream = NULL;
	return check(w, result, "cuStreamCreate", err);
}

static size_t lane_bytes(const struct fw_classifier *c)
{
	return fw_nvjpeg_lane_pinned_bytes(c->max_batch, c->cell_bytes);
}

/* LIMIT: what nvJPEG itself allocates on the GPU is not counted in device_bytes. */
static fw_status open_lane(struct fw_gpu_worker *w, struct fw_error *err)
{
	const struct fw_classifier *c = w->classifier;
	struct fw_nvjpeg_lane_options options = {
		.cuda = &w->gpu->cuda,
		.max_batch = c->max_batch,
		.cell_bytes = c->cell_bytes,
		.limits = c->limits,
	};
	fw_status status;

	if (c->settings.decoder == FW_DECODER_CPU)
		return FW_OK;
	status = fw_gpu_pin(w->gpu, lane_bytes(c), "JPEGs", &w->lane_pinned, err);
	if (status) {
		w->lane_pinned = NULL;
		return status;
	}
	options.pinned = w->lane_pinned;
	return fw_nvjpeg_lane_open(&options, &w->lane, err);
}

static fw_status open_parts(struct fw_gpu_worker *w, struct fw_error *err)
{
	const struct fw_classifier *c = w->classifier;
	fw_status status = fw_gpu_enter(w->gpu, err);

	if (!status)
		status = fw_nn_instance_open(c->network, &w->instance, err);
	if (!status)
		status = fw_preprocess_gpu_open(&w->gpu->cuda, &c->preprocess, c->max_batch,
						c->cell_bytes, &w->preprocess, err);
	if (!status)
		status = fw_top_gpu_open(&w->gpu->cuda, &w->top, err);
	if (!status)
		status = open_lane(w, err);
	if (!status)
		status = make_stream(w, &w->compute, err);
	if (!status && !c->settings.is_blocking)
		status = make_stream(w, &w->copy, err);
	if (!status)
		status = make_event(w, 0, &w->copied, err);
	if (!status)
		status = make_event(w, FW_CUDA_EVENT_BLOCKING_SYNC, &w->done, err);
	if (!status)
		status = allocate(w, err);
	return status ? status : prepare(w, err);
}

static uint64_t parts_bytes(const struct fw_gpu_worker *w)
{
	uint64_t weights, instance;

	fw_nn_network_gpu_bytes(w->classifier->network, &weights, &instance);
	return instance + fw_preprocess_gpu_bytes(w->preprocess);
}

fw_status fw_gpu_worker_open(const struct fw_classifier *classifier, struct fw_gpu *gpu,
			     struct fw_gpu_worker **worker, struct fw_error *err)
{
	struct fw_gpu_worker *made = calloc(1, sizeof(*made));
	fw_status status;

	*worker = NULL;
	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->classifier = classifier;
	made->gpu = gpu;
	status = open_parts(made, err);
	if (status) {
		fw_gpu_worker_close(made);
		return status;
	}
	made->parts_bytes = parts_bytes(made);
	atomic_fetch_add(&gpu->device_bytes, made->parts_bytes);
	*worker = made;
	return FW_OK;
}

static void close_streams(struct fw_gpu_worker *w)
{
	const struct fw_cuda *cuda = &w->gpu->cuda;

	for (uint32_t i = 0; i < w->classifier->settings.n_sizes; i++)
		if (w->graphs[i])
			cuda->graph_exec_destroy(w->graphs[i]);
	if (w->copied)
		cuda->event_destroy(w->copied);
	if (w->done)
		cuda->event_destroy(w->done);
	if (w->copy)
		cuda->stream_destroy(w->copy);
	if (w->compute)
		cuda->stream_destroy(w->compute);
}

void fw_gpu_worker_close(struct fw_gpu_worker *worker)
{
	struct fw_gpu_worker *w = worker;
	const struct fw_classifier *c;

	if (!w)
		return;
	c = w->classifier;
	fw_gpu_enter(w->gpu, NULL);
	/* A batch that failed may still be on its way. */
	if (w->copy)
		w->gpu->cuda.stream_synchronize(w->copy);
	if (w->compute)
		w->gpu->cuda.stream_synchronize(w->compute);
	atomic_fetch_sub(&w->gpu->device_bytes, w->parts_bytes);
	close_streams(w);
	fw_gpu_free(w->gpu, w->cells, cells_bytes(c));
	fw_gpu_free(w->gpu, w->pictures, pictures_bytes(c));
	fw_gpu_free(w->gpu, w->answers, answers_bytes(c, c->max_batch));
	fw_nvjpeg_lane_close(w->lane);
	fw_gpu_unpin(w->gpu, w->lane_pinned, lane_bytes(c));
	fw_gpu_unpin(w->gpu, w->host_pictures, pictures_bytes(c));
	fw_gpu_unpin(w->gpu, w->host_answers, answers_bytes(c, c->max_batch));
	fw_top_gpu_close(w->top);
	fw_preprocess_gpu_close(w->preprocess);
	fw_nn_instance_close(w->instance);
	free(w);
}

/* Bytes of a cell that the planes take; 0: more than there are. */
static size_t used_bytes(const struct fw_image *image, size_t cell_bytes)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < image->n_planes && i < 3; i++) {
		const struct fw_image_plane *plane = &image->planes[i];
		uint64_t end = plane->offset + (uint64_t)plane->stride * plane->height;

		if (end > used)
			used = end;
	}
	return used <= cell_bytes ? (size_t)used : 0;
}

static fw_status copy(struct fw_gpu_worker *w, uint64_t to, const void *from, size_t bytes,
		      struct fw_error *err)
{
	const struct fw_cuda *cuda = &w->gpu->cuda;

	atomic_fetch_add_explicit(&w->gpu->copies, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->gpu->copied_bytes, bytes, memory_order_relaxed);
	if (!w->copy)
		return check(w, cuda->memcpy_host_to_device(to, from, bytes), "cuMemcpyHtoD", err);
	return check(w, cuda->memcpy_host_to_device_async(to, from, bytes, w->copy),
		     "cuMemcpyHtoDAsync", err);
}

/* One image into its place on the GPU; one that is still compressed is only noted. */
static fw_status place(struct fw_gpu_worker *w, uint32_t number, struct fw_flow_item *item,
		       struct fw_error *err)
{
	const struct fw_classifier *c = w->classifier;
	struct fw_gpu_picture *picture = &w->host_pictures[number];
	size_t bytes = used_bytes(item->image, c->cell_bytes);

	*picture = (struct fw_gpu_picture){ .cell = w->cells + number * (uint64_t)c->cell_bytes };
	if (!bytes) {
		item->status = fw_fail(item->err, FW_ERR_ARGUMENT,
				       "the description of the image is damaged");
		return FW_OK;
	}
	picture->image = *item->image;
	picture->is_present = 1;
	if (!item->image->compressed_bytes)
		return copy(w, picture->cell, item->cell, bytes, err);
	w->jpeg_places[w->n_jpegs] = number;
	w->jpegs[w->n_jpegs++] = (struct fw_nvjpeg_picture){
		.bytes = item->cell,
		.cell = picture->cell,
		.image = &picture->image,
		.err = item->err,
	};
	return FW_OK;
}

/* Those that are still compressed. Nothing else uses the cells: the batch before is done. */
static fw_status decode_jpegs(struct fw_gpu_worker *w, struct fw_flow_batch *batch,
			      struct fw_error *err)
{
	struct fw_nvjpeg_lane_counts before, after;
	uint64_t decoded;
	fw_status status;

	if (!w->n_jpegs)
		return FW_OK;
	if (!w->lane)
		return fw_fail(err, FW_ERR_INTERNAL, "a JPEG came to a worker without nvJPEG");
	fw_nvjpeg_lane_count(w->lane, &before);
	atomic_fetch_add_explicit(&w->gpu->nvjpeg_busy, 1, memory_order_relaxed);
	status = fw_nvjpeg_lane_decode(w->lane, w->jpegs, w->n_jpegs, w->copy, err);
	atomic_fetch_sub_explicit(&w->gpu->nvjpeg_busy, 1, memory_order_relaxed);
	fw_nvjpeg_lane_count(w->lane, &after);
	decoded = after.decoded - before.decoded;
	atomic_fetch_add(&w->gpu->nvjpeg_decoded, decoded);
	if (status)
		return status;
	atomic_fetch_add(&w->gpu->nvjpeg_returned, w->n_jpegs - decoded);
	for (uint32_t i = 0; i < w->n_jpegs; i++) {
		batch->items[w->jpeg_places[i]].status = w->jpegs[i].status;
		w->host_pictures[w->jpeg_places[i]].is_present = !w->jpegs[i].status;
	}
	return FW_OK;
}

/* The images of a batch and their descriptions; places without one are described as empty. */
static fw_status copy_batch(struct fw_gpu_worker *w, struct fw_flow_batch *batch,
			    struct fw_error *err)
{
	const struct fw_cuda *cuda = &w->gpu->cuda;
	fw_status status = FW_OK;

	w->n_jpegs = 0;
	for (uint32_t i = 0; i < batch->n && !status; i++)
		status = place(w, i, &batch->items[i], err);
	if (status || (status = decode_jpegs(w, batch, err)))
		return status;
	memset(w->host_pictures + batch->n, 0,
	       (batch->size - batch->n) * sizeof(*w->host_pictures));
	status = copy(w, w->pictures, w->host_pictures, batch->size * sizeof(*w->host_pictures),
		      err);
	if (status)
		return status;
	/* Also where copies block: one from pageable memory may return before its last bytes have arrived. */
	status = check(w, cuda->event_record(w->copied, w->copy), "cuEventRecord", err);
	return status ? status
		      : check(w, cuda->stream_wait_event(w->compute, w->copied, 0),
			      "cuStreamWaitEvent", err);
}

static fw_status launch(struct fw_gpu_worker *w, uint32_t size, struct fw_error *err)
{
	const struct fw_pipeline_settings *s = &w->classifier->settings;
	const struct fw_cuda *cuda = &w->gpu->cuda;
	uint32_t number = 0;
	fw_status status;

	while (s->sizes[number] != size)
		number++;
	if (w->graphs[number])
		status = check(w, cuda->graph_launch(w->graphs[number], w->compute),
			       "cuGraphLaunch", err);
	else
		status = enqueue(w, size, err);
	return status ? status
		      : check(w, cuda->event_record(w->done, w->compute), "cuEventRecord", err);
}

static fw_status await(struct fw_gpu_worker *w, struct fw_error *err)
{
	const struct fw_cuda *cuda = &w->gpu->cuda;
	int result;

	if (!w->spins)
		return check(w, cuda->event_synchronize(w->done), "cuEventSynchronize", err);
	do
		result = cuda->event_query(w->done);
	while (result == FW_CUDA_ERROR_NOT_READY);
	return check(w, result, "cuEventQuery", err);
}

static void answer(const struct fw_gpu_worker *w, uint32_t number, struct fw_flow_item *item)
{
	const uint32_t top = w->classifier->top;
	const struct fw_gpu_answer *answers = w->host_answers + (size_t)number * top;

	for (uint32_t i = 0; i < top; i++) {
		if (answers[i].id >= w->classifier->classes) {
			item->status = fw_fail(item->err, FW_ERR_FORMAT,
					       "the network's scores are not numbers to compare");
			return;
		}
		item->ids[i] = answers[i].id;
		item->probabilities[i] = answers[i].probability;
	}
	item->count = top;
}

static fw_status run(struct fw_gpu_worker *w, struct fw_flow_batch *batch, struct fw_error *err)
{
	fw_status status = fw_gpu_enter(w->gpu, err);

	if (status)
		return status;
	fw_range_push("copy");
	status = copy_batch(w, batch, err);
	fw_range_pop();
	if (!status)
		status = launch(w, batch->size, err);
	return status ? status : await(w, err);
}

fw_status fw_gpu_worker_compute(struct fw_gpu_worker *w, struct fw_flow_batch *batch,
				struct fw_error *err)
{
	struct fw_error why = { .code = FW_OK };
	fw_status status = fw_gpu_failure(w->gpu, err);

	if (status)
		return status;
	status = run(w, batch, &why);
	if (status) {
		fw_gpu_note_failure(w->gpu, &why);
		return fw_fail(err, FW_ERR_IO, "%s", why.message);
	}
	for (uint32_t i = 0; i < batch->n; i++)
		if (!batch->items[i].status)
			answer(w, i, &batch->items[i]);
	return FW_OK;
}

fw_status fw_gpu_worker_scores(struct fw_gpu_worker *w, uint32_t size, float *scores,
			       struct fw_error *err)
{
	return fw_nn_instance_read(w->instance, size, scores, err);
}

void fw_gpu_worker_spin(struct fw_gpu_worker *w, bool spins)
{
	w->spins = spins;
}

uint64_t fw_gpu_worker_host_bytes(const struct fw_classifier *c)
{
	size_t lane = c->settings.decoder == FW_DECODER_CPU ? 0 : lane_bytes(c);

	return sizeof(struct fw_gpu_worker) + pictures_bytes(c) + answers_bytes(c, c->max_batch) +
	       lane;
}
