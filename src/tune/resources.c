/* Reads a configuration's cubin: registers, shared memory, spills, occupancy; names the limit that forbids its launch. */
#include "tune/resources.h"

#include "binary/binary.h"
#include "fullwarp/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GRID_YZ 65535u /* Programming Guide, section 5.1: of y and z; x may have 2^31 - 1 */
#define MAX_BLOCK_Z 64u
#define SPILL_BYTES 4u /* at least, of one spilled register */
#define MAX_GRID_X  0x7fffffffu
#define REASON(...) (snprintf(reason, FW_TUNE_REASON_BYTES, __VA_ARGS__), false)

static uint64_t threads_of(const struct fw_tune_launch *launch)
{
	return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

bool fw_tune_launch_fits(const struct fw_hw_limits *hw, const struct fw_tune_launch *launch,
			 char reason[FW_TUNE_REASON_BYTES])
{
	const uint32_t *b = launch->block, *g = launch->grid;

	for (unsigned i = 0; i < 3; i++) {
		if (b[i] < 1 || b[i] > FW_HW_MAX_BLOCK_THREADS)
			return REASON("block of %u x %u x %u threads", b[0], b[1], b[2]);
		if (g[i] < 1 || g[i] > (i ? MAX_GRID_YZ : MAX_GRID_X))
			return REASON("grid of %u x %u x %u blocks; %u x %u x %u are the most",
				      g[0], g[1], g[2], MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ);
	}
	if (threads_of(launch) > FW_HW_MAX_BLOCK_THREADS)
		return REASON("%llu threads a block; %u are the most",
			      (unsigned long long)threads_of(launch), FW_HW_MAX_BLOCK_THREADS);
	if (b[2] > MAX_BLOCK_Z)
		return REASON("block of %u threads along z; %u are the most", b[2], MAX_BLOCK_Z);
	if (launch->dynamic_smem > hw->smem_optin)
		return REASON("%u bytes of dynamic shared memory a block; %u are the most",
			      launch->dynamic_smem, hw->smem_optin);
	if (launch->cluster > hw->cluster_max)
		return REASON("clusters of %u blocks; %u are the most", launch->cluster,
			      hw->cluster_max);
	if (launch->cluster > 1 && g[0] % launch->cluster)
		return REASON("%u blocks along x are no whole number of clusters of %u", g[0],
			      launch->cluster);
	return true;
}

/* The number before `words` in the log's line about the kernel; false: the log does not say. */
static bool spilled(const struct fw_tune_cubin *code, uint32_t *bytes)
{
	static const char words[] = " bytes spill stores";
	char title[512];
	const char *at, *end;

	if (!code->log || snprintf(title, sizeof(title), "properties for %s\n", code->kernel) >=
				  (int)sizeof(title))
		return false;
	at = strstr(code->log, title);
	at = at ? strchr(at, '\n') : NULL;
	end = at ? strstr(at, words) : NULL;
	/* The figures stand on the line after the title. */
	if (!end || memchr(at + 1, '\n', (size_t)(end - at - 1)))
		return false;
	while (end > at && end[-1] >= '0' && end[-1] <= '9')
		end--;
	*bytes = (uint32_t)strtoul(end, NULL, 10);
	return true;
}

static uint32_t product(const int dims[3])
{
	return dims[0] < 0 ? 0 : (uint32_t)dims[0] * (uint32_t)dims[1] * (uint32_t)dims[2];
}

static void set_attributes(const struct fw_kernel *kernel, const struct fw_tune_cubin *code,
			   struct fw_tune_result *result)
{
	uint32_t bound = product(kernel->max_threads);

	result->has_attributes = true;
	result->registers = kernel->registers > 0 ? (uint32_t)kernel->registers : 0;
	result->static_smem = kernel->static_smem > 0 ? (uint32_t)kernel->static_smem : 0;
	result->max_threads = bound ? bound : FW_HW_MAX_BLOCK_THREADS;
	if (!spilled(code, &result->spill_bytes))
		result->spill_bytes = kernel->spill_instructions > 0
					      ? (uint32_t)kernel->spill_instructions * SPILL_BYTES
					      : 0;
}

static fw_status set_occupancy(const struct fw_hw_limits *hw, const struct fw_kernel *kernel,
			       const struct fw_tune_launch *launch, struct fw_tune_result *result,
			       struct fw_error *err)
{
	struct fw_occupancy_input in;
	struct fw_occupancy_result out;
	fw_status status;

	fw_occupancy_input_init(&in);
	fw_occupancy_result_init(&out);
	in.cc = hw->cc;
	in.block_threads = (unsigned)threads_of(launch);
	in.registers = result->registers;
	in.static_smem_bytes = result->static_smem;
	in.dynamic_smem_bytes = launch->dynamic_smem;
	in.carveout_pct = launch->carveout;
	in.cluster_blocks = launch->cluster > 1 ? launch->cluster : 1;
	if (kernel->barriers > 0)
		in.barriers = (unsigned)kernel->barriers;
	status = fw_occupancy(&in, &out, err);
	if (status)
		return status;
	result->occupancy = out.occupancy;
	result->limiters = out.limiters;
	return FW_OK;
}

/* Why no SM takes one block of it. */
static bool explain(const struct fw_hw_limits *hw, const struct fw_tune_launch *launch,
		    const struct fw_tune_result *result, char reason[FW_TUNE_REASON_BYTES])
{
	uint64_t threads = threads_of(launch);
	uint64_t smem = (uint64_t)result->static_smem + result->dynamic_smem;

	if (smem > hw->smem_optin)
		return REASON("%llu bytes of shared memory a block; %u are the most",
			      (unsigned long long)smem, hw->smem_optin);
	if (result->limiters & FW_LIMITER_REGISTERS)
		return REASON("%u registers x %llu threads a block; an SM has %u registers",
			      result->registers, (unsigned long long)threads, FW_HW_REGS_PER_SM);
	if (result->limiters & FW_LIMITER_SHARED_MEMORY)
		return REASON("%llu bytes of shared memory a block do not fit the carve-out of "
			      "%d %%",
			      (unsigned long long)smem, launch->carveout);
	return REASON("no SM can hold a block of it");
}

static bool fits(const struct fw_hw_limits *hw, const struct fw_kernel *kernel,
		 const struct fw_tune_launch *launch, const struct fw_tune_result *result,
		 char reason[FW_TUNE_REASON_BYTES])
{
	uint64_t threads = threads_of(launch);
	const int *required = kernel->required_threads, *cluster = kernel->cluster;

	if (threads > result->max_threads)
		return REASON("%llu threads a block; the kernel's launch bounds allow %u",
			      (unsigned long long)threads, result->max_threads);
	if (required[0] > 0 && (launch->block[0] != (uint32_t)required[0] ||
				launch->block[1] != (uint32_t)required[1] ||
				launch->block[2] != (uint32_t)required[2]))
		return REASON("the kernel demands blocks of %d x %d x %d threads", required[0],
			      required[1], required[2]);
	if (cluster[0] > 0 && launch->cluster > 1 && launch->cluster != (uint32_t)cluster[0])
		return REASON("the kernel fixes clusters of %d blocks, not %u", cluster[0],
			      launch->cluster);
	if (result->occupancy <= 0)
		return explain(hw, launch, result, reason);
	return true;
}

static const struct fw_kernel *find(const struct fw_binary *binary, const char *name)
{
	for (size_t i = 0; i < binary->kernel_count; i++)
		if (!strcmp(binary->kernels[i].name, name))
			return &binary->kernels[i];
	return NULL;
}

fw_status fw_tune_read_resources(const struct fw_hw_limits *hw, const struct fw_tune_launch *launch,
				 const struct fw_tune_cubin *code, struct fw_tune_result *result,
				 struct fw_error *err)
{
	const struct fw_binary_options options = { .threads = 1 };
	const struct fw_kernel *kernel;
	struct fw_binary *binary;
	fw_status status;

	status = fw_binary_open_bytes(&binary, code->cubin, code->bytes, "the compiler's cubin",
				      &options, err);
	if (status)
		return status;
	kernel = find(binary, code->kernel);
	if (!kernel) {
		status = fw_fail(err, FW_ERR_FORMAT, "the cubin does not hold %.100s: %.200s",
				 code->kernel,
				 binary->problem_count ? binary->problems[0].message
						       : "it has other kernels");
	} else {
		set_attributes(kernel, code, result);
		result->dynamic_smem = launch->dynamic_smem;
		result->cubin_hash = fw_tune_code_hash(code);
		status = set_occupancy(hw, kernel, launch, result, err);
	}
	if (!status)
		result->status = fits(hw, kernel, launch, result, result->reason)
					 ? FW_TUNE_OK
					 : FW_TUNE_NOT_LAUNCHABLE;
	fw_binary_close(binary);
	return status;
}
