/*
 * gpu_nvjpeg: the lane's planes on a real GPU beside libjpeg's, with poison around them, and how fast it is: each backend,
 * batches of 64 and 256, one to three lanes at a time. Skips (77) without a GPU or nvJPEG.
 */
#include "../../pipeline/made_jpeg.h"
#include "gpu_case.h"
#include "pipeline/nvjpeg_lane.h"
#include "pipeline/preprocess_gpu.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MOST = 256, CANARY = 65536, POISON = 0xa5 };
#define CELL_BYTES ((size_t)4 << 20)

static struct gpu_case gpu;

/* JPEGs in page-locked memory, as they lie in the cells of the flow. */
struct set {
	uint32_t n;
	uint8_t *pinned[MOST];
	struct fw_image images[MOST];
};

static void set_add(struct set *set, const struct made_jpeg *wish, size_t room)
{
	size_t size;
	uint8_t *bytes = made_jpeg_write(wish, &size);
	void *pinned;

	if (!fw_nvjpeg_lane_takes(bytes, size, room, &set->images[set->n])) {
		printf("FAILED %u x %u at %d x %d is not taken\n", wish->width, wish->height,
		       wish->h, wish->v);
		exit(1);
	}
	GPU_CALL(&gpu, mem_alloc_host(&pinned, size));
	memcpy(pinned, bytes, size);
	free(bytes);
	set->pinned[set->n++] = pinned;
}

static void set_free(struct set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		GPU_CALL(&gpu, mem_free_host(set->pinned[i]));
	set->n = 0;
}

static struct fw_nvjpeg_lane *lane_open(uint32_t max_batch, int avoids_hardware)
{
	struct fw_nvjpeg_lane_options options = { .cuda = &gpu.cuda,
						  .avoids_hardware = avoids_hardware,
						  .max_batch = max_batch,
						  .cell_bytes = CELL_BYTES };
	struct fw_nvjpeg_lane *lane;
	struct fw_error err = { 0 };

	fw_image_limits_init(&options.limits);
	/* Given back at the end of the program. */
	GPU_CALL(&gpu, mem_alloc_host(&options.pinned,
				      fw_nvjpeg_lane_pinned_bytes(max_batch, CELL_BYTES)));
	if (fw_nvjpeg_lane_open(&options, &lane, &err)) {
		printf("skipped: %s\n", err.message);
		exit(77);
	}
	return lane;
}

/* Differences of a picture's planes from libjpeg's. */
struct difference {
	unsigned most;
	double sum, n;
	int is_clean; /* nothing beside the picture's rows was written, but within its padding to whole MCUs */
};

static void compare(const struct fw_image *image, const uint8_t *got, const struct fw_image *wanted,
		    const uint8_t *expected, struct difference *d)
{
	for (uint32_t c = 0; c < image->n_planes; c++) {
		const struct fw_image_plane *g = &image->planes[c], *w = &wanted->planes[c];

		gpu_expect(&gpu, g->width == w->width && g->height == w->height,
			   "the size of a plane");
		for (uint32_t y = 0; y < g->height; y++)
			for (uint32_t x = 0; x < g->width; x++) {
				int a = got[g->offset + (size_t)y * g->stride + x];
				int b = expected[w->offset + (size_t)y * w->stride + x];
				unsigned difference = (unsigned)(a < b ? b - a : a - b);

				d->most = difference > d->most ? difference : d->most;
				d->sum += difference;
				d->n++;
			}
	}
}

/* One batch into poisoned cells with a canary behind each; what the lane did with it is printed. */
static void check_set(const char *name, struct set *set, int avoids_hardware)
{
	const size_t room = CELL_BYTES + CANARY;
	struct fw_nvjpeg_lane *lane = lane_open(MOST, avoids_hardware);
	struct fw_nvjpeg_picture *pictures = host_alloc(set->n * sizeof(*pictures));
	struct fw_image *images = host_alloc(set->n * sizeof(*images));
	uint8_t *got = host_alloc(room), *expected = host_alloc(CELL_BYTES);
	uint64_t cells = gpu_alloc(&gpu, set->n * room);
	struct difference d = { .is_clean = 1 };
	struct fw_nvjpeg_lane_counts counts;
	struct fw_image_decoder *decoder;
	struct fw_image_limits limits;
	struct fw_error err = { 0 };

	fw_image_limits_init(&limits);
	gpu_ok(fw_image_decoder_open(&limits, &decoder, &err), &err);
	memcpy(images, set->images, set->n * sizeof(*images));
	GPU_CALL(&gpu, memset_async(cells, POISON, set->n * room, gpu.stream));
	GPU_CALL(&gpu, stream_synchronize(gpu.stream));
	for (uint32_t i = 0; i < set->n; i++)
		pictures[i] = (struct fw_nvjpeg_picture){ .bytes = set->pinned[i],
							  .cell = cells + i * room,
							  .image = &images[i],
							  .err = &err };
	gpu_ok(fw_nvjpeg_lane_decode(lane, pictures, set->n, gpu.stream, &err), &err);
	for (uint32_t i = 0; i < set->n; i++) {
		struct fw_image wanted;

		gpu_ok(fw_image_decode(decoder, set->pinned[i], set->images[i].compressed_bytes,
				       expected, CELL_BYTES, &wanted, &err),
		       &err);
		GPU_CALL(&gpu, memcpy_device_to_host(got, pictures[i].cell, room));
		gpu_expect(&gpu, !pictures[i].status && !images[i].compressed_bytes, "a status");
		compare(&images[i], got, &wanted, expected, &d);
		for (size_t k = CELL_BYTES; k < room; k++)
			d.is_clean = d.is_clean && got[k] == POISON;
	}
	fw_nvjpeg_lane_count(lane, &counts);
	printf("%-34s %s: %u pictures, by nvJPEG %llu, unsupported %llu, in failed batches %llu, "
	       "left out "
	       "%llu; largest difference %u, mean %.4f, %s\n",
	       name, avoids_hardware ? "kernels " : "hardware", set->n,
	       (unsigned long long)counts.decoded, (unsigned long long)counts.unsupported,
	       (unsigned long long)counts.failed, (unsigned long long)counts.left_out, d.most,
	       d.n > 0 ? d.sum / d.n : 0, d.is_clean ? "canaries alive" : "CANARIES DEAD");
	/* Two decoders' inverse DCT: rounding apart. */
	gpu_expect(&gpu, d.most <= 3 && d.is_clean, name);
	fw_nvjpeg_lane_close(lane);
	fw_image_decoder_close(decoder);
	GPU_CALL(&gpu, mem_free(cells));
	free(pictures);
	free(images);
	free(got);
	free(expected);
}

static void check_kinds(void)
{
	static const struct {
		const char *name;
		int h, v, is_grey;
	} kinds[] = { { "4:4:4", 1, 1, 0 },
		      { "4:2:2", 2, 1, 0 },
		      { "4:2:0", 2, 2, 0 },
		      { "4:4:0", 1, 2, 0 },
		      { "grey", 1, 1, 1 } };
	static const uint32_t sizes[][2] = { { 500, 375 }, { 501, 333 }, { 64, 1 },    { 65, 17 },
					     { 640, 480 }, { 99, 300 },  { 1280, 855 } };
	struct set all = { 0 };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct set set = { 0 };

		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (int restarts = 0; restarts < 2; restarts++) {
				const struct made_jpeg wish = {
					.width = sizes[i][0],
					.height = sizes[i][1],
					.h = kinds[k].h,
					.v = kinds[k].v,
					.is_grey = kinds[k].is_grey,
					.quality = i % 2 ? 95 : 75,
					.restart_interval = restarts ? 5 : 0,
					.seed = (uint32_t)i,
				};

				set_add(&set, &wish, CELL_BYTES);
				if (!restarts)
					set_add(&all, &wish, CELL_BYTES);
			}
		check_set(kinds[k].name, &set, 0);
		check_set(kinds[k].name, &set, 1);
		set_free(&set);
	}
	check_set("all kinds in one batch", &all, 0);
	check_set("all kinds in one batch", &all, 1);
	set_free(&all);
}

/* Damage that no marker tells: what nvJPEG makes of it, for the page of limits. */
static void show_damage(int avoids_hardware)
{
	static const char *const names[] = { "a tenth of the codes zeroed",
					     "cut, end marker put back", "codes of ones only" };
	const struct made_jpeg wish = {
		.width = 500, .height = 375, .h = 2, .v = 2, .quality = 90, .seed = 7
	};

	for (int how = 0; how < 3; how++) {
		struct fw_nvjpeg_lane *lane = lane_open(1, avoids_hardware);
		struct set set = { 0 };
		struct fw_error err = { 0 };
		struct fw_nvjpeg_lane_counts counts;
		struct fw_nvjpeg_picture picture;
		struct fw_image image;
		size_t size;

		set_add(&set, &wish, CELL_BYTES);
		size = set.images[0].compressed_bytes;
		if (how == 0)
			memset(set.pinned[0] + size / 2, 0, size / 10);
		if (how == 1) {
			size = size / 2;
			memcpy(set.pinned[0] + size - 2, "\xff\xd9", 2);
		}
		for (size_t i = 0; how == 2 && i < 40; i++)
			memcpy(set.pinned[0] + size / 2 + 2 * i, "\xff", 2);
		if (!fw_nvjpeg_lane_takes(set.pinned[0], size, CELL_BYTES, &image)) {
			printf("damage, %s: not taken by the lane\n", names[how]);
		} else {
			uint64_t cell = gpu_alloc(&gpu, CELL_BYTES);

			picture = (struct fw_nvjpeg_picture){
				.bytes = set.pinned[0], .cell = cell, .image = &image, .err = &err
			};
			gpu_ok(fw_nvjpeg_lane_decode(lane, &picture, 1, gpu.stream, &err), &err);
			fw_nvjpeg_lane_count(lane, &counts);
			printf("damage, %s, %s: %s\n", names[how],
			       avoids_hardware ? "kernels" : "hardware",
			       counts.decoded   ? "decoded as if nothing were"
			       : picture.status ? "refused, and by libjpeg too"
						: "refused, but decoded by libjpeg");
			GPU_CALL(&gpu, mem_free(cell));
		}
		set_free(&set);
		fw_nvjpeg_lane_close(lane);
	}
}

struct runner {
	pthread_t thread;
	pthread_barrier_t *barrier;
	const struct set *set;
	uint32_t batch, rounds;
	int avoids_hardware;
	uint64_t not_by_nvjpeg;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A lane with cells and a stream of its own, as a worker has. */
static void *run_lane(void *user)
{
	struct runner *r = user;
	struct fw_nvjpeg_picture pictures[MOST];
	struct fw_image images[MOST];
	struct fw_nvjpeg_lane_counts counts;
	struct fw_nvjpeg_lane *lane;
	struct fw_error err = { 0 };
	uint64_t cells;
	void *stream;

	GPU_CALL(&gpu, ctx_set_current(gpu.context));
	GPU_CALL(&gpu, stream_create(&stream, FW_CUDA_STREAM_NON_BLOCKING));
	cells = gpu_alloc(&gpu, r->batch * ((size_t)1 << 19));
	lane = lane_open(r->batch, r->avoids_hardware);
	for (uint32_t round = 0; round <= r->rounds; round++) {
		if (round == 1) /* the first was a warm-up */
			pthread_barrier_wait(r->barrier);
		for (uint32_t i = 0; i < r->batch; i++) {
			images[i] = r->set->images[i];
			pictures[i] = (struct fw_nvjpeg_picture){
				.bytes = r->set->pinned[i],
				.cell = cells + ((uint64_t)i << 19),
				.image = &images[i],
				.err = &err,
			};
		}
		gpu_ok(fw_nvjpeg_lane_decode(lane, pictures, r->batch, stream, &err), &err);
	}
	pthread_barrier_wait(r->barrier);
	fw_nvjpeg_lane_count(lane, &counts);
	r->not_by_nvjpeg = counts.unsupported + counts.failed + counts.left_out;
	fw_nvjpeg_lane_close(lane);
	GPU_CALL(&gpu, mem_free(cells));
	GPU_CALL(&gpu, stream_destroy(stream));
	return NULL;
}

static void time_lanes(const struct set *set, uint32_t batch, uint32_t lanes, int avoids_hardware)
{
	struct runner runners[3];
	pthread_barrier_t barrier;
	uint32_t rounds = 2048 / batch / lanes + 1;
	uint64_t others = 0;
	double start;

	pthread_barrier_init(&barrier, NULL, lanes + 1);
	for (uint32_t i = 0; i < lanes; i++) {
		runners[i] = (struct runner){ .barrier = &barrier,
					      .set = set,
					      .batch = batch,
					      .rounds = rounds,
					      .avoids_hardware = avoids_hardware };
		if (pthread_create(&runners[i].thread, NULL, run_lane, &runners[i]))
			exit(1);
	}
	pthread_barrier_wait(&barrier);
	start = now_s();
	pthread_barrier_wait(&barrier);
	start = now_s() - start;
	for (uint32_t i = 0; i < lanes; i++) {
		pthread_join(runners[i].thread, NULL);
		others += runners[i].not_by_nvjpeg;
	}
	pthread_barrier_destroy(&barrier);
	printf("%s, batches of %3u, %u lanes: %.0f images/s, %.2f ms a batch%s\n",
	       avoids_hardware ? "kernels " : "hardware", batch, lanes,
	       (double)rounds * lanes * batch / start, start / rounds * 1e3,
	       others ? " (SOME BY THE CPU)" : "");
}

static void time_all(void)
{
	struct set set = { 0 };

	for (uint32_t i = 0; i < MOST; i++) {
		const struct made_jpeg wish = {
			.width = 500, .height = 375, .h = 2, .v = 2, .quality = 90, .seed = i
		};

		set_add(&set, &wish, (size_t)1 << 19);
	}
	printf("500 x 375 4:2:0 of %u bytes\n", set.images[0].compressed_bytes);
	for (int avoids = 0; avoids < 2; avoids++)
		for (uint32_t batch = 64; batch <= MOST; batch *= 4)
			for (uint32_t lanes = 1; lanes <= 3; lanes++)
				time_lanes(&set, batch, lanes, avoids);
	time_lanes(&set, 1, 1, 0);
	time_lanes(&set, 8, 1, 0);
	set_free(&set);
}

int main(void)
{
	struct fw_nvjpeg_lane *lane;

	setvbuf(stdout, NULL, _IOLBF, 0);
	gpu_open(&gpu);
	lane = lane_open(MOST, 0);
	printf("%s\n", fw_nvjpeg_lane_kind(lane));
	fw_nvjpeg_lane_close(lane);
	check_kinds();
	show_damage(0);
	show_damage(1);
	time_all();
	printf(gpu.n_failed ? "%u checks failed\n" : "all checks passed\n", gpu.n_failed);
	return gpu.n_failed != 0;
}
