#ifndef FW_BINARY_SCHEDULE_H
#define FW_BINARY_SCHEDULE_H

#include "binary/reader.h"

#include <pthread.h>

/*
 * Hands images to threads, and each thread the memory to unpack its image into. Large images go first,
 * so that no thread ends long after the others; while there is no room for the next large one, small
 * ones from the other end are read. Locked by itself.
 */
struct fw_schedule {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	struct fw_job **jobs; /* largest first */
	size_t front, back;
	uint64_t small_bytes, large_bytes; /* of all buffers */
};

void fw_schedule_init(struct fw_schedule *schedule, struct fw_job **jobs, size_t count);
void fw_schedule_release(struct fw_schedule *schedule);

/*
 * The next image, for which reader->buffer has room (NULL where memory is out, or nothing is to be
 * unpacked); NULL when all are taken. The buffer of the image before is given back or used again.
 */
struct fw_job *fw_schedule_next(struct fw_schedule *schedule, struct fw_reader *reader);

#endif
