#ifndef FW_TRACE_RECORDING_H
#define FW_TRACE_RECORDING_H
/*
 * What a recording's files hold, byte for byte: the contract of writers (the injected library, the
 * recorder, the Python shim) and the reader. docs/format/recording.md says the same in words.
 *
 * A file is a header and chunks; a chunk is a header and records; a record begins with its kind and
 * its size. Little-endian; every struct has a size that is a multiple of 8 and no hidden padding.
 * A reader takes a record longer than it knows by its known part, and skips kinds it does not know.
 *
 * Two clocks: *_mono is CLOCK_MONOTONIC in ns, *_cupti is what cuptiGetTimestamp() counts in, mapped
 * to CLOCK_MONOTONIC by the file's FW_REC_CLOCK records. Time 0 in a *_cupti field: not known.
 */
#include <stdint.h>

#define FW_REC_MAGIC   "FWREC\r\n\032" /* 8 bytes, no NUL; a text-mode copy damages it */
#define FW_REC_VERSION 1

/* Longest payload of a chunk, stored or unpacked. */
#define FW_REC_CHUNK_BYTES (4u << 20)

enum fw_rec_file_kind {
	FW_REC_FILE_PROCESS = 1, /* process-<pid>-<n>.fwr, by the injected library */
	FW_REC_FILE_COUNTERS,    /* counters.fwr, by the recorder */
	FW_REC_FILE_HOST,        /* host.fwr, by the recorder */
	FW_REC_FILE_PYTHON       /* python-<pid>-<n>.fwr, by the shim */
};

struct fw_rec_file {
	uint8_t magic[8];
	uint16_t version; /* FW_REC_VERSION; another one is refused */
	uint16_t kind;    /* enum fw_rec_file_kind */
	uint32_t pid;     /* of the process it is about; counters and host: of the recorder */
	int64_t start_mono;
	int64_t start_realtime; /* Unix ns at start_mono */
	uint8_t boot_id
		[16]; /* of /proc/sys/kernel/random/boot_id: equal ids share CLOCK_MONOTONIC */
	uint32_t reserved[3];
	uint32_t crc; /* CRC-32 of the bytes before it */
};

#define FW_REC_CHUNK_MAGIC 0x48435746u /* "FWCH" */

enum fw_rec_compression { FW_REC_PLAIN, FW_REC_ZSTD };

/* Chunks start at multiples of 8 bytes; stored bytes are followed by zeros up to the next multiple. */
struct fw_rec_chunk {
	uint32_t magic;
	uint32_t stored_bytes; /* of the payload in the file */
	uint32_t raw_bytes;    /* of the payload unpacked; the same if plain */
	uint32_t sequence;     /* 0, 1, 2...: a hole is a chunk lost */
	uint16_t compression;  /* enum fw_rec_compression */
	uint16_t reserved[3];
	uint32_t reserved2;
	uint32_t crc; /* CRC-32 of this header before this field, then of the stored payload */
};

enum fw_rec_kind {
#define FW_RECORD(number, constant, name) FW_REC_##constant = number,
#include "trace/recording.def"
#undef FW_RECORD
	FW_REC_KIND_END
};

struct fw_rec {
	uint16_t kind;  /* enum fw_rec_kind */
	uint16_t size;  /* of the whole record, a multiple of 8; strings: at most 65,528 */
	uint32_t extra; /* what the kind says; 0 where it says nothing */
};

/*
 * A name, before its first use in the file; ids from 1 on, each once a file; 0 is "unknown".
 * extra: the id. Then `length` bytes of UTF-8 without NUL, zeros up to the multiple of 8.
 */
struct fw_rec_string {
	struct fw_rec head;
	uint32_t length;
	uint32_t reserved;
};

/* A fact about the file. extra: enum fw_rec_info_key. */
enum fw_rec_info_key {
	FW_REC_INFO_HOST = 1,       /* text: host name */
	FW_REC_INFO_COMMAND,        /* text: the program and its arguments */
	FW_REC_INFO_PROCESS_NAME,   /* text */
	FW_REC_INFO_RANK,           /* value: RANK or OMPI_COMM_WORLD_RANK... */
	FW_REC_INFO_WORLD_SIZE,     /* value */
	FW_REC_INFO_CUPTI_VERSION,  /* value: cuptiGetVersion() of the library in use */
	FW_REC_INFO_DRIVER_VERSION, /* value: cuDriverGetVersion() */
	FW_REC_INFO_GRAPH_NODES,    /* value: 1 graphs are recorded node by node, 0 as a whole */
	FW_REC_INFO_SELECTED,       /* text: only kernels that match are named (--kernels) */
	FW_REC_INFO_CANNOT, /* text: what could not be recorded, and why; any number of them */
	FW_REC_INFO_SOURCE, /* text: the counter source in use, "pm-sampling", "gpm", "nvml"; value: device */
	FW_REC_INFO_SOURCE_WHY, /* text: why not the better source; value: device */
	FW_REC_INFO_TORCH,      /* text: version of PyTorch */
	FW_REC_INFO_ENDED /* value: the writer's orderly end, CLOCK_MONOTONIC; the last record */
};

struct fw_rec_info {
	struct fw_rec head;
	uint32_t text; /* string id; 0: none */
	uint32_t reserved;
	int64_t value;
};

/* cuptiGetTimestamp() was read between the two readings of CLOCK_MONOTONIC. */
struct fw_rec_clock {
	struct fw_rec head;
	int64_t before_mono, after_mono;
	uint64_t cupti;
	int64_t realtime; /* CLOCK_REALTIME next to it */
};

/* The clock of PM samples, CUPTI's as the recorder read it, the same way. extra: device. */
struct fw_rec_device_clock {
	struct fw_rec head;
	int64_t before_mono, after_mono;
	uint64_t device_ns;
};

/* extra: the number by which this file's records name the device. */
struct fw_rec_device {
	struct fw_rec head;
	uint8_t uuid[16];
	uint32_t name; /* string */
	int32_t cc;    /* compute capability x 10; -1: unknown */
	int32_t sms;   /* -1: unknown */
	uint32_t reserved;
	int64_t memory_bytes; /* -1: unknown */
};

/* extra: the kernel's id of the thread (gettid). */
struct fw_rec_thread {
	struct fw_rec head;
	uint32_t name; /* string */
	uint32_t pid;  /* 0: the process that the file is about */
};

/* extra of the GPU's records: correlation id; 0: none. */
struct fw_rec_kernel {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti;
	uint64_t graph_node; /* 0: not from a graph recorded node by node */
	uint32_t graph;      /* id of the executable graph; 0: none */
	uint32_t device, context, stream;
	uint32_t name; /* string, mangled as CUPTI gives it; "" when not selected */
	int32_t grid[3], block[3];
	int32_t smem_static, smem_dynamic; /* bytes a block */
	int32_t smem_executed;             /* bytes of the SM's carve-out in use; -1: unknown */
	int32_t local_per_thread;          /* bytes; -1: unknown */
	uint16_t registers;                /* a thread */
	uint16_t cluster[3];               /* 0: none, or not known to this CUPTI */
	uint32_t reserved;
};

struct fw_rec_copy {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti, bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t device, context, stream;
	uint8_t direction;   /* CUpti_ActivityMemcpyKind */
	uint8_t src, dst;    /* CUpti_ActivityMemoryKind */
	uint8_t is_async;    /* 1 yes, 0 no */
	uint32_t src_device; /* peer copies; else the same as device */
	uint32_t dst_device;
	uint32_t reserved;
};

struct fw_rec_memset {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti, bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t device, context, stream;
	uint8_t memory; /* CUpti_ActivityMemoryKind */
	uint8_t is_async;
	uint8_t reserved[6];
};

/* A graph launch known as a whole. */
struct fw_rec_graph {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti;
	uint32_t graph;
	uint32_t device, context, stream;
};

struct fw_rec_sync {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti;
	uint64_t event_sync; /* pairs with fw_rec_event.event_sync; 0: none */
	uint32_t event;      /* id of the event; 0: none */
	uint32_t context, stream;
	uint32_t device; /* of the context; UINT32_MAX: unknown */
	uint32_t type;   /* CUpti_ActivitySynchronizationType */
	uint32_t reserved;
};

/* An event put on a stream. */
struct fw_rec_event {
	struct fw_rec head;
	uint64_t event_sync;
	uint64_t device_ns; /* 0: not recorded */
	uint32_t event;
	uint32_t device, context, stream;
};

/* A CUDA call of the host. */
struct fw_rec_call {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti;
	uint32_t name; /* string: "cudaLaunchKernel" */
	uint32_t tid;
	int32_t result; /* cudaError_t or CUresult */
	uint8_t is_driver;
	uint8_t reserved[3];
};

/* Memory taken or given back. */
struct fw_rec_allocation {
	struct fw_rec head;
	uint64_t time_cupti;
	uint64_t address, bytes;
	uint32_t device;  /* UINT32_MAX: host */
	uint8_t memory;   /* CUpti_ActivityMemoryKind */
	uint8_t is_free;  /* 1: given back */
	uint8_t is_async; /* from a pool */
	uint8_t reserved;
};

/* A module was loaded. extra: module id. */
struct fw_rec_module {
	struct fw_rec head;
	uint64_t time_mono; /* when the record was seen */
	uint64_t bytes;     /* of the cubin */
	uint32_t context;
	uint32_t reserved;
};

/* CUPTI's own work. extra: CUpti_ActivityOverheadKind. */
struct fw_rec_overhead {
	struct fw_rec head;
	uint64_t start_cupti, end_cupti;
	uint32_t tid; /* 0: unknown */
	uint32_t reserved;
};

/* extra: correlation id. */
struct fw_rec_external {
	struct fw_rec head;
	uint64_t external;
	uint32_t external_kind; /* CUpti_ExternalCorrelationKind */
	uint32_t reserved;
};

/* extra: stream id. */
struct fw_rec_stream {
	struct fw_rec head;
	uint32_t context;
	int32_t priority;
	uint32_t flags; /* CUpti_ActivityStreamFlag */
	uint32_t device;
};

enum fw_rec_range_kind {
	FW_REC_RANGE_NVTX,
	FW_REC_RANGE_INPUT, /* a wait for the data loader */
	FW_REC_RANGE_STEP,  /* one step of the program: from optimizer step to optimizer step... */
	FW_REC_RANGE_OPTIMIZER, /* optimizer.step() */
	FW_REC_RANGE_COMPILE,   /* torch.compile at work */
	FW_REC_RANGE_CALL_SITE, /* a slow .item(), .cpu()...; the name is "file:line item()" */
	FW_REC_RANGE_MARK       /* an instant: end equals start */
};

/* extra: enum fw_rec_range_kind. */
struct fw_rec_range {
	struct fw_rec head;
	int64_t start_mono, end_mono;
	uint32_t name;
	uint32_t domain; /* string: NVTX domain; 0: the default one */
	uint32_t tid;
	uint32_t reserved;
};

enum fw_rec_loss_reason {
	FW_REC_LOSS_DROPPED_GPU,  /* CUPTI had no buffer left */
	FW_REC_LOSS_DROPPED_HOST, /* our own buffers were full */
	FW_REC_LOSS_PAUSED,       /* not recorded, as asked for (delay, duty cycle, signal, API) */
	FW_REC_LOSS_OTHER_PROFILER, /* gave way to the program's own profiler */
	FW_REC_LOSS_SIZE,           /* --max-size reached */
	FW_REC_LOSS_DISK            /* a write failed; what came then is lost */
};

/* Records lost, or a time in which nothing was recorded. extra: enum fw_rec_loss_reason. */
struct fw_rec_loss {
	struct fw_rec head;
	int64_t start_mono, end_mono; /* in which it happened */
	uint64_t count;               /* records; UINT64_MAX: unknown */
};

/* A counter of a device over [start, end). extra: device. */
struct fw_rec_counter {
	struct fw_rec head;
	int64_t start_mono, end_mono; /* equal: an instant */
	double value;
	uint32_t
		name; /* string: a name of gpu_values.def, "sm_busy_percent", or "clocks_reasons": NVML's bits */
	uint32_t source; /* string: "pm-sampling", "gpm", "nvml" */
};

/* A value of the host. extra: tid; 0: of the whole process. */
struct fw_rec_host {
	struct fw_rec head;
	int64_t time_mono;
	double value;
	uint32_t pid;  /* 0: of the machine or the container */
	uint32_t name; /* string: a name of host_values.def, "rss_bytes" */
};

enum fw_rec_off_cpu { FW_REC_OFF_BLOCKED, FW_REC_OFF_RUNNABLE };

/* A thread was not on a CPU. extra: tid. */
struct fw_rec_switch {
	struct fw_rec head;
	int64_t start_mono, end_mono;
	uint32_t pid;
	uint32_t why; /* enum fw_rec_off_cpu */
};

/* A data loader was made. extra: its number in the process. */
struct fw_rec_loader {
	struct fw_rec head;
	int64_t time_mono;
	int32_t workers, prefetch, batch; /* -1: unknown or none */
	uint8_t pin_memory, persistent;
	uint8_t reserved[2];
};

#define FW_RECORD_SIZE(type, bytes)                                                                \
	_Static_assert(sizeof(struct type) == (bytes), "the format fixes the size of " #type)
FW_RECORD_SIZE(fw_rec_file, 64);
FW_RECORD_SIZE(fw_rec_chunk, 32);
FW_RECORD_SIZE(fw_rec, 8);
FW_RECORD_SIZE(fw_rec_string, 16);
FW_RECORD_SIZE(fw_rec_info, 24);
FW_RECORD_SIZE(fw_rec_clock, 40);
FW_RECORD_SIZE(fw_rec_device_clock, 32);
FW_RECORD_SIZE(fw_rec_device, 48);
FW_RECORD_SIZE(fw_rec_thread, 16);
FW_RECORD_SIZE(fw_rec_kernel, 104);
FW_RECORD_SIZE(fw_rec_copy, 72);
FW_RECORD_SIZE(fw_rec_memset, 64);
FW_RECORD_SIZE(fw_rec_graph, 40);
FW_RECORD_SIZE(fw_rec_sync, 56);
FW_RECORD_SIZE(fw_rec_event, 40);
FW_RECORD_SIZE(fw_rec_call, 40);
FW_RECORD_SIZE(fw_rec_allocation, 40);
FW_RECORD_SIZE(fw_rec_module, 32);
FW_RECORD_SIZE(fw_rec_overhead, 32);
FW_RECORD_SIZE(fw_rec_external, 24);
FW_RECORD_SIZE(fw_rec_stream, 24);
FW_RECORD_SIZE(fw_rec_range, 40);
FW_RECORD_SIZE(fw_rec_loss, 32);
FW_RECORD_SIZE(fw_rec_counter, 40);
FW_RECORD_SIZE(fw_rec_host, 32);
FW_RECORD_SIZE(fw_rec_switch, 32);
FW_RECORD_SIZE(fw_rec_loader, 32);
#undef FW_RECORD_SIZE

#endif
