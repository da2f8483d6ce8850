/* What to launch, from a kernel's attributes or from the driver's knowledge of a CUfunction. */
#include "occupancy/block_sizes.h"
#include "occupancy/cuda_attributes.h"
#include "occupancy/tail.h"
#include "occupancy/versioned.h"

#include <limits.h>

/* Largest grid in x (Programming Guide, table of technical specifications). */
#define MAX_GRID 2147483647u

void fw_launch_request_init(struct fw_launch_request *request)
{
	*request = (struct fw_launch_request){ .struct_size = sizeof(*request) };
}

void fw_launch_init(struct fw_launch *out)
{
	*out = (struct fw_launch){ .struct_size = sizeof(*out), .waves = -1, .efficiency = -1 };
}

static fw_status check_request(const struct fw_launch_request *request, const struct fw_launch *out,
			       struct fw_error *err)
{
	fw_status status;

	if (!request || !out)
		return fw_fail(err, FW_ERR_ARGUMENT, "launch: request or result is NULL");
	if (out->struct_size < sizeof(*out) || out->struct_size > INT_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "launch: struct_size %zu of the result is wrong", out->struct_size);
	status = fw_versioned_check(request, sizeof(*request), "launch request", err);
	if (!status && request->required_threads > FW_HW_MAX_BLOCK_THREADS)
		return fw_fail(err, FW_ERR_ARGUMENT, "launch: required_threads %u is more than %u",
			       request->required_threads, FW_HW_MAX_BLOCK_THREADS);
	return status;
}

static fw_status fill_grid(const struct fw_launch_request *request, unsigned sms, unsigned cluster,
			   struct fw_launch *out, struct fw_error *err)
{
	struct fw_tail tail;
	size_t blocks =
		request->items / out->block_threads + (request->items % out->block_threads != 0);

	if (cluster > 1)
		blocks = (blocks / cluster + (blocks % cluster != 0)) * cluster;
	if (blocks > MAX_GRID)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "launch: %zu items need more than %u blocks of %u threads; use a "
			       "grid-stride loop",
			       request->items, MAX_GRID, out->block_threads);
	tail = fw_tail_of(blocks, sms, out->blocks_per_sm);
	out->grid_blocks = blocks;
	out->resident_blocks = tail.resident_blocks;
	out->waves = blocks && sms ? tail.waves : -1;
	out->efficiency = blocks && sms ? tail.efficiency : -1;
	return FW_OK;
}

static fw_status advise(const struct fw_hw_limits *hw, const struct fw_launch_request *request,
			const struct fw_block_search *search, unsigned sms, struct fw_launch *out,
			struct fw_error *err)
{
	struct fw_block_sizes sizes;
	struct fw_launch launch;
	fw_status status = fw_block_sizes_find(hw, search, &sizes, err);

	if (status)
		return status;
	fw_launch_init(&launch);
	launch.struct_size = out->struct_size;
	launch.occupancy = sizes.result.occupancy;
	launch.block_threads = sizes.choice;
	launch.blocks_per_sm = sizes.result.blocks_per_sm;
	launch.limiters = sizes.result.limiters;
	launch.best_count = sizes.count;
	for (unsigned i = 0; i < sizes.count; i++)
		launch.best_threads[i] = sizes.threads[i];
	status = fill_grid(request, sms, search->kernel.cluster_blocks, &launch, err);
	if (!status)
		*out = launch;
	return status;
}

static unsigned bounded(unsigned threads)
{
	return threads && threads < FW_HW_MAX_BLOCK_THREADS ? threads : FW_HW_MAX_BLOCK_THREADS;
}

fw_status fw_launch_advise(const struct fw_launch_request *request, struct fw_launch *out,
			   struct fw_error *err)
{
	struct fw_block_search search = { .max_dynamic_smem = INT_MAX };
	const struct fw_hw_limits *hw;
	fw_status status = check_request(request, out, err);

	if (status)
		return status;
	if (!request->kernel)
		return fw_fail(err, FW_ERR_ARGUMENT, "launch: the request has no kernel");
	status = fw_versioned_check(request->kernel, sizeof(*request->kernel), "kernel", err);
	if (status)
		return status;
	search.kernel = *request->kernel;
	search.kernel.block_threads = FW_HW_WARP_THREADS;
	search.max_threads = bounded(request->max_threads);
	search.required_threads = request->required_threads;
	search.smem_per_thread = request->smem_per_thread_bytes;
	status = fw_occupancy_check(&search.kernel, err);
	if (!status)
		status = fw_hw_limits_find(search.kernel.cc, &hw, err);
	return status ? status : advise(hw, request, &search, request->sms, out, err);
}

/* A CUfunction on a CUdevice, and the first attribute that could not be read. */
struct source {
	const struct fw_cuda_driver *driver;
	void *function;
	int device;
	int failed_attribute, code;
};

static unsigned function_value(struct source *source, int attribute)
{
	int value = 0,
	    code = source->driver->func_get_attribute(&value, attribute, source->function);

	if ((code || value < 0) && !source->code) {
		source->failed_attribute = attribute;
		source->code = code ? code : -1;
	}
	return code || value < 0 ? 0 : (unsigned)value;
}

/* The attribute, or fallback where this driver does not know it. */
static unsigned device_value(const struct source *source, int attribute, unsigned fallback)
{
	int value = 0;

	if (source->driver->device_get_attribute(&value, attribute, source->device) || value < 0)
		return fallback;
	return (unsigned)value;
}

static fw_status device_limits(const struct source *source, struct fw_hw_limits *hw,
			       struct fw_error *err)
{
	unsigned major = device_value(source, FW_CU_DEVICE_CC_MAJOR, 0);
	unsigned minor = device_value(source, FW_CU_DEVICE_CC_MINOR, 0);
	const struct fw_hw_limits *row;
	fw_status status;

	if (major > 99 || minor > 9)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "compute capability %u.%u is not known",
			       major, minor);
	status = fw_hw_limits_find(major * 10 + minor, &row, err);
	if (status)
		return status;
	*hw = *row;
	hw->max_warps = device_value(source, FW_CU_DEVICE_THREADS_PER_SM,
				     row->max_warps * FW_HW_WARP_THREADS) /
			FW_HW_WARP_THREADS;
	hw->max_blocks = device_value(source, FW_CU_DEVICE_BLOCKS_PER_SM, row->max_blocks);
	hw->smem_per_sm = device_value(source, FW_CU_DEVICE_SMEM_PER_SM, row->smem_per_sm);
	hw->smem_per_block = device_value(source, FW_CU_DEVICE_SMEM_PER_BLOCK, row->smem_per_block);
	hw->smem_optin = device_value(source, FW_CU_DEVICE_SMEM_OPTIN, row->smem_optin);
	hw->smem_reserved = device_value(source, FW_CU_DEVICE_SMEM_RESERVED, row->smem_reserved);
	hw->regs_per_block = device_value(source, FW_CU_DEVICE_REGS_PER_BLOCK, row->regs_per_block);
	if (!hw->max_warps)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "the device reports room for no warp");
	return FW_OK;
}

/* Blocks of the cluster that the kernel was compiled for; 1 where it was for none. */
static unsigned function_cluster(const struct source *source, unsigned cc)
{
	unsigned blocks = 1;

	for (int attribute = FW_CU_FUNC_CLUSTER_WIDTH;
	     cc >= 90 && attribute <= FW_CU_FUNC_CLUSTER_DEPTH; attribute++) {
		struct source probe = *source;
		unsigned extent = function_value(&probe, attribute);

		/* 0: not fixed; an older driver refuses the attribute. Past 16 nothing runs anyhow. */
		if (extent)
			blocks *= extent < 1024 ? extent : 1024;
	}
	return blocks;
}

static fw_status read_function(struct source *source, struct fw_block_search *search,
			       struct fw_error *err)
{
	int carveout = -1;

	search->kernel.registers = function_value(source, FW_CU_FUNC_REGISTERS);
	search->kernel.static_smem_bytes = function_value(source, FW_CU_FUNC_STATIC_SMEM);
	search->max_threads = bounded(function_value(source, FW_CU_FUNC_MAX_THREADS));
	search->max_dynamic_smem = function_value(source, FW_CU_FUNC_MAX_DYNAMIC_SMEM);
	if (source->code)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "cuFuncGetAttribute: attribute %d could not be read (CUresult %d)",
			       source->failed_attribute, source->code);
	/* Only a preference: where the driver does not tell, its default holds. */
	if (!source->driver->func_get_attribute(&carveout, FW_CU_FUNC_CARVEOUT, source->function) &&
	    carveout >= 0 && carveout <= 100)
		search->kernel.carveout_pct = carveout;
	search->kernel.cluster_blocks = function_cluster(source, search->kernel.cc);
	return FW_OK;
}

fw_status fw_launch_advise_function(const struct fw_cuda_driver *driver, void *function, int device,
				    const struct fw_launch_request *request, struct fw_launch *out,
				    struct fw_error *err)
{
	struct source source = { .driver = driver, .function = function, .device = device };
	struct fw_block_search search = { 0 };
	struct fw_hw_limits hw;
	fw_status status = check_request(request, out, err);

	if (!status && (!driver || !function))
		return fw_fail(err, FW_ERR_ARGUMENT, "launch: driver or function is NULL");
	if (!status)
		status = fw_versioned_check(driver, sizeof(*driver), "driver calls", err);
	if (!status && request->kernel)
		status = fw_versioned_check(request->kernel, sizeof(*request->kernel), "kernel",
					    err);
	if (!status)
		status = device_limits(&source, &hw, err);
	if (status)
		return status;
	fw_occupancy_input_init(&search.kernel);
	if (request->kernel) {
		search.kernel.dynamic_smem_bytes = request->kernel->dynamic_smem_bytes;
		search.kernel.barriers = request->kernel->barriers;
		search.kernel.virtual_resources = request->kernel->virtual_resources;
	}
	search.kernel.cc = hw.cc;
	search.kernel.block_threads = FW_HW_WARP_THREADS;
	search.required_threads = request->required_threads;
	search.smem_per_thread = request->smem_per_thread_bytes;
	status = read_function(&source, &search, err);
	if (!status)
		status = fw_occupancy_check(&search.kernel, err);
	if (!status && request->max_threads && request->max_threads < search.max_threads)
		search.max_threads = request->max_threads;
	return status ? status
		      : advise(&hw, request, &search, device_value(&source, FW_CU_DEVICE_SMS, 0),
			       out, err);
}
