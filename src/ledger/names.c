/* What the name of a CUDA or HIP call says about it. */
#include "ledger/build.h"

#include <string.h>

static const char *const copies[] = { "cuMemcpy", "cudaMemcpy", "hipMemcpy" };

static const char *const allocators[] = {
	"cudaMalloc",         "cudaFree",   "cudaHostAlloc", "cudaHostRegister",
	"cudaHostUnregister", "cuMemAlloc", "cuMemFree",     "cuMemHost",
	"cuMemCreate",        "cuMemMap",   "cuMemUnmap",    "cuMemRelease",
	"hipMalloc",          "hipFree",    "hipHostMalloc", "hipHostFree",
};

static const char *const one_time[] = {
	"cuModule",
	"cuLibrary",
	"cudaModule",
	"cudaLibrary",
	"hipModuleLoad",
	"hipModuleUnload",
	"cuGraphInstantiate",
	"cudaGraphInstantiate",
	"hipGraphInstantiate",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool starts_with_any(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool has(const char *name, const char *word)
{
	return strstr(name, word) != NULL;
}

uint8_t fw_name_flags(const char *name)
{
	uint8_t flags = FW_NAME_READ;

	if (has(name, "Synchronize"))
		flags |= FW_NAME_SYNC;
	if (starts_with_any(name, copies, COUNT(copies)))
		flags |= FW_NAME_COPY;
	if (has(name, "Async"))
		flags |= FW_NAME_ASYNC;
	/* Looking a function up in a module, or launching one, is not loading it. */
	if (starts_with_any(name, one_time, COUNT(one_time)) && !has(name, "Launch") &&
	    !has(name, "GetFunction"))
		flags |= FW_NAME_ONE_TIME;
	if (starts_with_any(name, allocators, COUNT(allocators)))
		flags |= FW_NAME_ALLOC;
	if (has(name, "Memcpy") || has(name, "Launch"))
		flags |= FW_NAME_MOVES;
	if (has(name, "GraphLaunch"))
		flags |= FW_NAME_GRAPH;
	return flags;
}
