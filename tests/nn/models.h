#ifndef TESTS_NN_MODELS_H
#define TESTS_NN_MODELS_H
/* Known networks for 224 x 224 images, as their papers have them, batch norms folded. */
#include "build.h"

static inline void model_resnet50(struct build *b)
{
	static const int64_t blocks[] = { 3, 4, 6, 3 };
	uint32_t x;

	build_start(b, 512 * 512 * 9);
	x = build_relu(b, build_conv(b, build_image(b, 3, 224, 224), 64, 7, 2, 1));
	x = build_pool(b, FW_NN_MAX_POOL, x, 3, 2, 1, false);
	for (int stage = 0; stage < 4; stage++)
		for (int64_t i = 0; i < blocks[stage]; i++) {
			int64_t width = 64 << stage, stride = i || !stage ? 1 : 2;
			uint32_t y = build_relu(b, build_conv(b, x, width, 1, 1, 1));

			y = build_relu(b, build_conv(b, y, width, 3, stride, 1));
			y = build_conv(b, y, 4 * width, 1, 1, 1);
			if (!i)
				x = build_conv(b, x, 4 * width, 1, stride, 1);
			x = build_relu(b, build_same(b, FW_NN_ADD, y, x));
		}
	build_gemm(b, build_flatten(b, build_mean(b, x)), 1000);
}

static inline void model_vgg16(struct build *b)
{
	static const int64_t widths[] = { 64, 64,  0,   128, 128, 0,   256, 256, 256,
					  0,  512, 512, 512, 0,   512, 512, 512, 0 };
	uint32_t x;

	build_start(b, (size_t)25088 * 4096);
	x = build_image(b, 3, 224, 224);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		x = widths[i] ? build_relu(b, build_conv(b, x, widths[i], 3, 1, 1))
			      : build_pool(b, FW_NN_MAX_POOL, x, 2, 2, 0, false);
	x = build_relu(b, build_gemm(b, build_flatten(b, x), 4096));
	x = build_relu(b, build_gemm(b, x, 4096));
	build_gemm(b, x, 1000);
}

static inline uint32_t model_fire(struct build *b, uint32_t x, int64_t squeeze, int64_t expand)
{
	uint32_t parts[2];

	x = build_relu(b, build_conv(b, x, squeeze, 1, 1, 1));
	parts[0] = build_relu(b, build_conv(b, x, expand, 1, 1, 1));
	parts[1] = build_relu(b, build_conv(b, x, expand, 3, 1, 1));
	return build_concat(b, 2, parts);
}

/* SqueezeNet 1.1 after its stem, which has no padding: here it has, and the maps are 56 instead of 55. */
static inline void model_squeezenet(struct build *b)
{
	static const int64_t squeeze[] = { 16, 16, 32, 32, 48, 48, 64, 64 };
	uint32_t x;

	build_start(b, 512 * 1000);
	x = build_relu(b, build_conv(b, build_image(b, 3, 224, 224), 64, 3, 2, 1));
	for (int i = 0; i < 8; i++) {
		if (i == 0 || i == 2 || i == 4)
			x = build_pool(b, FW_NN_MAX_POOL, x, 3, 2, 0, true);
		x = model_fire(b, x, squeeze[i], 4 * squeeze[i]);
	}
	x = build_relu(b, build_conv(b, x, 1000, 1, 1, 1));
	build_flatten(b, build_mean(b, x));
}

static inline void model_mobilenetv2(struct build *b)
{
	static const int64_t rows[][4] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 }, { 6, 32, 3, 2 },
					   { 6, 64, 4, 2 }, { 6, 96, 3, 1 }, { 6, 160, 3, 2 },
					   { 6, 320, 1, 1 } };
	uint32_t x;

	build_start(b, 1280 * 1000);
	x = build_clip(b, build_conv(b, build_image(b, 3, 224, 224), 32, 3, 2, 1), 0, 6);
	for (int row = 0; row < 7; row++)
		for (int64_t i = 0; i < rows[row][2]; i++) {
			int64_t c = build_dims(b, x)[1], wide = c * rows[row][0];
			uint32_t y = x;

			if (wide != c)
				y = build_clip(b, build_conv(b, y, wide, 1, 1, 1), 0, 6);
			y = build_clip(b, build_conv(b, y, wide, 3, i ? 1 : rows[row][3], wide), 0,
				       6);
			y = build_conv(b, y, rows[row][1], 1, 1, 1);
			x = i ? build_same(b, FW_NN_ADD, x, y) : y;
		}
	x = build_clip(b, build_conv(b, x, 1280, 1, 1, 1), 0, 6);
	build_gemm(b, build_flatten(b, build_mean(b, x)), 1000);
}

/* One dense block of n layers and a transition, as in DenseNet: each layer reads all that is before it. */
static inline void model_dense(struct build *b, uint32_t n)
{
	uint32_t parts[32], x;

	build_start(b, 512 * 512 * 9);
	parts[0] = build_relu(b, build_conv(b, build_image(b, 3, 32, 32), 64, 3, 1, 1));
	for (uint32_t i = 1; i <= n; i++) {
		x = build_concat(b, i, parts);
		x = build_relu(
			b, build_same(b, FW_NN_MUL, x,
				      build_floats(b, 3, DIMS(build_dims(b, x)[1], 1, 1), NULL)));
		x = build_relu(b, build_conv(b, x, 128, 1, 1, 1));
		parts[i] = build_conv(b, x, 32, 3, 1, 1);
	}
	x = build_relu(b, build_conv(b, build_concat(b, n + 1, parts), 128, 1, 1, 1));
	build_gemm(b, build_flatten(b, build_pool(b, FW_NN_AVERAGE_POOL, x, 2, 2, 0, false)), 10);
}

/* Convolution, swish, squeeze and excite, as in EfficientNet. */
static inline void model_squeeze_excite(struct build *b)
{
	uint32_t x, s;

	build_start(b, 64 * 64 * 9);
	x = build_conv(b, build_image(b, 3, 16, 16), 32, 3, 1, 1);
	x = build_same(b, FW_NN_MUL, x, build_same(b, FW_NN_SIGMOID, x, FW_NN_NONE));
	s = build_relu(b, build_conv(b, build_mean(b, x), 8, 1, 1, 1));
	s = build_same(b, FW_NN_SIGMOID, build_conv(b, s, 32, 1, 1, 1), FW_NN_NONE);
	x = build_same(b, FW_NN_MUL, x, s);
	build_gemm(b, build_flatten(b, build_mean(b, build_conv(b, x, 16, 1, 1, 1))), 10);
}

#endif
