#ifndef FW_TUNE_CACHE_H
#define FW_TUNE_CACHE_H
/*
 * The cache of a tuning run: a file of JSON lines that only grows (docs/format/tune-cache.md), and what it knows of one
 * space under one set of conditions. One thread; several processes may append to one file.
 */
#include "tune/cache_line.h"

struct fw_tune_cache;

struct fw_tune_cache_stats {
	uint64_t results; /* of these conditions and this space */
	uint64_t foreign; /* of other conditions: not used */
	uint64_t
		foreign_space; /* of these conditions, with parameters or values that the space does not have */
	uint64_t damaged;       /* lines that are none of ours */
	uint64_t first_damaged; /* number of the first, from 1 */
	bool is_torn;           /* the last line has no end: a run was ended while it wrote */
	char difference
		[160]; /* what the last foreign header has different, in words; "": nothing foreign */
};

/*
 * Reads the file, if there is one, and opens or creates it for appending.
 * space and conditions must outlive the cache. The last line of several of one configuration counts.
 */
struct fw_tune_cache_options {
	const char *path;
	const struct fw_tune_space *space;
	const struct fw_tune_conditions *conditions;
	bool forgets; /* what the file holds is not used */
};

fw_status fw_tune_cache_open(const struct fw_tune_cache_options *options,
			     struct fw_tune_cache **cache, struct fw_error *err);
void fw_tune_cache_stats(const struct fw_tune_cache *cache, struct fw_tune_cache_stats *stats);

/* NULL: not known. Dies with the next append. */
const struct fw_tune_result *fw_tune_cache_find(const struct fw_tune_cache *cache,
						const struct fw_tune_config *config);
/*
 * Appends a result; every 32 reach the disk. After a failure nothing more is written: half a line may stand at the end,
 * which the next run leaves out.
 */
fw_status fw_tune_cache_append(struct fw_tune_cache *cache, const struct fw_tune_result *result,
			       struct fw_error *err);
/* What was appended has reached the disk, unless the status says otherwise. NULL is accepted. */
fw_status fw_tune_cache_close(struct fw_tune_cache *cache, struct fw_error *err);

/* Reads lines from memory, as the file's reader does; for tests. */
fw_status fw_tune_cache_read_text(struct fw_tune_cache *cache, const char *text, size_t len,
				  struct fw_error *err);

#endif
