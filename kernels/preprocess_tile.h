#ifndef FW_KERNELS_PREPROCESS_TILE_H
#define FW_KERNELS_PREPROCESS_TILE_H
/*
 * One block's share of a picture: some rows of the crop. It converts the rows of the picture that they need to RGB and sums
 * them along the row, into memory of the block; then down the columns, and writes. "Rows" and "columns" are the
 * picture's; orientation is only a matter of where a pixel is written.
 */
#include "preprocess_pixels.h"

/* Pixels of the picture, and pixels summed along the row, that a block holds at a time: 32 KiB. */
#define FW_TILE_LINE     4096u
#define FW_TILE_RESIZED  4096u
#define FW_TILE_THREADS  256u
#define FW_TILE_WARPS    (FW_TILE_THREADS / FW_WARP)
#define FW_TILE_MAX_TAPS 1024u /* one pixel's share of either must fit */

struct fw_tile_memory {
	unsigned line[FW_TILE_LINE];
	unsigned resized[FW_TILE_RESIZED];
};

struct fw_tile {
	const unsigned *first_x, *first_y;
	const float *weights_x, *weights_y;
	unsigned char *out;        /* of the picture */
	unsigned top, bottom;      /* rows of the crop */
	unsigned j, end;           /* resized rows: of this part, of the tile */
	unsigned i, width, height; /* of this part, in resized pixels */
	unsigned x, y;             /* the first pixel of the picture that the part needs */
	unsigned span, rows;       /* and how many */
	unsigned group;            /* rows that are converted at a time */
};

/* Four values at a place of the crop, and zeros in the pixel's other channels. */
FW_DEVICE void fw_put(const struct fw_preprocess_args *a, unsigned char *out,
		      unsigned long long pixel, const float rgb[3])
{
	unsigned r = fw_narrow(rgb[0], a->precision), g = fw_narrow(rgb[1], a->precision);
	unsigned b = fw_narrow(rgb[2], a->precision);
	unsigned long long at = pixel * a->pixel_stride;

	if (a->precision && a->is_packed) {
		((unsigned long long *)out)[pixel] = (unsigned long long)b << 32 | g << 16 | r;
	} else if (a->precision) {
		unsigned short *to = (unsigned short *)out + at;

		to[0] = (unsigned short)r;
		to[1] = (unsigned short)g;
		to[2] = (unsigned short)b;
		for (unsigned c = 3; c < a->pixel_stride; c++)
			to[c] = 0;
	} else if (a->is_packed) {
		unsigned long long *to = (unsigned long long *)out + 2 * pixel;

		to[0] = (unsigned long long)g << 32 | r;
		to[1] = b;
	} else {
		unsigned *to = (unsigned *)out + at;

		to[0] = r;
		to[1] = g;
		to[2] = b;
		for (unsigned c = 3; c < a->pixel_stride; c++)
			to[c] = 0;
	}
}

/* The number of the crop's pixel in column x and row y of the picture's axes. */
FW_DEVICE unsigned long long fw_place_of(const struct fw_preprocess_args *a,
					 const struct fw_kernel_plan *plan, unsigned x, unsigned y)
{
	return plan->is_turned ? (unsigned long long)x * a->crop + y
			       : (unsigned long long)y * a->crop + x;
}

/* The resized pixel at a place of the crop; n_pixels or more: none. */
FW_DEVICE unsigned fw_resized_at(const struct fw_kernel_axis *axis, unsigned place)
{
	int i = ((int)place - axis->position) * axis->step;

	return i < 0 ? axis->n_pixels : (unsigned)i;
}

FW_DEVICE unsigned fw_clamped(int i, unsigned most)
{
	return i < 0 ? 0 : fw_min((unsigned)i, most);
}

FW_DEVICE void fw_tile_open(const struct fw_preprocess_args *a, const struct fw_kernel_plan *plan,
			    unsigned n, unsigned number, struct fw_tile *t)
{
	const struct fw_kernel_axis *down = &plan->axes[1];
	unsigned element = a->precision ? 2 : 4;
	int from, to;

	t->top = number * a->tile_rows;
	t->bottom = fw_min(t->top + a->tile_rows, a->crop);
	t->out = (unsigned char *)a->input +
		 (unsigned long long)n * a->crop * a->crop * a->pixel_stride * element;
	t->j = t->end = t->i = t->width = t->height = 0;
	if (!plan->is_sound || plan->kind == FW_KERNEL_TENSOR)
		return;
	t->first_x = fw_firsts_of(a, n, 0);
	t->first_y = fw_firsts_of(a, n, 1);
	t->weights_x = fw_weights_of(a, n, 0);
	t->weights_y = fw_weights_of(a, n, 1);
	from = down->step > 0 ? (int)t->top - down->position : down->position - (int)t->bottom + 1;
	to = from + (int)(t->bottom - t->top);
	t->j = fw_clamped(from, down->n_pixels);
	t->end = fw_clamped(to, down->n_pixels);
}

/* What is no picture: zeros for one that is not sound, black around one that is smaller than the crop. */
FW_DEVICE void fw_tile_surround(const struct fw_preprocess_args *a,
				const struct fw_kernel_plan *plan, const struct fw_tile *t,
				unsigned thread)
{
	const float zeros[3] = { 0, 0, 0 };
	unsigned long long pixels = (unsigned long long)(t->bottom - t->top) * a->crop;

	if (plan->is_sound &&
	    (plan->kind == FW_KERNEL_TENSOR ||
	     (plan->axes[0].n_pixels == a->crop && plan->axes[1].n_pixels == a->crop)))
		return;
	for (unsigned long long k = thread; k < pixels; k += FW_TILE_THREADS) {
		unsigned x = (unsigned)(k % a->crop), y = t->top + (unsigned)(k / a->crop);

		if (!plan->is_sound)
			fw_put(a, t->out, (unsigned long long)y * a->crop + x, zeros);
		else if (fw_resized_at(&plan->axes[0], x) >= plan->axes[0].n_pixels ||
			 fw_resized_at(&plan->axes[1], y) >= plan->axes[1].n_pixels)
			fw_put(a, t->out, fw_place_of(a, plan, x, y), a->shift);
	}
}

/* A tensor is the input already, in another order. */
FW_DEVICE void fw_tile_tensor(const struct fw_preprocess_args *a, const struct fw_kernel_plan *plan,
			      const struct fw_tile *t, unsigned thread)
{
	unsigned long long end = (unsigned long long)t->bottom * a->crop;

	if (!plan->is_sound || plan->kind != FW_KERNEL_TENSOR)
		return;
	for (unsigned long long k = (unsigned long long)t->top * a->crop + thread; k < end;
	     k += FW_TILE_THREADS) {
		float rgb[3];

		for (int c = 0; c < 3; c++)
			rgb[c] = ((const float *)plan->planes[c].data)[k];
		fw_put(a, t->out, k, rgb);
	}
}

/* Samples that n resized pixels from i on need. */
FW_DEVICE unsigned fw_reach(const struct fw_kernel_axis *axis, const unsigned *firsts, unsigned i,
			    unsigned n)
{
	return firsts[i + n - 1] + axis->n_taps - firsts[i];
}

/* As many rows of the tile as leave room for a warp's columns. */
FW_DEVICE void fw_tile_fit_height(const struct fw_kernel_plan *plan, struct fw_tile *t)
{
	const struct fw_kernel_axis *down = &plan->axes[1];

	t->height = t->end - t->j;
	while (t->height > 1 &&
	       fw_reach(down, t->first_y, t->j, t->height) > FW_TILE_RESIZED / FW_WARP)
		t->height = (t->height + 1) / 2;
	t->y = t->first_y[t->j];
	t->rows = fw_reach(down, t->first_y, t->j, t->height);
}

/* As many columns as both memories hold, in whole warps where possible. */
FW_DEVICE void fw_tile_fit_width(const struct fw_kernel_plan *plan, struct fw_tile *t)
{
	const struct fw_kernel_axis *along = &plan->axes[0];
	unsigned left = along->n_pixels - t->i, width = fw_min(left, FW_TILE_RESIZED / t->rows);

	while (width > 1 && fw_reach(along, t->first_x, t->i, width) > FW_TILE_LINE)
		width = (width + 1) / 2;
	if (width < left && width > FW_WARP)
		width -= width % FW_WARP;
	t->width = width;
	t->x = t->first_x[t->i];
	t->span = fw_reach(along, t->first_x, t->i, width);
	t->group = fw_min(t->rows, FW_TILE_LINE / t->span);
	/* A row for each warp, none of them idle. */
	if (t->group < t->rows && t->group > FW_TILE_WARPS)
		t->group -= t->group % FW_TILE_WARPS;
}

/* The next part of the tile; 0: there is none. */
FW_DEVICE int fw_tile_next(const struct fw_kernel_plan *plan, struct fw_tile *t)
{
	t->i += t->width;
	if (!t->height || t->i >= plan->axes[0].n_pixels) {
		t->j += t->height;
		t->i = 0;
		if (t->j >= t->end)
			return 0;
		fw_tile_fit_height(plan, t);
	}
	fw_tile_fit_width(plan, t);
	return 1;
}

/* A row of a part for each warp; where there are fewer rows than warps, several share one, each its columns. */
struct fw_share {
	unsigned row, column, step, parts; /* step: from one column of a thread to its next */
};

FW_DEVICE void fw_share_open(unsigned rows, unsigned thread, struct fw_share *s)
{
	s->parts = rows < FW_TILE_WARPS ? FW_TILE_WARPS / rows : 1;
	s->row = thread / FW_WARP / s->parts;
	s->column = thread / FW_WARP % s->parts * FW_WARP + thread % FW_WARP;
	s->step = s->parts * FW_WARP;
}

/* Warps that are left over have nothing to do. */
#define FW_FOR_ROWS(s, rows)                                                                       \
	for (; (s).row < (rows); (s).row += (s).parts == 1 ? FW_TILE_WARPS : (rows))

/* Phase 1: rows of the picture from `from` on to RGB. */
FW_DEVICE void fw_tile_convert(const struct fw_kernel_plan *plan, const struct fw_tile *t,
			       unsigned from, unsigned thread, struct fw_tile_memory *memory)
{
	unsigned rows = fw_min(t->group, t->rows - from);
	struct fw_share share;

	fw_share_open(rows, thread, &share);
	FW_FOR_ROWS(share, rows)
	{
		unsigned *line = memory->line + share.row * t->span;
		struct fw_source_row row;

		fw_open_row(plan, t->y + from + share.row, &row);
		for (unsigned x = share.column; x < t->span; x += share.step)
			line[x] = fw_pixel_of(plan, &row, t->x + x);
	}
}

/* Levels are never below 0, so cutting the fraction rounds half up, as PIL does. */
FW_DEVICE unsigned fw_round_levels(const float sum[3])
{
	return fw_pack((unsigned)(int)(sum[0] + 0.5f), (unsigned)(int)(sum[1] + 0.5f),
		       (unsigned)(int)(sum[2] + 0.5f));
}

FW_DEVICE void fw_add_weighed(float sum[3], unsigned rgb, float weight)
{
	sum[0] += (float)(rgb & 255) * weight;
	sum[1] += (float)(rgb >> 8 & 255) * weight;
	sum[2] += (float)(rgb >> 16) * weight;
}

/* Phase 2: the same rows, summed along the row. */
FW_DEVICE void fw_tile_filter(const struct fw_preprocess_args *a, const struct fw_kernel_plan *plan,
			      const struct fw_tile *t, unsigned from, unsigned thread,
			      struct fw_tile_memory *memory)
{
	unsigned rows = fw_min(t->group, t->rows - from);
	struct fw_share share;

	fw_share_open(rows, thread, &share);
	FW_FOR_ROWS(share, rows)
	{
		const unsigned *line = memory->line + share.row * t->span;
		unsigned *resized = memory->resized + (from + share.row) * t->width;

		for (unsigned i = share.column; i < t->width; i += share.step) {
			const float *weights = t->weights_x + t->i + i;
			const unsigned *in = line + (t->first_x[t->i + i] - t->x);
			float sum[3] = { 0, 0, 0 };

			for (unsigned k = 0; k < plan->axes[0].n_taps; k++)
				fw_add_weighed(sum, in[k],
					       weights[(unsigned long long)k * a->crop]);
			resized[i] = fw_round_levels(sum);
		}
	}
}

/* One pixel of the crop out of the resized rows that it is made of: column i of the part, resized row j. */
FW_DEVICE void fw_write_pixel(const struct fw_preprocess_args *a, const struct fw_kernel_plan *plan,
			      const struct fw_tile *t, unsigned i, unsigned j,
			      const struct fw_tile_memory *memory)
{
	const struct fw_kernel_axis *along = &plan->axes[0], *down = &plan->axes[1];
	const unsigned *in = memory->resized + (t->first_y[j] - t->y) * t->width + i;
	const float *weights = t->weights_y + j;
	float sum[3] = { 0, 0, 0 };
	unsigned x, y, levels;

	for (unsigned k = 0; k < down->n_taps; k++)
		fw_add_weighed(sum, in[k * t->width], weights[(unsigned long long)k * a->crop]);
	levels = fw_round_levels(sum);
	for (int c = 0; c < 3; c++)
		sum[c] = (float)(levels >> (8 * c) & 255) * a->scale[c] + a->shift[c];
	x = (unsigned)(along->position + (int)(t->i + i) * along->step);
	y = (unsigned)(down->position + (int)j * down->step);
	fw_put(a, t->out, fw_place_of(a, plan, x, y), sum);
}

/* Phase 3: down the columns, normalised, to the crop. */
FW_DEVICE void fw_tile_write(const struct fw_preprocess_args *a, const struct fw_kernel_plan *plan,
			     const struct fw_tile *t, unsigned thread,
			     const struct fw_tile_memory *memory)
{
	struct fw_share share;

	fw_share_open(t->height, thread, &share);
	FW_FOR_ROWS(share, t->height)
	{
		for (unsigned i = share.column; i < t->width; i += share.step)
			fw_write_pixel(a, plan, t, i, t->j + share.row, memory);
	}
}

#endif
