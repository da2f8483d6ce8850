/* Brings constants into the order and type that the engines read, and onto the GPU. */
#include "nn/cudnn_weights.h"

#include <stdlib.h>
#include <string.h>

struct upload {
	struct fw_nn_weight weight;
	enum fw_nn_form form;
	int64_t c;
	uint64_t address;
};

void fw_nn_weights_init(struct fw_nn_weights *weights, const struct fw_nn_gpu *gpu,
			enum fw_nn_precision precision)
{
	*weights = (struct fw_nn_weights){ .gpu = gpu,
					   .precision = precision,
					   .uploads = FW_VEC(struct upload) };
}

/* IEEE half: 5 bits of exponent, 10 of mantissa. */
static uint16_t half_of(float f)
{
	uint32_t bits, sign, magnitude, shift, rest;

	memcpy(&bits, &f, sizeof(bits));
	sign = (bits >> 16) & 0x8000;
	magnitude = bits & 0x7fffffff;
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 0x477ff000) /* 65520 and more round to infinity */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude >= 0x38800000) { /* normal: 2^-14 and more */
		magnitude += 0xfff + ((magnitude >> 13) & 1);
		return (uint16_t)(sign | ((magnitude - 0x38000000) >> 13));
	}
	if (magnitude < 0x33000000) /* under 2^-25 */
		return (uint16_t)sign;
	shift = 126 - (magnitude >> 23);
	magnitude = (magnitude & 0x7fffff) | 0x800000;
	rest = magnitude & ((1u << shift) - 1);
	magnitude >>= shift;
	if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (magnitude & 1)))
		magnitude++;
	return (uint16_t)(sign | magnitude);
}

static uint16_t bfloat_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)((bits >> 16) | 0x40);
	return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void fw_nn_narrow(enum fw_nn_precision precision, const float *from, size_t count, void *to)
{
	uint16_t *out = to;

	switch (precision) {
	case FW_NN_FP32: memcpy(to, from, count * sizeof(*from)); return;
	case FW_NN_FP16:
		for (size_t i = 0; i < count; i++)
			out[i] = half_of(from[i]);
		return;
	case FW_NN_BFLOAT16:
		for (size_t i = 0; i < count; i++)
			out[i] = bfloat_of(from[i]);
		return;
	}
}

/* Rows of (r, s, c) with more channels than the weight has: the rest stays zero. */
static void widen_channels(const struct fw_nn_weight *w, int64_t c, const float *rows, float *out)
{
	for (int64_t i = 0; i < w->k * w->r * w->s; i++)
		memcpy(out + i * c, rows + i * w->c, (size_t)w->c * sizeof(*out));
}

static void interleave(const struct fw_nn_weight *w, const float *rows, float *out)
{
	const int64_t window = w->r * w->s;

	for (int64_t k = 0; k < w->k; k++)
		for (int64_t i = 0; i < window; i++)
			out[i * w->k + k] = rows[k * window + i];
}

/* Fills out, which is zero, with the weight in its form. */
static fw_status arrange(const struct fw_nn_weight *w, enum fw_nn_form form, int64_t c, float *out,
			 struct fw_error *err)
{
	const size_t count = (size_t)(w->k * w->r * w->s * w->c);
	float *rows;

	if (!w->data)
		return FW_OK;
	if (form == FW_NN_FORM_VECTOR) {
		memcpy(out, w->data, (size_t)w->k * sizeof(*out));
		return FW_OK;
	}
	if (form == FW_NN_FORM_ROWS && c == w->c) {
		fw_nn_weight_rows(w, 0, w->k, out);
		return FW_OK;
	}
	rows = malloc(count * sizeof(*rows));
	if (!rows)
		return fw_fail_nomem(err, count * sizeof(*rows));
	fw_nn_weight_rows(w, 0, w->k, rows);
	if (form == FW_NN_FORM_CHANNELS)
		interleave(w, rows, out);
	else
		widen_channels(w, c, rows, out);
	free(rows);
	return FW_OK;
}

static size_t elements(const struct upload *u)
{
	const struct fw_nn_weight *w = &u->weight;

	if (u->form == FW_NN_FORM_VECTOR)
		return (size_t)w->k;
	return (size_t)(w->k * w->r * w->s * (u->form == FW_NN_FORM_ROWS ? u->c : 1));
}

static fw_status upload(struct fw_nn_weights *weights, struct upload *u, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = weights->gpu;
	const size_t count = elements(u), bytes = count * fw_nn_precision_bytes(weights->precision);
	float *arranged;
	void *narrowed;
	fw_status status;

	if (!gpu->has_context) /* planning without a GPU */
		return FW_OK;
	arranged = calloc(count ? count : 1, sizeof(*arranged));
	narrowed = malloc(bytes ? bytes : 1);
	if (!arranged || !narrowed)
		status = fw_fail_nomem(err, count * sizeof(*arranged));
	else
		status = arrange(&u->weight, u->form, u->c, arranged, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, bytes, "a weight", &u->address, err);
	if (!status) {
		fw_nn_narrow(weights->precision, arranged, count, narrowed);
		status = fw_nn_gpu_check(
			gpu, gpu->cuda.memcpy_host_to_device(u->address, narrowed, bytes),
			"cuMemcpyHtoD of a weight", err);
		weights->bytes += bytes;
	}
	free(arranged);
	free(narrowed);
	return status;
}

static bool same(const struct upload *a, const struct upload *b)
{
	if (a->form != b->form || a->c != b->c || a->weight.k != b->weight.k ||
	    !a->weight.data != !b->weight.data)
		return false;
	return !a->weight.data || fw_nn_weight_same(&a->weight, &b->weight);
}

fw_status fw_nn_weights_get(struct fw_nn_weights *weights, const struct fw_nn_weight *weight,
			    enum fw_nn_form form, int64_t c, uint64_t *address,
			    struct fw_error *err)
{
	struct upload wanted = { .weight = *weight, .form = form, .c = c }, *known;
	fw_status status;

	known = weights->uploads.data;
	for (size_t i = 0; i < weights->uploads.len; i++)
		if (same(&known[i], &wanted)) {
			*address = known[i].address;
			return FW_OK;
		}
	known = fw_vec_push(&weights->uploads);
	if (!known)
		return fw_fail_nomem(err, sizeof(*known));
	status = upload(weights, &wanted, err);
	*known = wanted;
	*address = wanted.address;
	return status;
}

void fw_nn_weights_release(struct fw_nn_weights *weights)
{
	struct upload *uploads = weights->uploads.data;

	for (size_t i = 0; i < weights->uploads.len; i++)
		fw_nn_gpu_free(weights->gpu, uploads[i].address); /* 0 without a GPU */
	fw_vec_release(&weights->uploads);
}
