/* The CPU engine's steps, one at a time, on plans made by hand; what they should give is computed here, in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "nn/engine.h"

extern const struct fw_nn_engine_class fw_nn_onednn;

#define MAX_TENSORS 3

/* A plan of one step: tensor 0 is the input, 1 the output, 2 the second operand. */
struct bench {
	struct fw_nn_tensor tensors[MAX_TENSORS];
	struct fw_nn_step step;
	struct fw_nn_plan plan;
	float *data[MAX_TENSORS]; /* n, c, h, w */
	void *engine, *network, *instance;
	char *arena;
};

static uint32_t seed = 1;

/* In [-1, 1), the same on every machine. */
static float random_float(void)
{
	seed = seed * 1664525 + 1013904223;
	return (float)(seed >> 8) / 8388608 - 1;
}

static float *random_floats(int64_t n)
{
	float *out = test_malloc((size_t)n * sizeof(*out));

	for (int64_t i = 0; i < n; i++)
		out[i] = random_float();
	return out;
}

static int64_t count(const struct fw_nn_tensor *t)
{
	return t->n * t->h * t->w * t->c;
}

static int64_t at(const struct fw_nn_tensor *t, int64_t n, int64_t c, int64_t pixel)
{
	return (n * t->c + c) * t->h * t->w + pixel;
}

static void set_tensor(struct bench *b, unsigned i, const int64_t shape[4], int64_t stride)
{
	b->tensors[i] = (struct fw_nn_tensor){
		.name = "t",
		.n = shape[0],
		.h = shape[1],
		.w = shape[2],
		.c = shape[3],
		.padded_c = shape[3],
		.pixel_stride = stride ? stride : shape[3],
	};
}

/* Lays the tensors out one behind the other; with stride > c, each is the part of a wider one that ends with it. */
static void place(struct bench *b, size_t size)
{
	uint64_t offset = 0;

	for (unsigned i = 0; i < MAX_TENSORS; i++) {
		struct fw_nn_tensor *t = &b->tensors[i];
		int64_t pixels = t->n * t->h * t->w, first = t->pixel_stride - t->c;

		if (!t->n)
			continue;
		t->offset = offset + (uint64_t)first * size;
		t->bytes = (uint64_t)((pixels - 1) * t->pixel_stride + t->c) * size;
		offset += ((uint64_t)(pixels * t->pixel_stride) * size + 255) / 256 * 256;
	}
	b->plan.arena_bytes = offset;
}

static void put(struct bench *b, unsigned tensor)
{
	const struct fw_nn_tensor *t = &b->tensors[tensor];
	float *out = (float *)(b->arena + t->offset);

	for (int64_t n = 0; n < t->n; n++)
		for (int64_t pixel = 0; pixel < t->h * t->w; pixel++)
			for (int64_t c = 0; c < t->c; c++)
				out[(n * t->h * t->w + pixel) * t->pixel_stride + c] =
					b->data[tensor][at(t, n, c, pixel)];
}

/* Loads the plan, poisons the arena, runs; the result is data[1]. */
static void run(struct bench *b)
{
	struct fw_nn_engine_options options = { .name = "onednn" };
	struct fw_nn_network_options wanted = { .precision = b->plan.precision };
	const struct fw_nn_plan *plans[] = { &b->plan };
	struct fw_nn_io input;
	struct fw_error err = { .message = "" };

	place(b, fw_nn_precision_bytes(b->plan.precision));
	b->plan.batch = b->tensors[0].n;
	b->plan.tensors = b->tensors;
	b->plan.n_tensors = MAX_TENSORS;
	b->plan.steps = &b->step;
	b->plan.n_steps = 1;
	b->plan.output = b->step.output = 1;
	b->step.second = b->tensors[2].n ? 2 : FW_NN_NONE;
	assert_int_equal(fw_nn_onednn.open(&options, &b->engine, &err), FW_OK);
	if (fw_nn_onednn.load(b->engine, plans, 1, &wanted, &b->network, &err))
		fail_msg("%s", err.message);
	assert_int_equal(fw_nn_onednn.instance_open(b->network, &b->instance, &err), FW_OK);
	assert_int_equal(fw_nn_onednn.io(b->instance, 0, &input, NULL, &err), FW_OK);
	b->arena = (char *)input.data - b->tensors[0].offset;
	memset(b->arena, 0xff, b->plan.arena_bytes);
	for (unsigned i = 0; i < MAX_TENSORS; i += 2)
		if (b->tensors[i].n) {
			b->data[i] = random_floats(count(&b->tensors[i]));
			put(b, i);
		}
	if (fw_nn_onednn.launch(b->instance, 0, NULL, &err))
		fail_msg("%s", err.message);
	b->data[1] = test_malloc((size_t)count(&b->tensors[1]) * sizeof(float));
	assert_int_equal(fw_nn_onednn.read(b->instance, 0, b->data[1], &err), FW_OK);
}

static void finish(struct bench *b)
{
	for (unsigned i = 0; i < MAX_TENSORS; i++)
		test_free(b->data[i]);
	test_free((void *)b->step.weight.data);
	test_free((void *)b->step.bias.data);
	fw_nn_onednn.instance_close(b->instance);
	fw_nn_onednn.unload(b->network);
	fw_nn_onednn.close(b->engine);
}

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-5 + 1e-5 * fabs(want)))
		fail_msg("got %.9g, want %.9g", got, want);
}

static double activated(const struct fw_nn_act *act, double x)
{
	switch (act->kind) {
	case FW_NN_ACT_CLAMP: return fmin(fmax(x, (double)act->low), (double)act->high);
	case FW_NN_ACT_SIGMOID: return 1 / (1 + exp(-x));
	case FW_NN_ACT_HARD_SIGMOID:
		return fmax(0, fmin(1, (double)act->alpha * x + (double)act->beta));
	case FW_NN_ACT_HARD_SWISH: return x * fmax(0, fmin(1, x / 6 + 0.5));
	case FW_NN_ACT_SWISH: return x / (1 + exp(-x));
	case FW_NN_ACT_GELU: return 0.5 * x * (1 + erf(x / sqrt(2)));
	case FW_NN_ACT_GELU_TANH:
		return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case FW_NN_ACT_TANH: return tanh(x);
	default: return x;
	}
}

/* The convolution's sum at one place of the result. */
static double convolved(const struct bench *b, int64_t n, int64_t k, int64_t y, int64_t x)
{
	const struct fw_nn_window *w = &b->step.window;
	const struct fw_nn_weight *f = &b->step.weight;
	const struct fw_nn_tensor *in = &b->tensors[0];
	int64_t first = k / (f->k / w->groups) * f->c;
	double sum = b->step.bias.data ? (double)b->step.bias.data[k] : 0;

	for (int64_t c = 0; c < f->c; c++)
		for (int64_t i = 0; i < f->r * f->s; i++) {
			int64_t r = i / f->s, s = i % f->s;
			int64_t iy = y * w->stride_y - w->pad_top + r * w->dilation_y;
			int64_t ix = x * w->stride_x - w->pad_left + s * w->dilation_x;

			if (iy < 0 || iy >= in->h || ix < 0 || ix >= in->w)
				continue;
			sum += (double)f->data[((k * f->c + c) * f->r + r) * f->s + s] *
			       (double)b->data[0][at(in, n, first + c, iy * in->w + ix)];
		}
	return sum;
}

static void check_conv(const struct bench *b)
{
	const struct fw_nn_tensor *out = &b->tensors[1];

	for (int64_t n = 0; n < out->n; n++)
		for (int64_t k = 0; k < out->c; k++)
			for (int64_t p = 0; p < out->h * out->w; p++) {
				double want = convolved(b, n, k, p / out->w, p % out->w);

				if (b->data[2])
					want += (double)b->data[2][at(out, n, k, p)];
				assert_near((double)b->data[1][at(out, n, k, p)],
					    activated(&b->step.act, want));
			}
}

struct conv_case {
	int64_t n, size, c, k, filter, stride, groups, dilation, strides[3];
	bool has_bias, has_residual;
	struct fw_nn_act act;
};

#define RELU                                                                                       \
	{                                                                                          \
		.kind = FW_NN_ACT_CLAMP, .low = 0, .high = INFINITY                                \
	}

static void set_conv(struct bench *b, const struct conv_case *t)
{
	int64_t pad = (t->filter - 1) * t->dilation / 2;
	int64_t out = (t->size - 1) / t->stride + 1; /* odd filters with that padding */
	const int64_t to[4] = { t->n, out, out, t->k };

	set_tensor(b, 0, (const int64_t[]){ t->n, t->size, t->size, t->c }, t->strides[0]);
	set_tensor(b, 1, to, t->strides[1]);
	if (t->has_residual)
		set_tensor(b, 2, to, t->strides[2]);
	b->step.kind = FW_NN_STEP_CONV;
	b->step.act = t->act;
	b->step.window = (struct fw_nn_window){
		.r = t->filter,
		.s = t->filter,
		.stride_y = t->stride,
		.stride_x = t->stride,
		.pad_top = pad,
		.pad_left = pad,
		.pad_bottom = pad,
		.pad_right = pad,
		.dilation_y = t->dilation,
		.dilation_x = t->dilation,
		.groups = t->groups,
	};
	b->step.weight = (struct fw_nn_weight){
		.data = random_floats(t->k * t->c / t->groups * t->filter * t->filter),
		.k = t->k,
		.c = t->c / t->groups,
		.r = t->filter,
		.s = t->filter,
	};
	if (t->has_bias)
		b->step.bias = (struct fw_nn_weight){ .data = random_floats(t->k), .k = t->k };
}

static const struct conv_case conv_cases[] = {
	{ 1, 14, 16, 32, 1, 1, 1, 1, { 0 }, true, false, RELU },
	{ 2, 9, 16, 32, 3, 1, 1, 1, { 0 }, true, true, RELU },
	{ 1, 13, 3, 16, 7, 2, 1, 1, { 0 }, true, false, RELU }, /* stem */
	{ 3, 7, 24, 40, 3, 2, 1, 1, { 0 }, false, false, { .kind = FW_NN_ACT_NONE } },
	{ 1, 9, 13, 29, 3, 1, 1, 1, { 0 }, true, true, RELU }, /* odd channels */
	{ 1, 9, 32, 32, 3, 1, 8, 1, { 0 }, true, false, RELU },
	{ 2, 9, 48, 48, 3, 1, 48, 1, { 0 }, true, false, RELU }, /* depthwise */
	{ 1, 9, 24, 24, 5, 2, 24, 1, { 0 }, true, false, { .kind = FW_NN_ACT_SWISH } },
	{ 1, 11, 16, 16, 3, 1, 1, 2, { 0 }, true, false, RELU },
	/* Parts of concatenations: the input, the output, the residual. */
	{ 2, 9, 16, 32, 3, 1, 1, 1, { 40, 72, 36 }, true, true, RELU },
	{ 1, 1, 16, 32, 1, 1, 1, 1, { 40, 72, 36 }, true, true, RELU },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_CLAMP, 0, 6, 0, 0 } },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_SIGMOID, 0, 0, 0, 0 } },
	{ 1,
	  5,
	  16,
	  16,
	  1,
	  1,
	  1,
	  1,
	  { 0 },
	  true,
	  true,
	  { FW_NN_ACT_HARD_SIGMOID, 0, 0, 0.2f, 0.5f } },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_HARD_SWISH, 0, 0, 0, 0 } },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_GELU, 0, 0, 0, 0 } },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_GELU_TANH, 0, 0, 0, 0 } },
	{ 1, 5, 16, 16, 1, 1, 1, 1, { 0 }, true, false, { FW_NN_ACT_TANH, 0, 0, 0, 0 } },
};

static void convolutions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(conv_cases) / sizeof(conv_cases[0]); i++) {
		struct bench b = { 0 };

		set_conv(&b, &conv_cases[i]);
		run(&b);
		check_conv(&b);
		finish(&b);
	}
}

struct gemm_case {
	int64_t n, h, c, k, area_h, area_w;
	bool transposed, has_residual;
};

static double multiplied(const struct bench *b, int64_t row, int64_t k)
{
	const struct fw_nn_weight *w = &b->step.weight;
	const struct fw_nn_tensor *in = &b->tensors[0];
	int64_t area = w->r * w->s, columns = w->c * area;
	double sum = (double)b->step.bias.data[k];

	for (int64_t j = 0; j < columns; j++) {
		int64_t index = w->transposed ? j * w->k + k : k * columns + j;
		/* A flattened map's columns are c, r, s, which is how data[] lies; else rows of pixels. */
		float x = area > 1 ? b->data[0][row * columns + j]
				   : b->data[0][at(in, row / in->h, j, row % in->h)];

		sum += (double)w->data[index] * (double)x;
	}
	return sum;
}

static void check_gemm(struct bench *b, const struct gemm_case *t)
{
	bool is_flat = t->area_h * t->area_w > 1;
	int64_t h = is_flat ? t->area_h : t->h, w = is_flat ? t->area_w : 1;
	const int64_t to[4] = { t->n, is_flat ? 1 : t->h, 1, t->k };
	const struct fw_nn_tensor *out = &b->tensors[1];

	set_tensor(b, 0, (const int64_t[]){ t->n, h, w, t->c }, 0);
	set_tensor(b, 1, to, 0);
	if (t->has_residual)
		set_tensor(b, 2, to, 0);
	b->step.kind = FW_NN_STEP_GEMM;
	b->step.weight = (struct fw_nn_weight){
		.data = random_floats(t->k * t->c * t->area_h * t->area_w),
		.k = t->k,
		.c = t->c,
		.r = t->area_h,
		.s = t->area_w,
		.transposed = t->transposed,
	};
	b->step.bias = (struct fw_nn_weight){ .data = random_floats(t->k), .k = t->k };
	run(b);
	for (int64_t row = 0; row < t->n * to[1]; row++)
		for (int64_t k = 0; k < t->k; k++) {
			int64_t i = at(out, row / out->h, k, row % out->h);
			double residual = b->data[2] ? (double)b->data[2][i] : 0;

			assert_near((double)b->data[1][i], multiplied(b, row, k) + residual);
		}
}

static void products(void **state)
{
	static const struct gemm_case cases[] = {
		{ 1, 1, 64, 10, 1, 1, false, false }, { 3, 1, 50, 33, 1, 1, true, false },
		{ 2, 5, 48, 24, 1, 1, true, true },   { 2, 1, 6, 9, 3, 2, false, false },
		{ 1, 1, 16, 32, 7, 7, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b = { 0 };

		check_gemm(&b, &cases[i]);
		finish(&b);
	}
}

static double pooled(const struct bench *b, int64_t n, int64_t c, const int64_t place[2])
{
	const struct fw_nn_window *w = &b->step.window;
	const struct fw_nn_tensor *in = &b->tensors[0];
	double sum = 0, most = -INFINITY;
	int64_t seen = 0;

	for (int64_t i = 0; i < w->r * w->s; i++) {
		int64_t y = place[0] * w->stride_y - w->pad_top + i / w->s;
		int64_t x = place[1] * w->stride_x - w->pad_left + i % w->s;

		if (y < 0 || y >= in->h || x < 0 || x >= in->w)
			continue;
		seen++;
		sum += (double)b->data[0][at(in, n, c, y * in->w + x)];
		most = fmax(most, (double)b->data[0][at(in, n, c, y * in->w + x)]);
	}
	if (b->step.kind == FW_NN_STEP_MAX_POOL)
		return most;
	return sum / (double)(w->counts_padding ? w->r * w->s : seen);
}

static void pools(void **state)
{
	static const struct {
		enum fw_nn_step_kind kind;
		int64_t c, stride;
		bool counts_padding;
	} cases[] = {
		{ FW_NN_STEP_MAX_POOL, 64, 0, false },
		{ FW_NN_STEP_MAX_POOL, 13, 20, false },
		{ FW_NN_STEP_AVERAGE_POOL, 32, 0, true },
		{ FW_NN_STEP_AVERAGE_POOL, 5, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b = { .step = { .kind = cases[i].kind } };
		const struct fw_nn_tensor *out = &b.tensors[1];

		set_tensor(&b, 0, (const int64_t[]){ 2, 9, 9, cases[i].c }, cases[i].stride);
		set_tensor(&b, 1, (const int64_t[]){ 2, 5, 5, cases[i].c }, cases[i].stride);
		b.step.window = (struct fw_nn_window){ 3, 3, 2, 2, 1, 1,
						       1, 1, 1, 1, 1, cases[i].counts_padding };
		run(&b);
		for (int64_t n = 0; n < out->n; n++)
			for (int64_t c = 0; c < out->c; c++)
				for (int64_t p = 0; p < 25; p++)
					assert_near((double)b.data[1][at(out, n, c, p)],
						    pooled(&b, n, c,
							   (const int64_t[]){ p / 5, p % 5 }));
		finish(&b);
	}
}

static void a_mean_over_all_pixels(void **state)
{
	struct bench b = { .step = { .kind = FW_NN_STEP_GLOBAL_AVERAGE } };

	(void)state;
	set_tensor(&b, 0, (const int64_t[]){ 2, 7, 5, 24 }, 0);
	set_tensor(&b, 1, (const int64_t[]){ 2, 1, 1, 24 }, 0);
	run(&b);
	for (int64_t i = 0; i < 48; i++) {
		double sum = 0;

		for (int64_t p = 0; p < 35; p++)
			sum += (double)b.data[0][i * 35 + p];
		assert_near((double)b.data[1][i], sum / 35);
	}
	finish(&b);
}

static void element_by_element(void **state)
{
	static const enum fw_nn_elementwise kinds[] = { FW_NN_ELEMENTWISE_NONE,
							FW_NN_ELEMENTWISE_ADD,
							FW_NN_ELEMENTWISE_MUL,
							FW_NN_ELEMENTWISE_SUB };

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		/* The second operand: one pixel of each sample; with the second half a strided part. */
		bool is_pixel = i & 1;
		struct bench b = { .step = { .kind = FW_NN_STEP_ELEMENTWISE,
					     .elementwise = kinds[i % 4],
					     .act = RELU } };
		const struct fw_nn_tensor *t = &b.tensors[0], *u = &b.tensors[2];

		set_tensor(&b, 0, (const int64_t[]){ 2, 3, 4, 20 }, i >= 8 ? 31 : 0);
		set_tensor(&b, 1, (const int64_t[]){ 2, 3, 4, 20 }, 0);
		if (kinds[i % 4] != FW_NN_ELEMENTWISE_NONE)
			set_tensor(&b, 2,
				   (const int64_t[]){ 2, is_pixel ? 1 : 3, is_pixel ? 1 : 4, 20 },
				   0);
		run(&b);
		for (int64_t e = 0; e < count(t); e++) {
			double x = (double)b.data[0][e];
			double y = !u->n ? 0 : (double)b.data[2][is_pixel ? e / 12 : e];

			x = b.step.elementwise == FW_NN_ELEMENTWISE_ADD   ? x + y
			    : b.step.elementwise == FW_NN_ELEMENTWISE_MUL ? x * y
			    : b.step.elementwise == FW_NN_ELEMENTWISE_SUB ? x - y
									  : x;
			assert_near((double)b.data[1][e], fmax(x, 0));
		}
		finish(&b);
	}
}

static void softmax_and_layer_norm(void **state)
{
	struct bench b = { .step = { .kind = FW_NN_STEP_SOFTMAX } };
	const int64_t rows[4] = { 3, 1, 1, 37 };

	(void)state;
	set_tensor(&b, 0, rows, 0);
	set_tensor(&b, 1, rows, 0);
	run(&b);
	for (int64_t n = 0; n < 3; n++) {
		double sum = 0;

		for (int64_t c = 0; c < 37; c++)
			sum += exp((double)b.data[0][n * 37 + c]);
		for (int64_t c = 0; c < 37; c++)
			assert_near((double)b.data[1][n * 37 + c],
				    exp((double)b.data[0][n * 37 + c]) / sum);
	}
	finish(&b);

	b = (struct bench){ .step = { .kind = FW_NN_STEP_LAYER_NORM, .epsilon = 1e-6f } };
	set_tensor(&b, 0, rows, 0);
	set_tensor(&b, 1, rows, 0);
	b.step.weight = (struct fw_nn_weight){ .data = random_floats(37), .k = 37 };
	b.step.bias = (struct fw_nn_weight){ .data = random_floats(37), .k = 37 };
	run(&b);
	for (int64_t n = 0; n < 3; n++) {
		const float *x = b.data[0] + n * 37;
		double mean = 0, variance = 0;

		for (int64_t c = 0; c < 37; c++)
			mean += (double)x[c] / 37;
		for (int64_t c = 0; c < 37; c++)
			variance += ((double)x[c] - mean) * ((double)x[c] - mean) / 37;
		for (int64_t c = 0; c < 37; c++)
			assert_near((double)b.data[1][n * 37 + c],
				    ((double)x[c] - mean) / sqrt(variance + 1e-6) *
						    (double)b.step.weight.data[c] +
					    (double)b.step.bias.data[c]);
	}
	finish(&b);
}

/* Element (n, token, channel) of the attention's input. */
static double token(const struct bench *b, int64_t n, int64_t t, int64_t c)
{
	return (double)b->data[0][at(&b->tensors[0], n, c, t)];
}

static double attended(const struct bench *b, int64_t n, int64_t t, int64_t c)
{
	int64_t tokens = b->tensors[0].h, all = b->tensors[1].c;
	int64_t width = all / b->step.heads, head = c / width * width;
	double sum = 0, total = 0;

	for (int64_t other = 0; other < tokens; other++) {
		double score = 0;

		for (int64_t i = head; i < head + width; i++)
			score += token(b, n, t, i) * token(b, n, other, all + i);
		score = exp(score * (double)b->step.scale);
		total += score;
		sum += score * token(b, n, other, 2 * all + c);
	}
	return sum / total;
}

static void attention(void **state)
{
	struct bench b = { .step = { .kind = FW_NN_STEP_ATTENTION, .heads = 3, .scale = 0.5f } };

	(void)state;
	set_tensor(&b, 0, (const int64_t[]){ 2, 11, 1, 72 }, 0);
	set_tensor(&b, 1, (const int64_t[]){ 2, 11, 1, 24 }, 0);
	run(&b);
	for (int64_t n = 0; n < 2; n++)
		for (int64_t c = 0; c < 24; c++)
			for (int64_t t = 0; t < 11; t++)
				assert_near((double)b.data[1][at(&b.tensors[1], n, c, t)],
					    attended(&b, n, t, c));
	finish(&b);
}

static void tokens_get_their_positions(void **state)
{
	struct bench b = { .step = { .kind = FW_NN_STEP_TOKENS } };

	(void)state;
	set_tensor(&b, 0, (const int64_t[]){ 3, 6, 1, 20 }, 0);
	set_tensor(&b, 1, (const int64_t[]){ 3, 7, 1, 20 }, 0);
	b.step.weight = (struct fw_nn_weight){ .data = random_floats(140), .k = 7, .c = 20 };
	run(&b);
	for (int64_t n = 0; n < 3; n++)
		for (int64_t c = 0; c < 20; c++)
			for (int64_t t = 0; t < 7; t++) {
				double x = t ? token(&b, n, t - 1, c) : 0;

				assert_near((double)b.data[1][at(&b.tensors[1], n, c, t)],
					    x + (double)b.step.weight.data[t * 20 + c]);
			}
	finish(&b);
}

static void copies(void **state)
{
	struct bench b = { .step = { .kind = FW_NN_STEP_COPY } };

	(void)state;
	/* A map flattened: n, c, y, x follow each other, as data[] has them. */
	set_tensor(&b, 0, (const int64_t[]){ 2, 3, 4, 5 }, 0);
	set_tensor(&b, 1, (const int64_t[]){ 2, 1, 1, 60 }, 0);
	run(&b);
	assert_memory_equal(b.data[0], b.data[1], 120 * sizeof(float));
	finish(&b);

	b = (struct bench){ .step = { .kind = FW_NN_STEP_COPY } };
	set_tensor(&b, 0, (const int64_t[]){ 2, 3, 4, 5 }, 7);
	set_tensor(&b, 1, (const int64_t[]){ 2, 3, 4, 5 }, 9);
	run(&b);
	assert_memory_equal(b.data[0], b.data[1], 120 * sizeof(float));
	finish(&b);
}

static void half_precision_is_refused(void **state)
{
	struct fw_nn_network_options options = { .precision = FW_NN_FP16 };
	struct fw_error err;
	void *network = NULL;

	(void)state;
	assert_int_equal(fw_nn_onednn.load(NULL, NULL, 0, &options, &network, &err),
			 FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "fp16"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions),
		cmocka_unit_test(products),
		cmocka_unit_test(pools),
		cmocka_unit_test(a_mean_over_all_pixels),
		cmocka_unit_test(element_by_element),
		cmocka_unit_test(softmax_and_layer_norm),
		cmocka_unit_test(attention),
		cmocka_unit_test(tokens_get_their_positions),
		cmocka_unit_test(copies),
		cmocka_unit_test(half_precision_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
