#ifndef FW_LEDGER_FIT_H
#define FW_LEDGER_FIT_H
/* How a launch configuration fits a GPU: the model behind the fill table. Never a measurement. */
#include "trace/trace.h"

struct fw_fit {
	double occupancy;      /* theoretical, 0..1; < 0: unknown */
	uint32_t limiters;     /* bits of enum fw_limiter; 0: unknown */
	int32_t blocks_per_sm; /* -1: unknown */
	double waves;          /* grid / capacity; < 0: unknown */
	uint64_t grid;         /* blocks of the launch */
	uint64_t capacity; /* blocks that the GPU holds at once; 0: unknown, then waves is too */
};

/* shape FW_NONE: all unknown. */
void fw_fit_shape(const struct fw_trace *trace, uint32_t device, uint32_t shape,
		  struct fw_fit *fit);

#endif
