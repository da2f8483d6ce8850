#ifndef FW_INJECT_CONTROL_H
#define FW_INJECT_CONTROL_H
/*
 * What the recorder wants, and what the shim asks for: trace/recording_control.h. The files are read, not
 * mapped: a mapping of a file that someone cuts short would kill the program. They are kept open, at high
 * numbers: opening a file again and again takes numbers that the program may count on.
 */
#include "trace/recording_control.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct fw_control_file {
	char path[PATH_MAX];
	int fd; /* -1: not open */
	dev_t device;
	ino_t inode;
	int64_t look_again_mono; /* not before, while it is not there */
};

struct fw_control {
	struct fw_control_file control, yield;
};

void fw_control_open(struct fw_control *control, const char *dir, uint32_t pid);

/* FW_REC_WANT_RECORD where there is no control file, as without a recorder. */
enum fw_rec_wanted fw_control_wanted(struct fw_control *control, int64_t now_mono);

/* Whether the program is about to use a profiler of its own. */
bool fw_control_is_asked(struct fw_control *control, int64_t now_mono);
void fw_control_grant(struct fw_control *control, bool granted);

#endif
