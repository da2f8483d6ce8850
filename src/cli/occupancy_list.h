#ifndef FW_CLI_OCCUPANCY_LIST_H
#define FW_CLI_OCCUPANCY_LIST_H
/* The kernels of files, each on the GPUs and with the block sizes asked for. */
#include "base/arena.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "cli/occupancy.h"

/* Where the block size of a row comes from. */
enum fw_occupancy_block_source {
	FW_OCCUPANCY_BLOCK_GIVEN,
	FW_OCCUPANCY_BLOCK_REQUIRED, /* the only one the kernel allows */
	FW_OCCUPANCY_BLOCK_BOUND,    /* the largest it was compiled for */
	FW_OCCUPANCY_BLOCK_ASSUMED,  /* neither: FW_OCCUPANCY_ASSUMED_BLOCK */
};

#define FW_OCCUPANCY_ASSUMED_BLOCK 256u

/* One kernel on one GPU with one block size; indices into the list, numbers to sort by. */
struct fw_occupancy_row {
	uint32_t kernel;
	uint16_t device, block;
	uint16_t blocks_per_sm, warps_per_sm, max_warps;
};

struct fw_occupancy_list {
	const struct fw_occupancy_args *args;
	struct fw_binary *binary;
	struct fw_arena arena;
	const char **names; /* readable, one for each kernel; NULL: the filter leaves it out */
	/* The GPUs asked about, else one for each target of the kernels. */
	struct fw_occupancy_device devices[FW_OCCUPANCY_MAX_DEVICES];
	size_t device_count, kept_kernels;
	size_t without_limits; /* kernels for targets whose limits are not known */
	/* Of relocatable code, where the files hold the linked code too: no row of their own. */
	bool *is_superseded;
	size_t superseded;
	/* device_count x image_count and x kernel_count: what that GPU does with it (enum fw_load). */
	enum fw_load *image_loads;
	unsigned char *kernel_loads;
	bool loads_none[FW_OCCUPANCY_MAX_DEVICES]; /* a GPU that can run none of the images */
	struct fw_vec rows; /* struct fw_occupancy_row, in the order asked for */
};

/* Reads the files. Release with fw_occupancy_list_release in any case. */
fw_status fw_occupancy_list_open(struct fw_occupancy_list *list,
				 const struct fw_occupancy_args *args, struct fw_error *err);
void fw_occupancy_list_release(struct fw_occupancy_list *list);

/* The block sizes of a kernel, at most FW_OCCUPANCY_MAX_BLOCKS. */
size_t fw_occupancy_list_blocks(const struct fw_occupancy_list *list,
				const struct fw_kernel *kernel, unsigned *blocks,
				enum fw_occupancy_block_source *source);

/* False where the kernel was compiled for another target and no --cc or --gpu was given. */
bool fw_occupancy_list_asks(const struct fw_occupancy_list *list, size_t kernel, size_t device);

enum fw_load fw_occupancy_list_load(const struct fw_occupancy_list *list, size_t kernel,
				    size_t device);

/* A launch of the kernel; PTX has no registers yet, so they are not counted there. */
struct fw_occupancy_launch fw_occupancy_list_launch(const struct fw_occupancy_list *list,
						    const struct fw_kernel *kernel, size_t device,
						    unsigned block);

/* Registers are known, so the result is one number. */
bool fw_occupancy_has_registers(const struct fw_kernel *kernel);

/* The most registers that compiling this PTX can give, from what it says itself. */
unsigned fw_occupancy_most_registers(const struct fw_occupancy_launch *launch,
				     const struct fw_kernel *kernel);

/* "block 512 is over the launch bound of 256": why the launch fails whatever the SM holds; or "". */
void fw_occupancy_put_bound_error(struct fw_str *out, const struct fw_kernel *kernel,
				  unsigned block);

/* Why few blocks are what its author wants; NULL. */
const char *fw_occupancy_intended_low(const struct fw_occupancy_list *list, size_t kernel,
				      const struct fw_occupancy_launch *launch);

/* x * y * z of dimensions; 0: unknown or absurd. */
unsigned fw_occupancy_threads(const int dims[3]);

/* Prints the list in one of its forms; false when memory is out. */
bool fw_occupancy_print_table(const struct fw_occupancy_list *list);
bool fw_occupancy_print_summary(const struct fw_occupancy_list *list);
bool fw_occupancy_print_summary_json(const struct fw_occupancy_list *list);
bool fw_occupancy_print_json(const struct fw_occupancy_list *list);
bool fw_occupancy_print_csv(const struct fw_occupancy_list *list);

/* "problems": what could not be read. */
void fw_occupancy_json_problems(struct fw_json *json, const struct fw_binary *binary);

/* Writes out what has been collected, and empties it. */
void fw_occupancy_flush(struct fw_str *out);

/* "CC 9.0 runs 2 of 12 images as they are and compiles 1 from PTX", one line a GPU. */
void fw_occupancy_put_loads(struct fw_str *out, const struct fw_occupancy_list *list,
			    size_t device);

/* What the list leaves out or assumes, after the rows. */
void fw_occupancy_put_notes(struct fw_str *out, const struct fw_occupancy_list *list);

#endif
