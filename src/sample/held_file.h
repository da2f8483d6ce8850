#ifndef FW_SAMPLE_HELD_FILE_H
#define FW_SAMPLE_HELD_FILE_H
/*
 * Files below /proc that are read over and over: kept open, which makes a reading four times cheaper
 * and binds it to one process: a number used again by another gives ESRCH, not the other's figures.
 */
#include "sample/proc_files.h"

#include <stdbool.h>

/* Whose files they are; one thread. */
struct fw_held_files {
	int root;            /* an open folder that holds proc; borrowed */
	unsigned held, most; /* descriptors; past `most`, files are opened for each reading */
};

struct fw_held_file {
	int fd; /* -1: not open */
};

struct fw_held_name {
	unsigned pid, tid; /* tid 0: of the process */
	const char *name;  /* "stat" */
};

/* 0, or errno: ENOENT and ESRCH mean that it has ended. */
int fw_held_read(struct fw_held_files *files, struct fw_held_file *file, struct fw_held_name name,
		 char text[FW_PROC_FILE_BYTES]);

void fw_held_close(struct fw_held_files *files, struct fw_held_file *file);

#endif
