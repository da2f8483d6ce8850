#ifndef FW_IMPORT_IMPORT_H
#define FW_IMPORT_IMPORT_H
/*
 * File -> trace. The format is told from the bytes, never from the name: Kineto JSON, plain, gzip or
 * zstd; "-" is standard input. A file of a recording, or a folder that holds such, is a recording.
 */
#include "trace/trace.h"

struct fw_import_options {
	/* Called now and then from the importing thread; bytes read of total (0: unknown). May be NULL. */
	void (*progress)(void *user, uint64_t bytes, uint64_t total);
	void *user;
	/*
	 * Memory for the trace's columns (about 50 bytes an event); what is over it goes to temporary
	 * files in TMPDIR. 0: no limit.
	 */
	uint64_t max_memory_bytes;
	size_t window_bytes; /* of text held at once, unless a record is longer; 0: a good size */
};

/*
 * Reads one file into *trace, which the caller destroys. What could be read of a damaged file is kept
 * and counted in (*trace)->integrity; FW_ERR_FORMAT only if nothing usable is there, with the file's
 * name, the offset and the value. options may be NULL.
 */
fw_status fw_import_file(const char *path, const struct fw_import_options *options,
			 struct fw_trace **trace, struct fw_error *err);

/*
 * The same for several files (ranks) into one trace: devices of different files are different, unless
 * their UUIDs match. Times are aligned by the files' absolute times where all have them. A file with
 * nothing usable in it, and one that is named again, is left out, with the reason in the table of files, unless all are like that.
 */
fw_status fw_import_files(const char *const *paths, size_t count,
			  const struct fw_import_options *options, struct fw_trace **trace,
			  struct fw_error *err);

/* One file that lies in memory; name stands for it in messages. Used by tests and fuzzing. */
fw_status fw_import_bytes(const char *name, const void *bytes, size_t size,
			  const struct fw_import_options *options, struct fw_trace **trace,
			  struct fw_error *err);

#endif
