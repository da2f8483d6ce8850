#ifndef FW_TRACE_RECORDING_READ_H
#define FW_TRACE_RECORDING_READ_H
/* A recording (docs/format/recording.md) -> rows of a trace. */
#include "trace/trace.h"

struct fw_recording_options {
	/* Called now and then; bytes read of total. May be NULL. */
	void (*progress)(void *user, uint64_t bytes, uint64_t total);
	void *user;
};

/* True for a folder that holds a file of a recording, and for such a file, told from its first bytes. */
bool fw_is_recording(const char *path);
bool fw_is_recording_bytes(const void *bytes, size_t size);

/*
 * Reads folders and files, of one machine or of several, into an empty trace, which is not sealed
 * afterwards. Each file has a row of its own; one that cannot be used is left out, with the reason
 * there, unless all are like that: then the first one's error is returned.
 */
fw_status fw_recording_read(const char *const *paths, size_t count,
			    const struct fw_recording_options *options, struct fw_trace *trace,
			    struct fw_error *err);

/* One file that lies in memory. Used by tests and fuzzing. */
fw_status fw_recording_read_bytes(const char *name, const void *bytes, size_t size,
				  struct fw_trace *trace, struct fw_error *err);

#endif
