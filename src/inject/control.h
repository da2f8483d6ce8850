#ifndef FW_INJECT_CONTROL_H
#define FW_INJECT_CONTROL_H
/*
 * What the recorder wants, and what the shim asks for: trace/recording_control.h. The files are read, not
 * mapped: a mapping of a file that someone cuts short would kill the program.
 */
#include "trace/recording_control.h"

#include <limits.h>
#include <stdbool.h>

struct fw_control {
	char control[PATH_MAX], yield[PATH_MAX];
	bool has_yield;          /* the file is there */
	int64_t look_again_mono; /* for the yield file */
};

void fw_control_open(struct fw_control *control, const char *dir, uint32_t pid);

/* FW_REC_WANT_RECORD where there is no control file, as without a recorder. */
enum fw_rec_wanted fw_control_wanted(const struct fw_control *control);

/* Whether the program is about to use a profiler of its own. */
bool fw_control_is_asked(struct fw_control *control, int64_t now_mono);
void fw_control_grant(const struct fw_control *control, bool granted);

#endif
