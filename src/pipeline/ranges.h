#ifndef FW_PIPELINE_RANGES_H
#define FW_PIPELINE_RANGES_H
/*
 * NVTX ranges of the stages, for whoever watches: fullwarp record, Nsight Systems. Without a watcher a call costs nanoseconds;
 * a build without NVIDIA's headers has none.
 */

/* name: static storage. The thread's innermost open range ends with pop. */
void fw_range_push(const char *name);
void fw_range_pop(void);

#endif
