#ifndef FW_BINARY_READER_H
#define FW_BINARY_READER_H

#include "base/arena.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "binary/span.h"

/* A kernel as read, with what is needed while its image is read and when equal ones are folded. */
struct fw_found {
	struct fw_kernel kernel;
	uint64_t hash; /* of the name */
	uint32_t symbol, section;
};

/* How the bytes of an image are stored. */
enum fw_packing { FW_PACKING_NONE, FW_PACKING_LZ4, FW_PACKING_ZSTD };

/* An image found in a file, and its kernels once read. */
struct fw_job {
	struct fw_image image;
	struct fw_span packed;
	enum fw_packing packing;
	/* Where its kernels are: fw_reader.found of which worker, from where. */
	unsigned worker;
	size_t first;
};

/* What one worker owns. The results stay in found and arena; the rest is scratch. One thread. */
struct fw_reader {
	struct fw_vec found; /* struct fw_found */
	struct fw_arena arena;
	struct fw_vec slots; /* uint32_t */
	void *zstd;
	/* For the image being unpacked; its owner is the schedule. */
	unsigned char *buffer;
	size_t buffer_bytes;
	/* Names must be copied: the image's bytes go away. */
	bool copies_names;
};

/* A new kernel with every figure unknown; NULL when memory is out. */
struct fw_found *fw_reader_add(struct fw_reader *reader, const struct fw_image *image);

/* The name as it must be kept; NULL when memory is out. */
const char *fw_reader_name(struct fw_reader *reader, const char *name, size_t len);

/*
 * Read the kernels of one image from its unpacked bytes into reader->found and complete image.
 * On failure what was found before stays.
 */
fw_status fw_cubin_read(struct fw_reader *reader, struct fw_image *image, struct fw_span file,
			struct fw_error *err);
fw_status fw_ptx_read(struct fw_reader *reader, struct fw_image *image, struct fw_span text,
		      struct fw_error *err);

/* Whether text begins as PTX must: comments, then .version. */
bool fw_is_ptx(struct fw_span text);

#endif
