#ifndef FW_TUNE_OPTIONS_H
#define FW_TUNE_OPTIONS_H
/* What a configuration means to the compiler: its options, and the name of the kernel that is looked up. */
#include "tune/spec.h"

#define FW_TUNE_MAX_OPTIONS 256

struct fw_tune_options {
	struct fw_arena arena; /* owns the texts */
	uint32_t n;
	const char *items[FW_TUNE_MAX_OPTIONS];
	/* NVRTC name expressions: "conv<BX, float>" has become "conv<32, float>". */
	const char *kernel;
	const char *reference; /* NULL: there is none */
};

/*
 * -DNAME=value of each parameter and set that the source mentions, -DFULLWARP_BOUNDS=..., --maxrregcount, the spec's
 * flags and those of the configuration; no architecture. Equal options and kernel mean equal code: the key of a cache. sizes NULL:
 * the spec's own. Release with fw_tune_options_release, after a failure too.
 */
fw_status fw_tune_options_make(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			       const int64_t *sizes, struct fw_tune_options *options,
			       struct fw_error *err);
void fw_tune_options_release(struct fw_tune_options *options);

#endif
