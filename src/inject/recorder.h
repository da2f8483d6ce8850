#ifndef FW_INJECT_RECORDER_H
#define FW_INJECT_RECORDER_H
/*
 * The recording of this process: started by whichever entry is called first, written by a thread of its
 * own, ended at exit. A child of fork does nothing until one of its entries is called again.
 */
#include <stdbool.h>

/* Opens the file and starts the writer thread; no CUDA is needed. True when ranges will be written. */
bool fw_recorder_start(void);

/* Starts to record the GPU; after fw_recorder_start. CUDA may still be initialising. */
void fw_recorder_attach_cuda(void);

#endif
