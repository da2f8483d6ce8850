#ifndef TESTS_FAKE_NN_H
#define TESTS_FAKE_NN_H
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

#endif
