#ifndef FW_INJECT_LAYOUT_H
#define FW_INJECT_LAYOUT_H
/*
 * CUPTI's activity records as far as we read them, written out so that no NVIDIA header is needed. A new
 * CUPTI adds fields at the end and in padding: the structs below are those of CUDA 13.0, and layout.def
 * says how many of their bytes belong to which version. A field beyond that is zero for us, never read.
 * tests/nvidia/cupti_abi.c compares offsets and sizes with the headers where they are found.
 */
#include <stddef.h>
#include <stdint.h>

struct fw_cupti_kernel { /* CUpti_ActivityKernel10 */
	uint32_t kind;
	uint16_t cache_config;
	uint16_t registers;
	uint32_t partitioned[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t smem_static, smem_dynamic;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	uint64_t name; /* const char * */
	uint64_t reserved, queued, submitted;
	uint8_t launch_type, carveout[3];
	uint32_t smem_executed;
	uint64_t graph_node;
	uint32_t smem_limit;
	uint32_t graph;
	uint64_t policy;
	uint32_t channel, channel_type;
	uint32_t cluster[3];
	uint32_t cluster_policy;
};

struct fw_cupti_copy { /* CUpti_ActivityMemcpy6 */
	uint32_t kind;
	uint8_t direction, src, dst, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation, pad;
	uint64_t reserved, graph_node;
	uint32_t graph, channel;
};

struct fw_cupti_peer_copy { /* CUpti_ActivityMemcpyPtoP4 */
	uint32_t kind;
	uint8_t direction, src, dst, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation;
	uint64_t reserved, graph_node;
	uint32_t graph, channel;
};

struct fw_cupti_memset { /* CUpti_ActivityMemset4 */
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory;
	uint32_t pad;
	uint64_t reserved, graph_node;
	uint32_t graph, channel;
};

struct fw_cupti_sync { /* CUpti_ActivitySynchronization2 */
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync;  /* from 12.8 on */
	uint32_t result, pad; /* from 12.8 on */
};

struct fw_cupti_event { /* CUpti_ActivityCudaEvent2 */
	uint32_t kind, correlation, context, stream, event, pad;
	uint32_t device, pad2; /* this and the rest from 12.8 on */
	uint64_t reserved, device_timestamp, event_sync;
};

struct fw_cupti_graph { /* CUpti_ActivityGraphTrace2 */
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct fw_cupti_memory { /* CUpti_ActivityMemory4 */
	uint32_t kind, operation, memory, correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t process, device, context, stream;
	uint64_t name;
	uint32_t is_async, pad;
};

struct fw_cupti_overhead { /* CUpti_ActivityOverhead3 */
	uint32_t kind, overhead, object;
	uint32_t object_id[3]; /* process and thread, or device, context and stream */
	uint64_t start, end;
};

struct fw_cupti_call { /* CUpti_ActivityAPI */
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct fw_cupti_device { /* CUpti_ActivityDevice5 */
	uint32_t kind, flags;
	uint64_t bandwidth, memory_bytes;
	uint32_t constant_bytes, l2_bytes, warp, clock_khz, copy_engines, sms;
	uint32_t limits[14];
	uint32_t cc_major, cc_minor;
	uint32_t id, ecc;
	uint8_t uuid[16];
	uint64_t name;
	uint8_t is_visible, is_mig, reserved[6];
	uint32_t gpu_instance, compute_instance;
	uint8_t mig_uuid[16];
};

struct fw_cupti_context { /* CUpti_ActivityContext3 */
	uint32_t kind, context, device;
};

struct fw_cupti_stream { /* CUpti_ActivityStream */
	uint32_t kind, context, stream, priority, flag, correlation;
};

struct fw_cupti_module { /* CUpti_ActivityModule */
	uint32_t kind, context, id, cubin_bytes;
	uint64_t cubin;
};

struct fw_cupti_external { /* CUpti_ActivityExternalCorrelation */
	uint32_t kind, external_kind;
	uint64_t external;
	uint32_t correlation, reserved;
};

/* Of cuptiGetVersion(). Before 18 (CUDA 11.8) the records are others, and nothing is recorded. */
#define FW_CUPTI_VERSION_LEAST 18u
#define FW_CUPTI_VERSION_12_8  26u
#define FW_CUPTI_VERSION_KNOWN 130001u /* newer ones are read as this one */

/* Bytes of a record of that kind that this version writes and we read; 0: a kind that we do not read. */
size_t fw_cupti_record_bytes(uint32_t version, uint32_t kind);

#endif
