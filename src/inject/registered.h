#ifndef FW_INJECT_REGISTERED_H
#define FW_INJECT_REGISTERED_H
/* Who has registered callbacks for CUPTI's buffers: no call of CUPTI tells. */
#include "gpu/cupti.h"

enum fw_registered { FW_REGISTERED_UNKNOWN, FW_REGISTERED_NONE, FW_REGISTERED_SOME };

/*
 * CUPTI keeps the two addresses side by side in its data (11.8 to 13.0 do). Where: in what differs after two of ours are
 * registered. What was there before is put back, if it was something. UNKNOWN: the addresses are not found in one place
 * alone. While it looks, CUPTI gets no buffers: for the moment in which CUDA starts, before the first kernel.
 */
enum fw_registered fw_registered_look(const struct fw_cupti *cupti);

#endif
