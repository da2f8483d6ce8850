#ifndef FW_FAKE_ENGINE_H
#define FW_FAKE_ENGINE_H
/* The simulated GPUs behind the stand-in for libcuda: streams, events and graphs as times on a line. */
#include "gpu.h"

#include <stddef.h>

#define GPUS        8u
#define GRAPH_NODES 64u

struct function {
	const char *name;
	int32_t smem_static;
	uint16_t registers;
};

struct graph {
	uint32_t id;
	unsigned count;
	struct fake_activity nodes[GRAPH_NODES];
};

struct stream {
	uint32_t id, device;
	_Atomic int64_t end; /* when what is on it is done */
	struct graph *capture;
};

struct event {
	uint32_t id;
	uint64_t sync;
	int64_t end; /* of the work before it */
	uint32_t stream;
};

/* The device of the calling thread. */
uint32_t engine_device(void);
void engine_set_device(uint32_t device);
uint32_t engine_devices(void);

/* A stream of the caller's; NULL and the reserved handles are the default stream of the thread's device. */
struct stream *engine_stream(void *handle);

/* Puts an operation of that length on a stream, or into the graph being captured. */
void engine_run(struct stream *stream, struct fake_activity *activity, long long length_ns);

/* What happens at once: tells the listener and the truth. */
void engine_tell(const struct fake_activity *activity);

/* Blocks until then. */
void engine_wait(int64_t until);

/* When everything on every stream of the device is done. */
int64_t engine_device_end(uint32_t device);

uint32_t engine_next_id(void);

/* The id of the thread's call, the outermost of nested ones. */
uint32_t engine_correlation(void);

/* From cuInit on; and whether this process is one that CUDA works in. */
void engine_start(void);
bool engine_is_started(void);
bool engine_is_forked(void);

/* Page-locked memory, so that a copy knows. */
void engine_pin(const void *memory, size_t bytes);
bool engine_unpin(const void *memory);
bool engine_is_pinned(const void *memory);

#endif
