/*
 * gpu_preprocess: the pipeline's kernels on a real GPU against the CPU's code, with poison under the outputs and canaries
 * around them, and their times. Skips (77) without a GPU.
 */
#include "../../../kernels/pipeline_device.h"
#include "../../pipeline/made_picture.h"
#include "gpu_case.h"
#include "pipeline/preprocess_gpu.h"
#include "pipeline/top.h"
#include "pipeline/top_gpu.h"

enum { BATCH = 64, CANARY = 4096, STRIDE = 4, N_DAMAGED = 2048 };
#define CELL_BYTES ((size_t)4 << 20)
#define POISON     0xa5

static const char *const precisions[] = { "fp32", "fp16", "bf16" };

struct setting {
	uint32_t resize, crop;
	size_t cell_bytes;
};

struct bench {
	struct gpu_case *gpu;
	struct setting setting;
	struct fw_preprocess preprocess;
	struct fw_preprocess_gpu *p;
	struct fw_preprocess_scratch *scratch;
	struct fw_gpu_picture pictures[BATCH];
	float scale[3], shift[3];
	uint64_t cells, table, output; /* of the GPU */
	uint8_t *host_cells, *got;
	float *expected;
	size_t elements; /* of a picture */
	struct fw_nn_io input;
	uint32_t n;
};

static void bench_open(struct bench *b, struct gpu_case *gpu, const struct setting *setting)
{
	struct fw_error err = { 0 };
	uint64_t bytes;

	*b = (struct bench){ .gpu = gpu, .setting = *setting };
	fw_preprocess_init(&b->preprocess);
	b->preprocess.resize = setting->resize;
	b->preprocess.crop = setting->crop;
	fw_preprocess_scale(&b->preprocess, b->scale, b->shift);
	gpu_ok(fw_preprocess_open(&b->preprocess, setting->cell_bytes, &b->scratch, &err), &err);
	gpu_ok(fw_preprocess_gpu_open(&gpu->cuda, &b->preprocess, BATCH, setting->cell_bytes, &b->p,
				      &err),
	       &err);
	b->elements = (size_t)setting->crop * setting->crop * STRIDE;
	bytes = BATCH * b->elements * sizeof(float);
	b->cells = gpu_alloc(gpu, BATCH * setting->cell_bytes);
	b->table = gpu_alloc(gpu, sizeof(b->pictures));
	b->output = gpu_alloc(gpu, bytes + 2 * CANARY);
	b->host_cells = host_alloc(BATCH * setting->cell_bytes);
	b->got = host_alloc(bytes + 2 * CANARY);
	b->expected = host_alloc(bytes);
}

static void bench_close(struct bench *b)
{
	fw_preprocess_gpu_close(b->p);
	fw_preprocess_close(b->scratch);
	GPU_CALL(b->gpu, mem_free(b->cells));
	GPU_CALL(b->gpu, mem_free(b->table));
	GPU_CALL(b->gpu, mem_free(b->output));
	free(b->host_cells);
	free(b->got);
	free(b->expected);
}

static uint8_t *host_cell(const struct bench *b, uint32_t i)
{
	return b->host_cells + i * b->setting.cell_bytes;
}

static void add(struct bench *b, const struct fw_image *image, int is_present)
{
	b->pictures[b->n] = (struct fw_gpu_picture){
		.cell = b->cells + b->n * b->setting.cell_bytes,
		.image = *image,
		.is_present = (uint32_t)is_present,
	};
	b->n++;
}

static void add_wish(struct bench *b, const struct made_wish *wish, uint64_t *random)
{
	struct fw_image image;

	if (made_describe(wish, &image) > b->setting.cell_bytes) {
		printf("FAILED %u x %u do not fit the cell\n", wish->source_width,
		       wish->source_height);
		exit(1);
	}
	made_draw(&image, random, host_cell(b, b->n));
	add(b, &image, 1);
}

static void describe_input(struct bench *b, uint32_t precision)
{
	b->input = (struct fw_nn_io){
		.data = (void *)(uintptr_t)(b->output + CANARY),
		.bytes = BATCH * b->elements * (precision ? 2 : 4),
		.precision = precision,
		.n = BATCH,
		.h = b->setting.crop,
		.w = b->setting.crop,
		.c = 3,
		.pixel_stride = STRIDE,
	};
}

static void upload(struct bench *b)
{
	GPU_CALL(b->gpu,
		 memcpy_host_to_device(b->cells, b->host_cells, b->n * b->setting.cell_bytes));
	GPU_CALL(b->gpu,
		 memcpy_host_to_device(b->table, b->pictures, b->n * sizeof(b->pictures[0])));
}

static void enqueue(void *user, void *stream)
{
	struct bench *b = user;
	struct fw_error err = { 0 };

	gpu_ok(fw_preprocess_gpu_launch(b->p, b->table, b->n, &b->input, stream, &err), &err);
}

/* Runs the batch over poison and fetches it. False: something beside it was written. */
static int run(struct bench *b, uint32_t precision)
{
	size_t bytes = b->n * b->elements * (precision ? 2 : 4), room = bytes + 2 * CANARY;
	int is_clean = 1;

	describe_input(b, precision);
	GPU_CALL(b->gpu, memset_async(b->output, POISON, room, b->gpu->stream));
	enqueue(b, b->gpu->stream);
	GPU_CALL(b->gpu, stream_synchronize(b->gpu->stream));
	GPU_CALL(b->gpu, memcpy_device_to_host(b->got, b->output, room));
	for (size_t i = 0; i < CANARY; i++)
		is_clean = is_clean && b->got[i] == POISON && b->got[CANARY + bytes + i] == POISON;
	return is_clean;
}

/* The CPU's answer; zeros where there is none. */
static void expect(struct bench *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct fw_gpu_picture *picture = &b->pictures[i];
		float *to = b->expected + i * b->elements;

		if (!picture->is_present || fw_preprocess_cpu(b->scratch, host_cell(b, i),
							      &picture->image, to, STRIDE, NULL))
			memset(to, 0, b->elements * sizeof(float));
	}
}

/* The largest difference in levels; that of the channels beside the colours counts as it is. */
static double largest_difference(const struct bench *b, uint32_t picture)
{
	const float *expected = b->expected + picture * b->elements;
	const float *got = (const float *)(b->got + CANARY) + picture * b->elements;
	double most = 0;

	for (size_t i = 0; i < b->elements; i++) {
		double scale = i % STRIDE < 3 ? (double)b->scale[i % STRIDE] : 1;
		double difference = fabs((double)got[i] - (double)expected[i]) / scale;

		if (!(difference <= most)) /* NaN too */
			most = difference == difference ? difference : 1e9;
	}
	return most;
}

/* The 16-bit types: every bit as the floats rounded. */
static int is_narrowed(const struct bench *b, uint32_t precision)
{
	const uint16_t *got = (const uint16_t *)(b->got + CANARY);

	for (size_t i = 0; i < b->n * b->elements; i++)
		if (got[i] != fw_narrow(b->expected[i], precision))
			return 0;
	return 1;
}

/* 64 pictures of a kind: all orientations, scales, many sizes. */
static void check_kind(struct bench *b, const struct made_kind *kind, uint64_t *random)
{
	double most = 0;
	int is_narrow = 1, is_clean;

	b->n = 0;
	for (uint32_t i = 0; i < BATCH; i++) {
		struct made_wish wish = {
			.kind = kind,
			.source_width = 1 + made_random(random) % (i % 5 ? 700 : 12),
			.source_height = 1 + made_random(random) % (i % 7 ? 700 : 12),
			.scale = i % 3 ? 8 : 1u << made_random(random) % 4,
			.orientation = 1 + i % 8,
		};

		if (i == 0)
			wish.source_width = wish.source_height = 1;
		if (i == 1)
			wish = (struct made_wish){ kind, 1280, 960, 8, 1 };
		add_wish(b, &wish, random);
	}
	upload(b);
	expect(b);
	is_clean = run(b, 0);
	for (uint32_t i = 0; i < b->n; i++)
		most = fmax(most, largest_difference(b, i));
	for (uint32_t precision = 1; precision <= 2; precision++) {
		is_clean = run(b, precision) && is_clean;
		is_narrow = is_narrow && is_narrowed(b, precision);
	}
	printf("%4u to %3u  %-16s largest difference %g levels, fp16 and bf16 %s, %s\n",
	       b->setting.resize, b->setting.crop, kind->name, most, is_narrow ? "equal" : "DIFFER",
	       is_clean ? "canaries alive" : "CANARIES DEAD");
	gpu_expect(b->gpu, most == 0 && is_narrow && is_clean, kind->name);
}

static void check_kinds(struct gpu_case *gpu)
{
	static const struct setting settings[] = { { 256, 224, CELL_BYTES },
						   { 37, 29, CELL_BYTES },
						   { 8, 11, CELL_BYTES } };
	uint64_t random = 1;

	for (size_t s = 0; s < 3; s++) {
		struct bench b;

		bench_open(&b, gpu, &settings[s]);
		if (s == 0)
			printf("GPU memory for batches of %d: %zu bytes\n", BATCH,
			       fw_preprocess_gpu_bytes(b.p));
		for (size_t k = 0; k < MADE_KINDS; k++)
			if (s == 0 || k % 3 == s)
				check_kind(&b, &made_kinds[k], &random);
		bench_close(&b);
	}
}

/* Damaged descriptions, absent pictures: as the CPU, else zeros, and the GPU goes on. */
static void check_damaged(struct gpu_case *gpu)
{
	static const struct setting setting = { 8, 7, 8192 };
	unsigned n_different = 0, n_zero = 0;
	uint64_t random = 2;
	struct bench b;

	bench_open(&b, gpu, &setting);
	for (uint32_t done = 0; done < N_DAMAGED; done += BATCH) {
		b.n = 0;
		while (b.n < BATCH) {
			const struct made_wish wish = {
				.kind = &made_kinds[made_random(&random) % MADE_KINDS],
				.source_width = 1 + made_random(&random) % 40,
				.source_height = 1 + made_random(&random) % 40,
				.scale = 8,
				.orientation = 1 + b.n % 8,
			};
			struct fw_image image;

			made_describe(&wish, &image);
			made_draw(&image, &random, host_cell(&b, b.n));
			for (uint32_t faults = made_random(&random) % 3; faults; faults--)
				made_damage(&image, &random);
			add(&b, &image, made_random(&random) % 8 != 0);
		}
		upload(&b);
		expect(&b);
		gpu_expect(gpu, run(&b, 0), "canaries of damaged descriptions");
		for (uint32_t i = 0; i < b.n; i++) {
			n_different += largest_difference(&b, i) != 0;
			n_zero += b.expected[i * b.elements + b.elements / 2] == 0;
		}
	}
	printf("%d damaged descriptions: %u are zeros, %u differ from the CPU\n", N_DAMAGED, n_zero,
	       n_different);
	gpu_expect(gpu, n_different == 0, "damaged descriptions");
	bench_close(&b);
}

static void check_tensors(struct gpu_case *gpu)
{
	static const struct setting setting = { 256, 224, CELL_BYTES };
	enum { PIXELS = 224 * 224 };
	struct fw_image image = { .kind = FW_IMAGE_TENSOR,
				  .width = 224,
				  .height = 224,
				  .source_width = 224,
				  .source_height = 224,
				  .scale_num = 1,
				  .scale_den = 1,
				  .orientation = 1,
				  .n_planes = 3 };
	unsigned n_different = 0;
	struct bench b;

	bench_open(&b, gpu, &setting);
	for (uint32_t i = 0; i < 3; i++)
		image.planes[i] = (struct fw_image_plane){ 224, 224, 896, i * PIXELS * 4 };
	for (uint32_t i = 0; i < 3 * PIXELS; i++)
		((float *)host_cell(&b, 0))[i] = (float)i - 1000.5f;
	add(&b, &image, 1);
	upload(&b);
	gpu_expect(gpu, run(&b, 0), "canaries of a tensor");
	for (uint32_t i = 0; i < PIXELS; i++)
		for (uint32_t c = 0; c < 4; c++) {
			float wanted = c < 3 ? (float)(c * PIXELS + i) - 1000.5f : 0;

			n_different += ((float *)(b.got + CANARY))[4 * i + c] != wanted;
		}
	printf("a tensor: %u of its values differ\n", n_different);
	gpu_expect(gpu, n_different == 0, "a tensor");
	bench_close(&b);
}

static void time_pictures(struct gpu_case *gpu, uint32_t width, uint32_t height, uint32_t kind)
{
	static const struct setting setting = { 256, 224, CELL_BYTES };
	static const uint32_t batches[] = { 1, 8, 64 }, rows[] = { 0, 1, 2, 4, 8, 16, 32 };
	uint64_t random = 3;
	struct bench b;

	bench_open(&b, gpu, &setting);
	describe_input(&b, FW_NN_FP16);
	for (uint32_t i = 0; i < BATCH; i++) {
		const struct made_wish wish = { &made_kinds[kind], width, height, 8, 1 };

		add_wish(&b, &wish, &random);
	}
	upload(&b);
	for (size_t i = 0; i < 3; i++) {
		printf("%u x %u %s, batch %2u, us by rows of a tile:", width, height,
		       made_kinds[kind].name, batches[i]);
		b.n = batches[i];
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
			fw_preprocess_gpu_set_tile(b.p, rows[r]);
			printf("  %s%.0u %.2f", rows[r] ? "" : "default", rows[r],
			       gpu_time(gpu, 20, enqueue, &b));
		}
		printf("\n");
	}
	bench_close(&b);
}

struct top_bench {
	struct fw_top_gpu *top;
	struct fw_nn_io scores;
	struct fw_top_gpu_rows rows;
	uint64_t answers;
};

static void enqueue_top(void *user, void *stream)
{
	struct top_bench *b = user;
	struct fw_error err = { 0 };

	gpu_ok(fw_top_gpu_launch(b->top, &b->scores, &b->rows, b->answers, stream, &err), &err);
}

/* Rows with ties, with one class far ahead, with a NaN or an infinity. */
static float score_of(uint32_t row, uint32_t i, uint32_t classes, uint64_t *random)
{
	uint32_t r = made_random(random);

	if (row % 16 == 7 && i == classes / 2)
		return row % 32 == 7 ? NAN : -INFINITY;
	if (row % 4 == 1)
		return (float)(r % 7) - 3;
	if (row % 4 == 2)
		return i == row % classes ? 40 : (float)(r % 100) / 50;
	return ((float)(r % 2000000) - 1e6f) / 1e5f;
}

static unsigned count_wrong(const struct top_bench *b, const float *scores,
			    const struct fw_gpu_answer *answers, double *most)
{
	uint32_t ids[128];
	float probabilities[128];
	unsigned n_wrong = 0;

	for (uint32_t row = 0; row < b->rows.n; row++, answers += b->rows.top) {
		const struct fw_scores one = { scores + (size_t)row * b->rows.classes,
					       b->rows.classes, b->rows.are_probabilities };
		int is_bad = fw_top_classes(&one, b->rows.top, ids, probabilities, NULL) != FW_OK;

		for (uint32_t i = 0; i < b->rows.top; i++) {
			double wanted = is_bad ? 0 : (double)probabilities[i];

			n_wrong += answers[i].id != (is_bad ? FW_TOP_NO_CLASS : ids[i]);
			if (wanted > 0)
				*most = fmax(*most,
					     fabs((double)answers[i].probability / wanted - 1));
		}
	}
	return n_wrong;
}

static void check_top(struct gpu_case *gpu, struct top_bench *b, uint32_t classes, uint32_t top)
{
	size_t n = (size_t)BATCH * classes, answer_bytes = (size_t)BATCH * top * 8;
	uint32_t precision = classes % 2 ? top % 3 : classes % 3;
	float *scores = host_alloc(n * sizeof(float));
	uint16_t *narrow = host_alloc(n * sizeof(*narrow));
	struct fw_gpu_answer *answers = host_alloc(answer_bytes + 2 * CANARY);
	uint64_t random = classes, data = gpu_alloc(gpu, n * sizeof(float));
	uint64_t room = gpu_alloc(gpu, answer_bytes + 2 * CANARY);
	const uint8_t *raw = (const uint8_t *)answers;
	double most = 0, us;
	unsigned n_wrong;
	int is_clean = 1;

	for (size_t i = 0; i < n; i++) {
		scores[i] = score_of((uint32_t)(i / classes), (uint32_t)(i % classes), classes,
				     &random);
		narrow[i] = (uint16_t)fw_narrow(scores[i], precision ? precision : 1);
		if (precision)
			scores[i] = fw_element((uintptr_t)narrow, i, precision);
	}
	GPU_CALL(gpu, memcpy_host_to_device(data, precision ? (void *)narrow : (void *)scores,
					    n * (precision ? 2 : 4)));
	GPU_CALL(gpu, memset_async(room, POISON, answer_bytes + 2 * CANARY, gpu->stream));
	b->scores = (struct fw_nn_io){ .data = (void *)(uintptr_t)data,
				       .precision = precision,
				       .n = BATCH,
				       .h = 1,
				       .w = 1,
				       .c = classes,
				       .pixel_stride = classes };
	b->rows = (struct fw_top_gpu_rows){ BATCH, classes, top, top % 2 == 0 };
	b->answers = room + CANARY;
	enqueue_top(b, gpu->stream);
	GPU_CALL(gpu, stream_synchronize(gpu->stream));
	GPU_CALL(gpu, memcpy_device_to_host(answers, room, answer_bytes + 2 * CANARY));
	for (size_t i = 0; i < CANARY; i++)
		is_clean = is_clean && raw[i] == POISON && raw[CANARY + answer_bytes + i] == POISON;
	n_wrong = count_wrong(b, scores, answers + CANARY / 8, &most);
	us = gpu_time(gpu, 20, enqueue_top, b);
	printf("best %3u of %5u classes, %s%s: %u wrong, probabilities off by %.1e, %s, 64 rows "
	       "in %.2f us\n",
	       top, classes, precisions[precision], b->rows.are_probabilities ? " as they are" : "",
	       n_wrong, most, is_clean ? "canaries alive" : "CANARIES DEAD", us);
	gpu_expect(gpu, !n_wrong && most < 1e-5 && is_clean, "best classes");
	GPU_CALL(gpu, mem_free(data));
	GPU_CALL(gpu, mem_free(room));
	free(scores);
	free(narrow);
	free(answers);
}

static void check_tops(struct gpu_case *gpu)
{
	static const uint32_t classes[] = { 2, 10, 1000, 1001, 21841 }, tops[] = { 1, 5, 10, 100 };
	struct fw_error err = { 0 };
	struct top_bench b;

	gpu_ok(fw_top_gpu_open(&gpu->cuda, &b.top, &err), &err);
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 4; k++)
			if (tops[k] <= classes[i])
				check_top(gpu, &b, classes[i], tops[k]);
	fw_top_gpu_close(b.top);
}

int main(void)
{
	struct gpu_case gpu;

	setvbuf(stdout, NULL, _IOLBF, 0);
	gpu_open(&gpu);
	check_kinds(&gpu);
	check_damaged(&gpu);
	check_tensors(&gpu);
	time_pictures(&gpu, 500, 375, 2);
	time_pictures(&gpu, 500, 375, 9);
	time_pictures(&gpu, 1920, 1080, 2);
	check_tops(&gpu);
	printf(gpu.n_failed ? "%u checks failed\n" : "all checks passed\n", gpu.n_failed);
	return gpu.n_failed != 0;
}
