#ifndef FW_RECORD_LOSSES_H
#define FW_RECORD_LOSSES_H
/* What a file of the recording says it lost. */
#include <stdint.h>

/*
 * Records that could not be kept, without those that were not wanted; UINT64_MAX: some, their number is
 * not known. 0 too where the file cannot be read.
 */
uint64_t fw_record_losses(const char *path);

#endif
