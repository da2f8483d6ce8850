#ifndef FW_CLI_OCCUPANCY_LIST_H
#define FW_CLI_OCCUPANCY_LIST_H
/* The kernels of files, each on the GPUs and with the block sizes asked for. */
#include "base/arena.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "cli/occupancy.h"

/* Where the block size of a row comes from. */
enum occupancy_block_source {
	OCCUPANCY_BLOCK_GIVEN,
	OCCUPANCY_BLOCK_REQUIRED, /* the only one the kernel allows */
	OCCUPANCY_BLOCK_BOUND,    /* the largest it was compiled for */
	OCCUPANCY_BLOCK_ASSUMED,  /* neither: OCCUPANCY_ASSUMED_BLOCK */
};

#define OCCUPANCY_ASSUMED_BLOCK 256u

/* One kernel on one GPU with one block size; indices into the list, numbers to sort by. */
struct occupancy_row {
	uint32_t kernel;
	uint16_t device, block;
	uint16_t blocks_per_sm, warps_per_sm, max_warps;
};

struct occupancy_list {
	const struct occupancy_args *args;
	struct fw_binary *binary;
	struct fw_arena arena;
	const char **names; /* readable, one for each kernel; NULL: the filter leaves it out */
	/* The GPUs asked about, else one for each target of the kernels. */
	struct occupancy_device devices[OCCUPANCY_MAX_DEVICES];
	size_t device_count, kept_kernels;
	size_t without_limits; /* kernels for targets whose limits are not known */
	/* device_count x image_count and x kernel_count: what that GPU does with it (enum fw_load). */
	enum fw_load *image_loads;
	unsigned char *kernel_loads;
	bool loads_none[OCCUPANCY_MAX_DEVICES]; /* a GPU that can run none of the images */
	struct fw_vec rows;                     /* struct occupancy_row, in the order asked for */
};

/* Reads the files. Release with occupancy_list_release in any case. */
fw_status occupancy_list_open(struct occupancy_list *list, const struct occupancy_args *args,
			      struct fw_error *err);
void occupancy_list_release(struct occupancy_list *list);

/* The block sizes of a kernel, at most OCCUPANCY_MAX_BLOCKS. */
size_t occupancy_list_blocks(const struct occupancy_list *list, const struct fw_kernel *kernel,
			     unsigned *blocks, enum occupancy_block_source *source);

/* False where the kernel was compiled for another target and no --cc or --gpu was given. */
bool occupancy_list_asks(const struct occupancy_list *list, size_t kernel, size_t device);

enum fw_load occupancy_list_load(const struct occupancy_list *list, size_t kernel, size_t device);

/* A launch of the kernel; PTX has no registers yet, so they are not counted there. */
struct occupancy_launch occupancy_list_launch(const struct occupancy_list *list,
					      const struct fw_kernel *kernel, size_t device,
					      unsigned block);

/* Registers are known, so the result is one number. */
bool occupancy_has_registers(const struct fw_kernel *kernel);

/* The most registers that compiling this PTX can give, from what it says itself. */
unsigned occupancy_most_registers(const struct occupancy_launch *launch,
				  const struct fw_kernel *kernel);

/* "block 512 is over the launch bound of 256": why the launch fails whatever the SM holds; or "". */
void occupancy_put_bound_error(struct fw_str *out, const struct fw_kernel *kernel, unsigned block);

/* Why few blocks are what its author wants; NULL. */
const char *occupancy_intended_low(const struct occupancy_list *list, size_t kernel,
				   const struct occupancy_launch *launch);

/* x * y * z of dimensions; 0: unknown or absurd. */
unsigned occupancy_threads(const int dims[3]);

/* Prints the list in one of its forms; false when memory is out. */
bool occupancy_print_table(const struct occupancy_list *list);
bool occupancy_print_summary(const struct occupancy_list *list);
bool occupancy_print_json(const struct occupancy_list *list);
bool occupancy_print_csv(const struct occupancy_list *list);

/* Writes out what has been collected, and empties it. */
void occupancy_flush(struct fw_str *out);

/* "CC 9.0 runs 2 of 12 images as they are and compiles 1 from PTX", one line a GPU. */
void occupancy_put_loads(struct fw_str *out, const struct occupancy_list *list, size_t device);

/* What the list leaves out or assumes, after the rows. */
void occupancy_put_notes(struct fw_str *out, const struct occupancy_list *list);

#endif
