#ifndef FW_KERNELS_PREPROCESS_PIXELS_H
#define FW_KERNELS_PREPROCESS_PIXELS_H
/* Planes to RGB, one pixel at a time: the integers of src/pipeline/preprocess_rows.c, which are libjpeg-turbo's. */
#include "preprocess_plan.h"

/* Where row y of the picture lies in each plane, and the row beyond that its samples are mixed with. */
struct fw_source_row {
	const unsigned char *near[3], *far[3];
	unsigned y;
};

FW_DEVICE const unsigned char *fw_plane_row(const struct fw_kernel_source *s, unsigned y)
{
	return (const unsigned char *)s->data +
	       (unsigned long long)fw_min(y, s->height - 1) * s->stride;
}

FW_DEVICE void fw_open_row(const struct fw_kernel_plan *plan, unsigned y, struct fw_source_row *row)
{
	row->y = y;
	for (int i = 0; i < 3; i++) {
		const struct fw_kernel_source *s = &plan->planes[i];
		unsigned near = y >> s->v_shift, far = y % 2 ? near + 1 : near - (near > 0);

		if (i && (plan->kind == FW_KERNEL_GREY || plan->is_interleaved))
			return;
		row->near[i] = fw_plane_row(s, near);
		row->far[i] = fw_plane_row(s, far);
	}
}

/* A sample at the picture's resolution: "fancy" upsampling where libjpeg does it. */
FW_DEVICE unsigned fw_sample(const struct fw_kernel_source *s, const unsigned char *near,
			     const unsigned char *far, unsigned x, unsigned y)
{
	if (s->h_shift == 0 && s->v_shift == 0)
		return near[x];
	if (s->h_shift == 1 && s->v_shift <= 1 && s->width > 2) {
		unsigned c = x / 2, other = x % 2 ? fw_min(c + 1, s->width - 1) : c - (c > 0);

		if (s->v_shift == 1)
			return (3u * (3u * near[c] + far[c]) + 3u * near[other] + far[other] + 8 -
				x % 2) >>
			       4;
		return (3u * near[c] + near[other] + 1 + x % 2) >> 2;
	}
	if (s->h_shift == 0 && s->v_shift == 1)
		return (3u * near[x] + far[x] + 1 + y % 2) >> 2;
	return near[x >> s->h_shift];
}

FW_DEVICE unsigned fw_clamp_level(int fixed)
{
	int level = fixed >> 16;

	return (unsigned)(level < 0 ? 0 : level > 255 ? 255 : level);
}

FW_DEVICE unsigned fw_pack(unsigned r, unsigned g, unsigned b)
{
	return r | g << 8 | b << 16;
}

/* 1.402, 0.71414, 0.34414 and 1.772 of JFIF, times 65536, as libjpeg rounds them. */
FW_DEVICE unsigned fw_rgb_of(unsigned luma, unsigned cb_sample, unsigned cr_sample)
{
	int l = ((int)luma << 16) + 32768, cb = (int)cb_sample - 128, cr = (int)cr_sample - 128;

	return fw_pack(fw_clamp_level(l + 91881 * cr), fw_clamp_level(l - 22554 * cb - 46802 * cr),
		       fw_clamp_level(l + 116130 * cb));
}

/* R, G, B from the lowest byte on. */
FW_DEVICE unsigned fw_pixel_of(const struct fw_kernel_plan *plan, const struct fw_source_row *row,
			       unsigned x)
{
	const struct fw_kernel_source *s = plan->planes;
	unsigned first, second, third;

	if (plan->is_interleaved) {
		const unsigned char *rgb = row->near[0] + (unsigned long long)x * 3;

		return fw_pack(rgb[0], rgb[1], rgb[2]);
	}
	first = row->near[0][x];
	if (plan->kind == FW_KERNEL_GREY)
		return fw_pack(first, first, first);
	second = fw_sample(&s[1], row->near[1], row->far[1], x, row->y);
	third = fw_sample(&s[2], row->near[2], row->far[2], x, row->y);
	if (plan->kind == FW_KERNEL_RGB)
		return fw_pack(first, second, third);
	return fw_rgb_of(first, second, third);
}

#endif
