#include "nn_script.h"

#include "gpu/cudnn.h"

static void *stream_now;
static int engines_told;
static int64_t executed;

/* Descriptors hold the number of the engine that they are made of. */
static void copy_engine(void *descriptor, const void *elements)
{
	memcpy(descriptor, *(void *const *)elements, sizeof(int64_t));
}

EXPORT int64_t fake_nn_executed(void)
{
	const int64_t engine = executed;

	executed = 0;
	return engine;
}

EXPORT size_t cudnnGetVersion(void)
{
	return failing && !strcmp(failing, "cudnnGetVersion") ? (size_t)failing_result : 91900;
}
EXPORT const char *cudnnGetErrorString(int status)
{
	return status ? "CUDNN_STATUS_FAKE" : "CUDNN_STATUS_SUCCESS";
}
EXPORT int cudnnCreate(void **handle)
{
	return make("cudnnCreate", handle);
}
EXPORT int cudnnDestroy(void *handle)
{
	return drop(handle);
}
EXPORT int cudnnSetStream(void *handle, void *stream)
{
	(void)handle;
	stream_now = stream;
	return 0;
}
EXPORT int cudnnBackendCreateDescriptor(int type, void **descriptor)
{
	(void)type;
	return make("cudnnBackendCreateDescriptor", descriptor);
}
EXPORT int cudnnBackendDestroyDescriptor(void *descriptor)
{
	return drop(descriptor);
}
EXPORT int cudnnBackendFinalize(void *descriptor)
{
	(void)descriptor;
	return result_of("cudnnBackendFinalize");
}
EXPORT int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t count,
				    const void *elements)
{
	(void)type;
	(void)count;
	switch (name) {
	case FW_CUDNN_ENGINE_GLOBAL_INDEX: memcpy(descriptor, elements, sizeof(int64_t)); break;
	case FW_CUDNN_ENGINECFG_ENGINE:
	case FW_CUDNN_EXECUTION_PLAN_ENGINE_CONFIG: copy_engine(descriptor, elements); break;
	default: break;
	}
	return 0;
}
EXPORT int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t wanted,
				    int64_t *count, void *elements)
{
	const int64_t engine = 41 + engines_told, workspace = 1024;

	(void)descriptor;
	(void)type;
	*count = 0;
	switch (name) {
	case FW_CUDNN_ENGINEHEUR_RESULTS:
		*count = wanted < 2 ? wanted : 2;
		engines_told = 0;
		break;
	case FW_CUDNN_ENGINECFG_ENGINE: *count = 1; break;
	case FW_CUDNN_ENGINE_GLOBAL_INDEX:
		memcpy(elements, &engine, sizeof(engine));
		engines_told++;
		break;
	case FW_CUDNN_EXECUTION_PLAN_WORKSPACE_SIZE:
		memcpy(elements, &workspace, sizeof(workspace));
		break;
	default: break;
	}
	return result_of("cudnnBackendGetAttribute");
}
EXPORT int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
	counts.executes++;
	if (!handle || !plan || !pack || !stream_now)
		return 2000;
	memcpy(&executed, plan, sizeof(executed));
	return result_of("cudnnBackendExecute");
}
