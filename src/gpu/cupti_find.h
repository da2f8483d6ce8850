#ifndef FW_GPU_CUPTI_FIND_H
#define FW_GPU_CUPTI_FIND_H
/* Where this process may have a libcupti: what is loaded, and the folders that belong to it. */
#include "gpu/cupti.h"

#include <stdbool.h>

struct fw_cupti_places {
	char loaded[FW_CUPTI_PATH_BYTES];  /* a libcupti in the process; "": none */
	char runtime[FW_CUPTI_PATH_BYTES]; /* folder of the libcudart in the process */
	char packages
		[FW_CUPTI_PATH_BYTES]; /* site-packages of a Python that has loaded something */
	unsigned major;                /* of that libcudart; 0: unknown */
};

/* Fills places from the objects that are loaded now. */
void fw_cupti_look(struct fw_cupti_places *places);

/* Takes the path of one loaded object into account; exported for the tests. */
void fw_cupti_look_at(struct fw_cupti_places *places, const char *path);

/* The i-th library to try, best first; "" for a place that there is not. False: no more. */
bool fw_cupti_candidate(const struct fw_cupti_places *places, unsigned i,
			char candidate[FW_CUPTI_PATH_BYTES]);

#endif
