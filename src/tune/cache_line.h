#ifndef FW_TUNE_CACHE_LINE_H
#define FW_TUNE_CACHE_LINE_H
/*
 * The lines of a tuning cache (docs/format/tune-cache.md): a header for each set of conditions under which was measured,
 * and a line for each configuration, which names its header.
 */
#include "base/str.h"
#include "tune/result.h"

/* Results of different conditions do not compare. */
struct fw_tune_conditions {
	char gpu[96], uuid[48];
	unsigned cc, driver; /* 90; 13000 */
	char nvrtc[16];      /* "13.0" */
	const char *l2;      /* "warm" or "flush" */
	char kernel[256];    /* cut to this; the source's hash covers the rest */
	uint64_t
		source; /* hash of the source without its `// fullwarp:` lines, and of its own includes */
	uint64_t
		spec; /* hash of how it is launched and what its arguments are; the parameters and their values are not in it */
};

/* Hash of all of them; names them in every line. */
uint64_t fw_tune_conditions_hash(const struct fw_tune_conditions *conditions);

/* Hashes of a specification, as the conditions have them. */
void fw_tune_conditions_of_spec(const struct fw_tune_spec *spec,
				struct fw_tune_conditions *conditions);

/* Both append one line with its newline. */
void fw_tune_cache_put_header(struct fw_str *out, const struct fw_tune_conditions *conditions,
			      const struct fw_tune_space *space);
void fw_tune_cache_put_result(struct fw_str *out, uint64_t conditions,
			      const struct fw_tune_space *space,
			      const struct fw_tune_result *result);

enum fw_tune_line {
	FW_TUNE_LINE_HEADER,
	FW_TUNE_LINE_RESULT,
	FW_TUNE_LINE_FOREIGN_SPACE, /* a result; other parameters, or a value that is not in the space */
	FW_TUNE_LINE_DAMAGED        /* not a line of a cache */
};

struct fw_tune_cache_line {
	uint64_t conditions; /* hash */
	struct fw_tune_conditions header;
	char l2[16]; /* header.l2 points here */
	struct fw_tune_result result;
};

/* One line without its newline; any bytes. */
enum fw_tune_line fw_tune_cache_read(const char *text, size_t len,
				     const struct fw_tune_space *space,
				     struct fw_tune_cache_line *line);

#endif
