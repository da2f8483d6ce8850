#ifndef FW_BINARY_BINARY_H
#define FW_BINARY_BINARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernels of compiled CUDA code, read from any file that can hold them: cubins, fatbins, PTX text,
 * host objects, executables, libraries, archives, wheels (zip), and folders of these. No GPU, no CUDA.
 * docs/format/cubin.md says where each figure sits in the bytes.
 *
 * Numbers: -1 (FW_UNKNOWN) is "the bytes do not say"; a 0 is a real zero.
 */
#define FW_UNKNOWN (-1)

/* What code was compiled for: sm_90a is {90, 'a'}. */
struct fw_target {
	/* 10 * major + minor of the compute capability. */
	int cc;
	/* 'a' this chip only, 'f' its family, 0 neither. */
	char suffix;
};

/* "90a"; returns text. */
#define FW_TARGET_TEXT 16
const char *fw_target_text(struct fw_target target, char text[FW_TARGET_TEXT]);

enum fw_image_kind {
	FW_IMAGE_CUBIN,
	FW_IMAGE_PTX,
	FW_IMAGE_LTO,   /* compiler intermediate code: counted, not read */
	FW_IMAGE_OTHER, /* a kind of fatbin entry not known: counted, not read */
	FW_IMAGE_KIND_COUNT
};

/* One piece of device code for one target. */
struct fw_image {
	/* "libx.a:k.o:.nv_fatbin", never NULL; where the fatbin begins in that file or member; its entry. */
	const char *source;
	uint64_t offset;
	uint32_t entry;
	/* Images of one number are alternatives: the driver loads one of them. */
	uint32_t container;
	enum fw_image_kind kind;
	/* cc is FW_UNKNOWN where the image could not be read. */
	struct fw_target target;
	/* Cubin: 7 (CUDA 12 and before) or 8 (CUDA 13); else FW_UNKNOWN. */
	int abi;
	/* Cubin: of CUDA, 130 is 13.0. PTX: version of the language, 90 is 9.0. */
	int toolkit, ptx_version;
	/* "13.0.88" where recorded, else NULL. */
	const char *compiler;
	/* Input of the device linker: figures are provisional. */
	bool is_relocatable, is_compressed;
	/* As loaded, after decompression. */
	uint64_t bytes;
	/* Range in fw_binary.kernel_of_image. */
	uint32_t first_kernel, kernel_count;
	/* Why it was not read to its end; NULL: it was. */
	const char *error;
};

/* One kernel for one target. Dimensions that the code does not fix are FW_UNKNOWN in all three. */
struct fw_kernel {
	/* As the linker knows it; fw_demangle (base/demangle.h) makes it readable. */
	const char *name;
	struct fw_target target;
	/* FW_IMAGE_CUBIN or FW_IMAGE_PTX. */
	enum fw_image_kind kind;
	/* The first image that holds it; how many kernels, equal in all that follows, were folded into it. */
	uint32_t image, copies;
	/* From relocatable code: the device linker may change the figures. */
	bool is_provisional;
	/* Per thread at launch; PTX: unknown. */
	int registers;
	/* The most the compiler was allowed; 255: no cap was asked for. */
	int register_cap;
	/* Blocks per SM from launch bounds; only PTX says. */
	int min_blocks;
	/* Bytes a block, without the driver's reserve of 1 KB. */
	int static_smem;
	/* 0 or 1; only PTX says. */
	int uses_dynamic_smem;
	/* Named barriers a block holds. */
	int barriers;
	/* Launch bounds, and the block size that is the only one allowed. */
	int max_threads[3], required_threads[3];
	/* Blocks a cluster where the code fixes it, and the most it may have. */
	int cluster[3], max_cluster_rank;
	/* Must be launched in clusters; the grid is counted in clusters. */
	bool has_explicit_cluster, blocks_are_clusters;
	/* Bytes a thread: with callees (unknown before linking, or by recursion), and FRAME_SIZE as stored. */
	int stack, frame;
	/* Loads and stores of spilled registers; ABI 7, PTX: unknown. */
	int spill_instructions;
	/* 1: warps trade registers at run time; 0 not. */
	int setmaxnreg;
	/* Tensor memory with 1 or 2 CTAs a group; 0 not used. */
	int tcgen05;
	/* Virtual resources a block holds (CC >= 10). */
	int vrc;
};

/* Something that could not be read; the rest was. */
struct fw_binary_problem {
	/* As in fw_image, or a path. */
	const char *source;
	fw_status code;
	const char *message;
};

/* All that was found. Immutable; every pointer lives until fw_binary_close. */
struct fw_binary {
	/* In the order of images, then of the symbol table. */
	const struct fw_kernel *kernels;
	size_t kernel_count;
	/* Files by name, then by offset: the same on every run. */
	const struct fw_image *images;
	size_t image_count;
	/* Indices into kernels; see fw_image.first_kernel. instances: its length, kernels before folding. */
	const uint32_t *kernel_of_image;
	size_t instances;
	const struct fw_binary_problem *problems;
	size_t problem_count;
	/* Images of each kind. */
	size_t kinds[FW_IMAGE_KIND_COUNT];
	/* Files and members read; those in folders and wheels that are of no kind that holds kernels. */
	size_t files, files_skipped;
	/* Mapped from the paths given. */
	uint64_t bytes;
};

struct fw_binary_options {
	/* 0: as many as the processors that this process may use. */
	unsigned threads;
	/* List PTX images, but do not read their kernels. */
	bool without_ptx;
	/* Bytes of one decompressed image; 0: 512 MiB. */
	uint64_t max_unpacked;
	/* Bytes of one inflated wheel member, kept on disk, not in memory; 0: 8 GiB. */
	uint64_t max_member;
};

/*
 * Reads count paths, options may be NULL. A path that cannot be opened or is of no known kind fails;
 * damage inside is a problem in the result. Folders are walked to the end, each file once. Frees with
 * fw_binary_close.
 */
fw_status fw_binary_open(struct fw_binary **binary, const char *const *paths, size_t count,
			 const struct fw_binary_options *options, struct fw_error *err);

/* The same for bytes in memory, which must outlive the result; name stands for the path. */
fw_status fw_binary_open_bytes(struct fw_binary **binary, const void *bytes, size_t size,
			       const char *name, const struct fw_binary_options *options,
			       struct fw_error *err);

void fw_binary_close(struct fw_binary *binary); /* NULL is accepted */

/*
 * What a GPU would do with an image: leave it (another of its container serves better, or none fits),
 * run it as it is, or compile it (PTX: registers are unknown until then).
 */
enum fw_load { FW_LOAD_NOT, FW_LOAD_CUBIN, FW_LOAD_JIT };

/*
 * Fills load, one element for each image, for a GPU of compute capability cc (90: 9.0). Of each
 * container the driver takes the cubin of the same major version with the highest minor one that is
 * not above the GPU's ('a': equal, 'f': same family; Tegra chips: equal); else the newest PTX that
 * is not above it. Relocatable images are never loaded: they are inputs of the device linker, whose PTX
 * (__nv_relfatbin) is left too where the same file has linked code for the GPU.
 */
void fw_binary_choose(const struct fw_binary *binary, int cc, enum fw_load *load);

#endif
