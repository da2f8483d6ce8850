#ifndef FW_TOP_VERDICT_H
#define FW_TOP_VERDICT_H
/* One line on a GPU: is it full, and if not, what kind of not full. Never from one figure alone. */
#include "sample/devices.h"

enum fw_verdict_kind {
	FW_VERDICT_UNKNOWN,
	FW_VERDICT_IDLE,
	FW_VERDICT_FULL, /* some unit is near its limit: healthy */
	FW_VERDICT_PARTLY,
	FW_VERDICT_NOT_FULL,
	FW_VERDICT_TROUBLE /* lost, or slowed down by heat */
};

struct fw_verdict {
	enum fw_verdict_kind kind;
	char text[160];
};

/*
 * NVML says 0 % and 0 % although the GPU draws well more power than when it is idle: some GPUs have no
 * utilisation counter and answer so. floor_w: the least power seen so far, 0: none.
 */
bool fw_verdict_doubts_zero(const struct fw_gpu_sample *gpu, double floor_w);

void fw_verdict_make(const struct fw_gpu_sample *gpu, struct fw_verdict *verdict);

/* "full", ...; static storage. */
const char *fw_verdict_name(enum fw_verdict_kind kind);

#endif
