#ifndef FW_FAKE_GPU_H
#define FW_FAKE_GPU_H
/*
 * What the stand-ins for libcuda, libcudart and libcupti tell each other. The GPU behind them is a timeline:
 * an operation starts when its stream is free and takes as long as the script says; no thread runs it.
 */
#include <stdbool.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

enum fake_domain { FAKE_DRIVER, FAKE_RUNTIME };

/* A CUDA call on its way; those that the runtime makes of the driver are calls of their own. */
struct fake_call {
	enum fake_domain domain;
	uint32_t cbid; /* of the toolkit's cupti_driver_cbid.h or cupti_runtime_cbid.h */
	const char *name;
	const char *symbol; /* of launches */
	uint32_t correlation;
	bool is_nested;     /* made by the runtime */
	int64_t start, end; /* CLOCK_MONOTONIC, ns */
	int result;
	uint64_t user; /* a subscriber's own word, from entry to exit */
};

enum fake_what {
	FAKE_KERNEL,
	FAKE_COPY,
	FAKE_MEMSET,
	FAKE_GRAPH,
	FAKE_SYNC,
	FAKE_EVENT,
	FAKE_MEMORY,
	FAKE_MODULE,
	FAKE_STREAM,
	FAKE_CONTEXT
};

/* Something that happened on the GPU; which fields count depends on what it is. */
struct fake_activity {
	enum fake_what what;
	uint32_t correlation, device, context, stream;
	int64_t start, end; /* CLOCK_MONOTONIC, ns; equal for an instant */
	const char *name;   /* lives for ever */
	int32_t grid[3], block[3];
	int32_t smem_static, smem_dynamic;
	uint16_t registers;
	uint32_t cluster[3];
	uint64_t bytes, address;
	uint8_t direction, src, dst; /* CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind */
	bool is_async, is_free;
	uint32_t type; /* CUpti_ActivitySynchronizationType, stream flags, module id */
	uint32_t event;
	uint64_t event_sync;
	uint64_t node; /* of a graph; 0: none */
	uint32_t graph;
};

/* What the stand-in for libcupti hears; it is called on the thread that calls CUDA. */
struct fake_hooks {
	void (*enter)(struct fake_call *call);
	void (*exit)(struct fake_call *call);
	void (*activity)(const struct fake_activity *activity);
};

FAKE_API void fake_gpu_attach(const struct fake_hooks *hooks);

/* Around every call; begin answers false when the process was forked after CUDA began in it. */
FAKE_API bool fake_call_begin(struct fake_call *call, enum fake_domain domain, uint32_t cbid,
			      const char *name);
FAKE_API int fake_call_end(struct fake_call *call, int result);

/* The value of the script's last line with that key; NULL: none. The script is read once, at load. */
FAKE_API const char *fake_script(const char *key);
FAKE_API long long fake_script_number(const char *key, long long otherwise);
/* Line i of those with that key. */
FAKE_API const char *fake_script_line(const char *key, unsigned i);

FAKE_API int64_t fake_now(void);

#endif
