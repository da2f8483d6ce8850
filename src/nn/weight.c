/* The constants of a plan in the order in which NHWC engines want them. */
#include "nn/plan.h"

bool fw_nn_weight_same(const struct fw_nn_weight *a, const struct fw_nn_weight *b)
{
	return a->id == b->id && a->k == b->k && a->c == b->c && a->r == b->r && a->s == b->s &&
	       a->transposed == b->transposed;
}

void fw_nn_weight_rows(const struct fw_nn_weight *weight, int64_t first, int64_t n, float *out)
{
	int64_t area = weight->r * weight->s, columns = area * weight->c;
	/* From one column of a row to the next, and from row to row. */
	int64_t step = weight->transposed ? weight->k : 1;
	int64_t row = weight->transposed ? 1 : columns;

	for (int64_t k = first; k < first + n; k++)
		for (int64_t pixel = 0; pixel < area; pixel++)
			for (int64_t c = 0; c < weight->c; c++)
				*out++ = weight->data[k * row + (c * area + pixel) * step];
}
