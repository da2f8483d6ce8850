/* Random kernels through the toolkit's own <cuda_occupancy.h> and through ours: no difference allowed. */
#include "fullwarp/occupancy.h"

#include <cuda_occupancy.h>

#include <stdio.h>
#include <stdlib.h>

/* Device properties as the devices report them, written down apart from our table. Sizes in KB. */
struct device {
	int cc, warps, smem_sm, smem_optin, regs_block, reserved;
};

static const device devices[] = {
	{ 50, 64, 64, 48, 65536, 0 },       { 52, 64, 96, 48, 65536, 0 },
	{ 53, 64, 64, 48, 32768, 0 },       { 60, 64, 64, 48, 65536, 0 },
	{ 61, 64, 96, 48, 65536, 0 },       { 62, 64, 64, 48, 32768, 0 },
	{ 70, 64, 96, 96, 65536, 0 },       { 72, 64, 96, 96, 65536, 0 },
	{ 75, 32, 64, 64, 65536, 0 },       { 80, 64, 164, 163, 65536, 1024 },
	{ 86, 48, 100, 99, 65536, 1024 },   { 87, 48, 164, 163, 65536, 1024 },
	{ 88, 48, 100, 99, 65536, 1024 },   { 89, 48, 100, 99, 65536, 1024 },
	{ 90, 64, 228, 227, 65536, 1024 },  { 100, 64, 228, 227, 65536, 1024 },
	{ 101, 48, 228, 227, 65536, 1024 }, { 103, 64, 228, 227, 65536, 1024 },
	{ 110, 48, 228, 227, 65536, 1024 }, { 120, 48, 100, 99, 65536, 1024 },
	{ 121, 48, 100, 99, 65536, 1024 },
};
static const unsigned device_count = sizeof(devices) / sizeof(devices[0]);

static unsigned long long seed = 20260101;

/* A number from lo to hi (xorshift64*; the same sequence on every machine). */
static int between(int lo, int hi)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return lo + (int)((seed * 2685821657736338717ULL >> 33) % (unsigned)(hi - lo + 1));
}

static fw_occupancy_input random_input(const device &d)
{
	fw_occupancy_input in;

	fw_occupancy_input_init(&in);
	in.cc = (unsigned)d.cc;
	in.block_threads = (unsigned)(between(0, 1) ? 32 * between(1, 32) : between(1, 1040));
	in.registers = (unsigned)(between(0, 20) ? between(1, 255) : between(0, 300));
	in.static_smem_bytes = (unsigned)(between(0, 2) ? between(0, 49152) : 0);
	in.dynamic_smem_bytes = (unsigned)(between(0, 1) ? between(0, 245760) : between(0, 8192));
	in.carveout_pct = between(0, 1) ? -1 : between(0, 100);
	in.is_optin = between(0, 3) != 0;
	in.barriers = (unsigned)(between(0, 1) ? between(0, 16) : 1);
	in.virtual_resources = (unsigned)(between(0, 5) ? 0 : between(1, 128));
	return in;
}

static bool header(const device &d, const fw_occupancy_input &in, cudaOccResult *result)
{
	cudaOccDeviceProp prop;
	cudaOccFuncAttributes attr;
	cudaOccDeviceState state;

	prop.computeMajor = d.cc / 10;
	prop.computeMinor = d.cc % 10;
	prop.maxThreadsPerBlock = 1024;
	prop.maxThreadsPerMultiprocessor = d.warps * 32;
	prop.regsPerBlock = d.regs_block;
	prop.regsPerMultiprocessor = 65536;
	prop.warpSize = 32;
	prop.sharedMemPerBlock = 49152;
	prop.sharedMemPerMultiprocessor = (size_t)d.smem_sm * 1024;
	prop.numSms = 1;
	prop.sharedMemPerBlockOptin = (size_t)d.smem_optin * 1024;
	prop.reservedSharedMemPerBlock = (size_t)d.reserved;
	attr.maxThreadsPerBlock = 1024;
	attr.numRegs = (int)in.registers;
	attr.sharedSizeBytes = in.static_smem_bytes;
	attr.partitionedGCConfig = PARTITIONED_GC_OFF;
	attr.shmemLimitConfig = in.is_optin ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
	attr.maxDynamicSharedSizeBytes = in.dynamic_smem_bytes;
	attr.numBlockBarriers = (int)in.barriers;
	attr.virtualResourceCount = (int)in.virtual_resources;
	state.carveoutConfig = in.carveout_pct;
	return cudaOccMaxActiveBlocksPerMultiprocessor(result, &prop, &attr, &state,
						       (int)in.block_threads,
						       in.dynamic_smem_bytes) == CUDA_OCC_SUCCESS;
}

static bool same_limit(unsigned ours, int theirs)
{
	return theirs == INT_MAX ? ours == FW_NO_LIMIT : ours == (unsigned)theirs;
}

static bool same(const fw_occupancy_result &ours, const cudaOccResult &theirs, int cc)
{
	return ours.blocks_per_sm == (unsigned)theirs.activeBlocksPerMultiprocessor &&
	       ours.limiters == theirs.limitingFactors &&
	       ours.allocated_registers == (unsigned)theirs.allocatedRegistersPerBlock &&
	       ours.allocated_smem_bytes == theirs.allocatedSharedMemPerBlock &&
	       same_limit(ours.limit_registers, theirs.blockLimitRegs) &&
	       same_limit(ours.limit_shared_memory, theirs.blockLimitSharedMem) &&
	       same_limit(ours.limit_warps, theirs.blockLimitWarps) &&
	       same_limit(ours.limit_blocks, theirs.blockLimitBlocks) &&
	       (cc < 90 || same_limit(ours.limit_barriers, theirs.blockLimitBarriers));
}

static int compare(const device &d)
{
	fw_occupancy_input in = random_input(d);
	fw_occupancy_result ours;
	cudaOccResult theirs;

	fw_occupancy_result_init(&ours);
	if (fw_occupancy(&in, &ours, NULL) != FW_OK || !header(d, in, &theirs)) {
		printf("CC %d: one of the two refused its input\n", d.cc);
		return 1;
	}
	if (same(ours, theirs, d.cc))
		return 0;
	printf("CC %d block %u regs %u smem %u+%u carveout %d optin %d barriers %u virtual %u: "
	       "%u blocks mask %u, header %d mask %u\n",
	       d.cc, in.block_threads, in.registers, in.static_smem_bytes, in.dynamic_smem_bytes,
	       in.carveout_pct, in.is_optin, in.barriers, in.virtual_resources, ours.blocks_per_sm,
	       ours.limiters, theirs.activeBlocksPerMultiprocessor, theirs.limitingFactors);
	return 1;
}

int main(int argc, char **argv)
{
	long vectors = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000, differences = 0;

	for (long i = 0; i < vectors && differences < 20; i++)
		differences += compare(devices[(unsigned long)i % device_count]);
	printf("%ld vectors, %u compute capabilities, %ld differences\n", vectors, device_count,
	       differences);
	return differences != 0;
}
