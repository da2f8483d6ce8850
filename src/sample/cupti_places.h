#ifndef FW_SAMPLE_CUPTI_PLACES_H
#define FW_SAMPLE_CUPTI_PLACES_H
/* Where a libcupti may be: names for the loader, the toolkit, the packages of the Python on PATH. */
#include <stddef.h>

#define FW_CUPTI_PLACES 32

struct fw_cupti_places {
	size_t count;
	char paths[FW_CUPTI_PLACES][512]; /* best first */
};

/* Looks at LD_LIBRARY_PATH (by names), CUDA_HOME, CUDA_PATH, /usr/local/cuda, VIRTUAL_ENV, CONDA_PREFIX, PATH. */
void fw_cupti_places_find(struct fw_cupti_places *places);

#endif
