/* Which image of a container a GPU would load. */
#include "binary/binary.h"

#include <stdio.h>
#include <string.h>

const char *fw_target_text(struct fw_target target, char text[FW_TARGET_TEXT])
{
	if (target.cc < 0)
		snprintf(text, FW_TARGET_TEXT, "?");
	else
		snprintf(text, FW_TARGET_TEXT, "%d%.1s", target.cc, &target.suffix);
	return text;
}

/*
 * CUDA C++ Programming Guide, "Binary Compatibility": not promised between Tegra and other chips, nor
 * among Tegra chips. 10.1 is the name of 11.0 before CUDA 13.
 */
static bool is_tegra(int cc)
{
	return cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 101;
}

/* How well a cubin serves: 0 not at all; more is better. */
static int cubin_rank(struct fw_target target, int cc)
{
	bool equal = target.cc == cc;

	if (target.cc < 0 || target.cc / 10 != cc / 10 || target.cc > cc)
		return 0;
	if (!equal && (target.suffix == 'a' || is_tegra(cc) || is_tegra(target.cc)))
		return 0;
	/* Of the same version the more special code was written to be preferred. */
	return target.cc * 4 + (target.suffix == 'a' ? 3 : target.suffix == 'f' ? 2 : 1);
}

static int ptx_rank(struct fw_target target, int cc)
{
	if (target.cc < 0 || target.cc > cc || (target.suffix == 'a' && target.cc != cc) ||
	    (target.suffix == 'f' && target.cc / 10 != cc / 10))
		return 0;
	return target.cc * 4 + (target.suffix == 'a' ? 3 : target.suffix == 'f' ? 2 : 1);
}

/* Any cubin that runs is taken before any PTX. */
static long rank(const struct fw_image *image, int cc)
{
	if (image->is_relocatable)
		return 0;
	if (image->kind == FW_IMAGE_CUBIN) {
		int n = cubin_rank(image->target, cc);

		return n ? (1L << 20) + n : 0;
	}
	return image->kind == FW_IMAGE_PTX ? ptx_rank(image->target, cc) : 0;
}

/* Sets load of the images from first on, which are alternatives; returns where the next ones begin. */
static size_t choose_one(const struct fw_binary *binary, int cc, size_t first, enum fw_load *load)
{
	const struct fw_image *images = binary->images;
	size_t end = first, best = first;

	for (; end < binary->image_count && images[end].container == images[first].container;
	     end++) {
		load[end] = FW_LOAD_NOT;
		if (rank(&images[end], cc) > rank(&images[best], cc))
			best = end;
	}
	if (rank(&images[best], cc))
		load[best] = images[best].kind == FW_IMAGE_CUBIN ? FW_LOAD_CUBIN : FW_LOAD_JIT;
	return end;
}

/* "libx.a:k.o" of "libx.a:k.o:.nv_fatbin". */
static size_t file_len(const struct fw_image *image)
{
	const char *colon = strrchr(image->source, ':');

	return colon ? (size_t)(colon - image->source) : strlen(image->source);
}

static bool is_same_file(const struct fw_image *a, const struct fw_image *b)
{
	size_t len = file_len(a);

	return file_len(b) == len && !memcmp(a->source, b->source, len);
}

/* Programs built with -rdc=true keep in this section what the device linker was given. */
static bool is_link_input(const struct fw_image *image)
{
	return !strcmp(image->source + file_len(image), ":__nv_relfatbin");
}

/*
 * The driver compiles and links the PTX of the linker's input only where the program has no linked
 * code for the GPU (nvcc manual, "JIT linking").
 */
static void leave_link_inputs(const struct fw_binary *binary, enum fw_load *load)
{
	size_t first = 0;

	while (first < binary->image_count) {
		const struct fw_image *images = binary->images;
		bool has_linked = false;
		size_t end = first;

		for (; end < binary->image_count && is_same_file(&images[first], &images[end]);
		     end++)
			has_linked |= load[end] == FW_LOAD_CUBIN;
		for (; first < end; first++)
			if (has_linked && is_link_input(&images[first]))
				load[first] = FW_LOAD_NOT;
	}
}

void fw_binary_choose(const struct fw_binary *binary, int cc, enum fw_load *load)
{
	/* Images of one container stand together, and those of one file. */
	for (size_t i = 0; i < binary->image_count;)
		i = choose_one(binary, cc, i, load);
	leave_link_inputs(binary, load);
}
