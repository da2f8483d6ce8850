#ifndef FW_TUNE_SIMPLE_H
#define FW_TUNE_SIMPLE_H
/*
 * A specification for a kernel whose source has no comment lines: every legal block size, one thread per element. And
 * what `fullwarp tune --init` writes from it.
 */
#include "base/str.h"
#include "tune/result.h"

/*
 * Block sizes: multiples of 32 up to 1024, or up to the number in the kernel's own __launch_bounds__. Grid: ceil(n / block).
 * Pointers get n elements; const ones are inputs, others are in/out and checked. Integer parameters get n, floating ones
 * 1.5. kernel NULL: the only one of the source. FW_ERR_ARGUMENT: no such kernel, or several; FW_ERR_UNSUPPORTED: a
 * parameter's type, or a template; both with its name and line.
 */
fw_status fw_tune_spec_simple(const char *path, const char *kernel, int64_t n,
			      struct fw_tune_spec *spec, struct fw_error *err);
/* The same from memory; path is only for messages. */
struct fw_tune_simple {
	const char *path, *text;
	size_t bytes;
	const char *kernel;
	int64_t n;
};
fw_status fw_tune_spec_simple_parse(const struct fw_tune_simple *source, struct fw_tune_spec *spec,
				    struct fw_error *err);

/*
 * The comment lines of a first specification, to be put above the source: the same as spec says, plus what else could be
 * tried, as comments. compiled: how the kernel compiles at its default configuration; NULL: unknown.
 */
fw_status fw_tune_init_write(const struct fw_tune_spec *spec, const struct fw_tune_result *compiled,
			     struct fw_str *out, struct fw_error *err);

#endif
