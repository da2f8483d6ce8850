#ifndef FW_SERVE_ACCESS_LOG_H
#define FW_SERVE_ACCESS_LOG_H
/* A line of JSON for each request. Any thread. */
#include "fullwarp/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct fw_access_log {
	pthread_mutex_t lock;
	const char *path; /* "-": standard output; NULL: no log */
	int fd;
	_Atomic uint64_t lost; /* lines that could not be written */
};

struct fw_access {
	const char *client, *method, *path;
	unsigned status; /* 499: the client left before it had its answer */
	uint64_t bytes_in, bytes_out;
	int64_t total_ns;
	uint32_t images,
		batch; /* batch: images that were computed together with the last one; 0: none was */
	const int64_t *stage_ns; /* of the image that was answered last; NULL: there was none */
};

/* path is borrowed. */
fw_status fw_access_log_open(struct fw_access_log *log, const char *path, struct fw_error *err);
void fw_access_log_close(struct fw_access_log *log);

/* After the file was renamed: the lines to come go to a new one. Where that cannot be opened, to the old one. */
fw_status fw_access_log_reopen(struct fw_access_log *log, struct fw_error *err);

void fw_access_log_write(struct fw_access_log *log, const struct fw_access *access);

#endif
