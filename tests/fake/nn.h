#ifndef TESTS_FAKE_NN_H
#define TESTS_FAKE_NN_H
#include <stddef.h>
#include <stdint.h>
/*
 * libcuda, libcudnn_graph and libcublasLt as the model engine calls them, without a GPU: memory is the host's, kernels do
 * nothing, every object is malloc'd, so that the address sanitizer finds what is not given back.
 */
struct fake_nn_counts {
	int allocations, launches, kernels, captures, executes, waits;
	int captured; /* operations of the last capture */
};

/* The call of that name fails with result when it has been made `after` times; NULL: none does. */
void fake_nn_fail(const char *call, int after, int result);
const struct fake_nn_counts *fake_nn_counts(void);
/* Every byte that is copied from the GPU (libcuda's copy only); 0 at first. */
void fake_nn_read_as(int byte);
/* The engine that was executed last since this was asked, 0: none. Heuristics propose 41, then 42 (libcudnn_graph's copy only). */
int64_t fake_nn_executed(void);
/*
 * What is copied from the GPU instead (libcuda's copy only), NULL: bytes as above. What a copy writes is there when its
 * thread has waited for a stream or an event; before that, it is 0xee.
 */
void fake_nn_read_by(void (*fill)(void *memory, size_t bytes));

/* The calls that put work on streams or wait for it, in their order (libcuda's copy only). */
struct fake_nn_call {
	const char *name;      /* "cuEventRecord" */
	void *stream, *object; /* an event or a graph */
	uint64_t address;      /* on the GPU */
	const void *memory;    /* of the host */
	size_t bytes;
};
#define FAKE_NN_CALLS 4096
/* Of the last call of fake_nn_forget on, *n of them, at most FAKE_NN_CALLS. */
const struct fake_nn_call *fake_nn_calls(int *n);
void fake_nn_forget(void);
/* Page-locked bytes and blocks now (libcuda's copy only). */
size_t fake_nn_pinned(void);

#endif
