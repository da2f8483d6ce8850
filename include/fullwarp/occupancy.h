#ifndef FULLWARP_OCCUPANCY_H
#define FULLWARP_OCCUPANCY_H
/*
 * Theoretical occupancy without a GPU: how many blocks of a kernel one streaming multiprocessor (SM)
 * holds, and what limits them. Exact: equal to NVIDIA's <cuda_occupancy.h> 13.0 for compute
 * capability 5.0 to 12.1. Sources of the limits: docs/occupancy.md. Clean as C89 and as C++98.
 *
 * Occupancy is a limit, not a goal: a kernel can be fastest at 10 %.
 *
 * ABI: every structure starts with its size in bytes, set by the caller (the _init functions do);
 * members are added at the end only and get their default value when a caller does not know them.
 * Enumerators keep their values. All functions are thread-safe and allocate nothing that the caller
 * must free; err may be NULL.
 */
#include "fullwarp/fullwarp.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What limits the blocks an SM holds: one bit each, several can be set. As in NVIDIA's header, where
 * barriers alone decide, the next smallest limit is set too; the limit_ members tell them apart.
 */
enum fw_limiter {
	FW_LIMITER_WARPS = 1,
	FW_LIMITER_REGISTERS = 2,
	FW_LIMITER_SHARED_MEMORY = 4,
	FW_LIMITER_BLOCKS = 8,    /* the most blocks that an SM tracks */
	FW_LIMITER_BARRIERS = 16, /* named barriers; from compute capability 9.0 on */
	FW_LIMITER_VIRTUAL = 32,  /* virtual resources (tensor memory); from 10.0 on */
	FW_LIMITER_CLUSTER = 64   /* more blocks in a cluster than the hardware allows */
};

/* A limit that does not apply. */
#define FW_NO_LIMIT 0xffffffffu

/* A kernel and its launch. Initialise with fw_occupancy_input_init. No value may exceed 2^31 - 1. */
struct fw_occupancy_input {
	size_t struct_size;
	unsigned int cc;                 /* compute capability x 10: 90 for 9.0 */
	unsigned int block_threads;      /* 1 and up; over 1024 nothing fits */
	unsigned int registers;          /* per thread, as the compiler reports them; 0: no limit */
	unsigned int static_smem_bytes;  /* without the driver's reserve of 1 KB (8.0 and later) */
	unsigned int dynamic_smem_bytes; /* third launch parameter */
	int carveout_pct; /* preferred shared memory carve-out, 0 to 100; -1 (default): the largest */
	int is_optin;     /* 1 (default): more than 48 KB a block was opted in to; 0: it was not */
	unsigned int barriers; /* named barriers of a block; default 1 */
	/*
	 * Virtual resources of a block, default 0. Kernels that use tensor memory declare 128, which taken
	 * literally allows one block an SM; no hardware run has confirmed that it is enforced.
	 */
	unsigned int virtual_resources;
	unsigned int cluster_blocks; /* blocks in a cluster; default 1: none */
};

/* Set struct_size before the call (fw_occupancy_result_init does). */
struct fw_occupancy_result {
	size_t struct_size;
	double occupancy;           /* warps_per_sm / max_warps_per_sm, 0 to 1 */
	unsigned int blocks_per_sm; /* 0: the launch fails; limiters says why */
	unsigned int warps_per_block;
	unsigned int warps_per_sm; /* blocks_per_sm * warps_per_block */
	unsigned int max_warps_per_sm;
	unsigned int
		schedulers_per_sm; /* warps_per_sm / schedulers_per_sm = warps a scheduler has */
	unsigned int limiters;     /* enum fw_limiter bits */
	/* Blocks an SM could hold if this were the only limit; FW_NO_LIMIT: it does not apply. */
	unsigned int limit_warps, limit_registers, limit_shared_memory, limit_blocks;
	unsigned int limit_barriers, limit_virtual, limit_cluster;
	unsigned int allocated_registers;  /* per block, as the hardware rounds them */
	unsigned int allocated_smem_bytes; /* per block, reserve and rounding included */
	unsigned int carveout_bytes; /* shared memory of the SM that the limit was computed from */
};

/* Defaults: no kernel (cc, block 0), one barrier, opt-in, largest carve-out, no cluster. */
FW_API void fw_occupancy_input_init(struct fw_occupancy_input *in);
FW_API void fw_occupancy_result_init(struct fw_occupancy_result *out);

/*
 * The blocks that one SM holds. FW_ERR_UNSUPPORTED: compute capability not known (the message names
 * the nearest); FW_ERR_ARGUMENT: block 0, a value out of range, or a struct_size that no version had.
 * A launch that cannot work is no error: blocks_per_sm is 0.
 *
 *	struct fw_occupancy_input in;
 *	struct fw_occupancy_result out;
 *	fw_occupancy_input_init(&in);
 *	fw_occupancy_result_init(&out);
 *	in.cc = 80; in.block_threads = 224; in.registers = 92;
 *	if (fw_occupancy(&in, &out, NULL) == FW_OK)
 *		printf("%u blocks, %.1f %%\n", out.blocks_per_sm, 100 * out.occupancy);
 */
FW_API fw_status fw_occupancy(const struct fw_occupancy_input *in, struct fw_occupancy_result *out,
			      struct fw_error *err);

/*
 * What to launch, asked at run time: the call that takes the place of a hand-written `dim3 block(256)`.
 * Initialise with fw_launch_request_init.
 */
struct fw_launch_request {
	size_t struct_size;
	size_t items; /* one thread each; 0 (default): no grid is wanted */
	/* The kernel; its block_threads is not read. Borrowed for the call. */
	const struct fw_occupancy_input *kernel;
	unsigned int max_threads;      /* launch bound of the kernel; 0 (default): 1024 */
	unsigned int required_threads; /* the only size the kernel allows; 0 (default): any */
	unsigned int
		smem_per_thread_bytes; /* dynamic shared memory that each thread adds; default 0 */
	unsigned int sms;              /* of the GPU; 0 (default): not known */
};

#define FW_MAX_BLOCK_SIZES 32

/* Set struct_size before the call (fw_launch_init does). */
struct fw_launch {
	size_t struct_size;
	size_t grid_blocks;     /* one thread an item, whole clusters; 0: no items were given */
	size_t resident_blocks; /* all SMs full: the grid of a grid-stride loop; 0: SMs not known */
	double occupancy;       /* theoretical, the same for all of best_threads */
	double waves;           /* grid_blocks / resident_blocks; -1: not known */
	double efficiency; /* waves / waves rounded up, a bound for even blocks; -1: not known */
	unsigned int block_threads; /* the one of best_threads to start from */
	unsigned int blocks_per_sm; /* with block_threads */
	unsigned int limiters;      /* with block_threads; enum fw_limiter bits */
	unsigned int best_count;
	unsigned int best_threads[FW_MAX_BLOCK_SIZES]; /* ascending, multiples of a warp */
};

FW_API void fw_launch_request_init(struct fw_launch_request *request);
FW_API void fw_launch_init(struct fw_launch *out);

/*
 * The block sizes with the best theoretical occupancy, one to start from (the smallest that gives
 * every scheduler a warp), and its grid. Equal occupancy is not equal time: measure among best_threads.
 * FW_ERR_UNSUPPORTED: the capability is not known or no block size can run (the message says why);
 * FW_ERR_ARGUMENT: a value out of range, or a grid of more than 2^31 - 1 blocks.
 */
FW_API fw_status fw_launch_advise(const struct fw_launch_request *request, struct fw_launch *out,
				  struct fw_error *err);

/*
 * The two driver calls that the next function needs, so that neither CUDA's header nor its library is
 * needed here: cuFuncGetAttribute and cuDeviceGetAttribute, cast to these types.
 */
struct fw_cuda_driver {
	size_t struct_size;
	int (*func_get_attribute)(int *value, int attribute, void *function);
	int (*device_get_attribute)(int *value, int attribute, int device);
};

/*
 * The same for a CUfunction on a CUdevice: registers, shared memory, launch bound, carve-out and
 * cluster come from the driver, limits and SMs from the device (the table only fills what the driver
 * does not tell). From request->kernel, which may be NULL, only dynamic_smem_bytes, barriers and
 * virtual_resources are read: the driver knows none of them.
 * FW_ERR_UNSUPPORTED too where dynamic shared memory exceeds what cuFuncSetAttribute has allowed.
 *
 *	struct fw_cuda_driver driver = { sizeof(driver),
 *		(int (*)(int *, int, void *))cuFuncGetAttribute,
 *		(int (*)(int *, int, int))cuDeviceGetAttribute };
 *	fw_launch_request_init(&request);
 *	fw_launch_init(&launch);
 *	request.items = n;
 *	if (fw_launch_advise_function(&driver, function, device, &request, &launch, &err) == FW_OK)
 *		cuLaunchKernel(function, launch.grid_blocks, 1, 1, launch.block_threads, 1, 1, ...);
 */
FW_API fw_status fw_launch_advise_function(const struct fw_cuda_driver *driver, void *function,
					   int device, const struct fw_launch_request *request,
					   struct fw_launch *out, struct fw_error *err);

/* "registers" for one bit of enum fw_limiter, NULL for anything else; static storage. */
FW_API const char *fw_limiter_name(unsigned int limiter);

#ifdef __cplusplus
}
#endif

#endif
