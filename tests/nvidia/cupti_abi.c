/*
 * What src/gpu/cupti.h and src/inject declare of CUPTI's activity API agrees with the toolkit's headers: it
 * compiles, or the build fails. With the headers of CUDA 13 also the older records and all calls.
 */
#include "gpu/cupti.h"
#include "inject/layout.h"

#include <cupti.h>
#include <stddef.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(0, CUPTI_SUCCESS);
SAME(FW_CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(FW_CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(FW_CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(FW_CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(FW_CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(FW_CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
SAME(FW_CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME(FW_CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(FW_CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(FW_CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(FW_CUPTI_MODULE, CUPTI_ACTIVITY_KIND_MODULE);
SAME(FW_CUPTI_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME(FW_CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
SAME(FW_CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(FW_CUPTI_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME(FW_CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(FW_CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME(FW_CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(FW_CUPTI_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(FW_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(FW_CUPTI_THREAD_ID_PTHREAD, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
SAME(FW_CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
/* Numbers that src/inject/convert.c and session.c write out. */
SAME(1, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME(1, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
SAME(1, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
SAME(2, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
SAME(2, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME(2, CUPTI_ACTIVITY_OBJECT_THREAD);
_Static_assert(UINT32_MAX == CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no event, no stream");
SAME(0, CUPTI_API_ENTER);
SAME(1, CUPTI_API_EXIT);
SAME(7, CUPTI_ERROR_INVALID_OPERATION);
SAME(0, offsetof(CUpti_CallbackData, callbackSite));
SAME(4, sizeof(((CUpti_CallbackData *)0)->callbackSite));

#define FIELD(ours, field, theirs, name)                                                           \
	_Static_assert(offsetof(struct fw_cupti_##ours, field) == offsetof(theirs, name),          \
		       #theirs "." #name " is elsewhere");                                         \
	_Static_assert(sizeof(((struct fw_cupti_##ours *)0)->field) ==                             \
			       sizeof(((theirs *)0)->name),                                        \
		       #theirs "." #name " has another size")

/* Three numbers one after the other that are an array with us. */
#define THREE(ours, field, theirs, x, z)                                                           \
	_Static_assert(offsetof(struct fw_cupti_##ours, field) == offsetof(theirs, x) &&           \
			       offsetof(theirs, z) == offsetof(theirs, x) + 8 &&                   \
			       sizeof(((struct fw_cupti_##ours *)0)->field) == 12,                 \
		       #theirs "." #x)

#define KERNEL(theirs)                                                                             \
	FIELD(kernel, kind, theirs, kind);                                                         \
	FIELD(kernel, registers, theirs, registersPerThread);                                      \
	FIELD(kernel, start, theirs, start);                                                       \
	FIELD(kernel, end, theirs, end);                                                           \
	FIELD(kernel, device, theirs, deviceId);                                                   \
	FIELD(kernel, context, theirs, contextId);                                                 \
	FIELD(kernel, stream, theirs, streamId);                                                   \
	THREE(kernel, grid, theirs, gridX, gridZ);                                                 \
	THREE(kernel, block, theirs, blockX, blockZ);                                              \
	FIELD(kernel, smem_static, theirs, staticSharedMemory);                                    \
	FIELD(kernel, smem_dynamic, theirs, dynamicSharedMemory);                                  \
	FIELD(kernel, local_per_thread, theirs, localMemoryPerThread);                             \
	FIELD(kernel, correlation, theirs, correlationId);                                         \
	FIELD(kernel, name, theirs, name);                                                         \
	FIELD(kernel, smem_executed, theirs, sharedMemoryExecuted);                                \
	FIELD(kernel, graph_node, theirs, graphNodeId);                                            \
	FIELD(kernel, graph, theirs, graphId);                                                     \
	THREE(kernel, cluster, theirs, clusterX, clusterZ)

#define COPY(theirs)                                                                               \
	FIELD(copy, kind, theirs, kind);                                                           \
	FIELD(copy, direction, theirs, copyKind);                                                  \
	FIELD(copy, src, theirs, srcKind);                                                         \
	FIELD(copy, dst, theirs, dstKind);                                                         \
	FIELD(copy, flags, theirs, flags);                                                         \
	FIELD(copy, bytes, theirs, bytes);                                                         \
	FIELD(copy, start, theirs, start);                                                         \
	FIELD(copy, end, theirs, end);                                                             \
	FIELD(copy, device, theirs, deviceId);                                                     \
	FIELD(copy, context, theirs, contextId);                                                   \
	FIELD(copy, stream, theirs, streamId);                                                     \
	FIELD(copy, correlation, theirs, correlationId);                                           \
	FIELD(copy, graph_node, theirs, graphNodeId);                                              \
	FIELD(copy, graph, theirs, graphId)

#define PEER_COPY(theirs)                                                                          \
	FIELD(peer_copy, kind, theirs, kind);                                                      \
	FIELD(peer_copy, direction, theirs, copyKind);                                             \
	FIELD(peer_copy, src, theirs, srcKind);                                                    \
	FIELD(peer_copy, dst, theirs, dstKind);                                                    \
	FIELD(peer_copy, flags, theirs, flags);                                                    \
	FIELD(peer_copy, bytes, theirs, bytes);                                                    \
	FIELD(peer_copy, start, theirs, start);                                                    \
	FIELD(peer_copy, end, theirs, end);                                                        \
	FIELD(peer_copy, device, theirs, deviceId);                                                \
	FIELD(peer_copy, context, theirs, contextId);                                              \
	FIELD(peer_copy, stream, theirs, streamId);                                                \
	FIELD(peer_copy, src_device, theirs, srcDeviceId);                                         \
	FIELD(peer_copy, dst_device, theirs, dstDeviceId);                                         \
	FIELD(peer_copy, correlation, theirs, correlationId);                                      \
	FIELD(peer_copy, graph_node, theirs, graphNodeId);                                         \
	FIELD(peer_copy, graph, theirs, graphId)

#define MEMSET(theirs)                                                                             \
	FIELD(memset, kind, theirs, kind);                                                         \
	FIELD(memset, bytes, theirs, bytes);                                                       \
	FIELD(memset, start, theirs, start);                                                       \
	FIELD(memset, end, theirs, end);                                                           \
	FIELD(memset, device, theirs, deviceId);                                                   \
	FIELD(memset, context, theirs, contextId);                                                 \
	FIELD(memset, stream, theirs, streamId);                                                   \
	FIELD(memset, correlation, theirs, correlationId);                                         \
	FIELD(memset, flags, theirs, flags);                                                       \
	FIELD(memset, memory, theirs, memoryKind);                                                 \
	FIELD(memset, graph_node, theirs, graphNodeId);                                            \
	FIELD(memset, graph, theirs, graphId)

#define SYNC(theirs)                                                                               \
	FIELD(sync, kind, theirs, kind);                                                           \
	FIELD(sync, type, theirs, type);                                                           \
	FIELD(sync, start, theirs, start);                                                         \
	FIELD(sync, end, theirs, end);                                                             \
	FIELD(sync, correlation, theirs, correlationId);                                           \
	FIELD(sync, context, theirs, contextId);                                                   \
	FIELD(sync, stream, theirs, streamId);                                                     \
	FIELD(sync, event, theirs, cudaEventId)

#define EVENT(theirs)                                                                              \
	FIELD(event, kind, theirs, kind);                                                          \
	FIELD(event, correlation, theirs, correlationId);                                          \
	FIELD(event, context, theirs, contextId);                                                  \
	FIELD(event, stream, theirs, streamId);                                                    \
	FIELD(event, event, theirs, eventId)

#define GRAPH(theirs)                                                                              \
	FIELD(graph, kind, theirs, kind);                                                          \
	FIELD(graph, correlation, theirs, correlationId);                                          \
	FIELD(graph, start, theirs, start);                                                        \
	FIELD(graph, end, theirs, end);                                                            \
	FIELD(graph, device, theirs, deviceId);                                                    \
	FIELD(graph, graph, theirs, graphId);                                                      \
	FIELD(graph, context, theirs, contextId);                                                  \
	FIELD(graph, stream, theirs, streamId)

#define MEMORY(theirs)                                                                             \
	FIELD(memory, kind, theirs, kind);                                                         \
	FIELD(memory, operation, theirs, memoryOperationType);                                     \
	FIELD(memory, memory, theirs, memoryKind);                                                 \
	FIELD(memory, correlation, theirs, correlationId);                                         \
	FIELD(memory, address, theirs, address);                                                   \
	FIELD(memory, bytes, theirs, bytes);                                                       \
	FIELD(memory, timestamp, theirs, timestamp);                                               \
	FIELD(memory, device, theirs, deviceId);                                                   \
	FIELD(memory, is_async, theirs, isAsync)

#define OVERHEAD(theirs)                                                                           \
	FIELD(overhead, kind, theirs, kind);                                                       \
	FIELD(overhead, overhead, theirs, overheadKind);                                           \
	FIELD(overhead, object, theirs, objectKind);                                               \
	FIELD(overhead, object_id, theirs, objectId);                                              \
	FIELD(overhead, start, theirs, start);                                                     \
	FIELD(overhead, end, theirs, end)

#define DEVICE(theirs)                                                                             \
	FIELD(device, kind, theirs, kind);                                                         \
	FIELD(device, memory_bytes, theirs, globalMemorySize);                                     \
	FIELD(device, sms, theirs, numMultiprocessors);                                            \
	FIELD(device, cc_major, theirs, computeCapabilityMajor);                                   \
	FIELD(device, cc_minor, theirs, computeCapabilityMinor);                                   \
	FIELD(device, id, theirs, id);                                                             \
	FIELD(device, uuid, theirs, uuid);                                                         \
	FIELD(device, name, theirs, name);                                                         \
	FIELD(device, is_visible, theirs, isCudaVisible);                                          \
	FIELD(device, is_mig, theirs, isMigEnabled);                                               \
	FIELD(device, mig_uuid, theirs, migUuid)

#define CONTEXT(theirs)                                                                            \
	FIELD(context, kind, theirs, kind);                                                        \
	FIELD(context, context, theirs, contextId);                                                \
	FIELD(context, device, theirs, deviceId)

/* In every CUPTI from CUDA 12 on. */
KERNEL(CUpti_ActivityKernel8);
COPY(CUpti_ActivityMemcpy5);
PEER_COPY(CUpti_ActivityMemcpyPtoP4);
MEMSET(CUpti_ActivityMemset4);
SYNC(CUpti_ActivitySynchronization);
EVENT(CUpti_ActivityCudaEvent);
GRAPH(CUpti_ActivityGraphTrace);
MEMORY(CUpti_ActivityMemory3);
OVERHEAD(CUpti_ActivityOverhead);
DEVICE(CUpti_ActivityDevice4);
CONTEXT(CUpti_ActivityContext);
FIELD(call, kind, CUpti_ActivityAPI, kind);
FIELD(call, cbid, CUpti_ActivityAPI, cbid);
FIELD(call, start, CUpti_ActivityAPI, start);
FIELD(call, end, CUpti_ActivityAPI, end);
FIELD(call, thread, CUpti_ActivityAPI, threadId);
FIELD(call, correlation, CUpti_ActivityAPI, correlationId);
FIELD(call, result, CUpti_ActivityAPI, returnValue);
FIELD(stream, context, CUpti_ActivityStream, contextId);
FIELD(stream, stream, CUpti_ActivityStream, streamId);
FIELD(stream, priority, CUpti_ActivityStream, priority);
FIELD(stream, flag, CUpti_ActivityStream, flag);
FIELD(module, context, CUpti_ActivityModule, contextId);
FIELD(module, id, CUpti_ActivityModule, id);
FIELD(module, cubin_bytes, CUpti_ActivityModule, cubinSize);
FIELD(external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
FIELD(external, external, CUpti_ActivityExternalCorrelation, externalId);
FIELD(external, correlation, CUpti_ActivityExternalCorrelation, correlationId);

/* What CUDA 12.8 and 13.0 have added, and that they have only added. */
#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel10);
_Static_assert(sizeof(CUpti_ActivityKernel8) == 200 && sizeof(CUpti_ActivityKernel9) == 208 &&
		       sizeof(CUpti_ActivityKernel10) == 216,
	       "the sizes that layout.def states");
COPY(CUpti_ActivityMemcpy6);
SYNC(CUpti_ActivitySynchronization2);
FIELD(sync, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
FIELD(sync, result, CUpti_ActivitySynchronization2, returnValue);
EVENT(CUpti_ActivityCudaEvent2);
FIELD(event, device, CUpti_ActivityCudaEvent2, deviceId);
FIELD(event, device_timestamp, CUpti_ActivityCudaEvent2, deviceTimestamp);
FIELD(event, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
GRAPH(CUpti_ActivityGraphTrace2);
MEMORY(CUpti_ActivityMemory4);
OVERHEAD(CUpti_ActivityOverhead2);
OVERHEAD(CUpti_ActivityOverhead3);
DEVICE(CUpti_ActivityDevice5);
CONTEXT(CUpti_ActivityContext2);
CONTEXT(CUpti_ActivityContext3);

/* No line of layout.def reads past the struct that its version writes. */
#define FW_LAYOUT(kind, record, from, bytes, theirs, source)                                       \
	_Static_assert((bytes) <= sizeof(theirs), #theirs " is shorter");
#include "inject/layout.def"
#undef FW_LAYOUT

#define FW_CALL(domain, cbid, name)                                                                \
	_Static_assert(CUPTI_##domain##_TRACE_CBID_##name == (cbid), #name);
#include "inject/apis.def"
#undef FW_CALL
SAME(171, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000);
SAME(172, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
SAME(308, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
SAME(309, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
#endif
