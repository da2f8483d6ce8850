#ifndef FW_SAMPLE_PROC_FILES_H
#define FW_SAMPLE_PROC_FILES_H
/* Small files of /proc and /sys below a root, and what we read of them. All input is foreign. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_PROC_FILE_BYTES 8192

/*
 * Reads the file (at most FW_PROC_FILE_BYTES - 1 bytes of it) into text, NUL-terminated; false: it
 * cannot be read. root is an open folder, path relative to it.
 */
bool fw_proc_file(int root, const char *path, char text[FW_PROC_FILE_BYTES]);

/* The number after `key` at the start of a line ("VmRSS:"), whatever blanks are between. */
bool fw_proc_number(const char *text, const char *key, uint64_t *value);

/* The number that p begins with, and what follows it; NULL: no digits, or too many. */
const char *fw_proc_digits(const char *p, uint64_t *value);

/* What /proc/PID/stat says of a process, or /proc/PID/task/TID/stat of a thread. */
struct fw_proc_stat {
	unsigned pid, parent;
	char state;            /* 'R', 'S'... */
	uint64_t user, kernel; /* CPU time, in clock ticks */
	uint64_t ticks;        /* both */
	uint64_t start; /* when it began, in clock ticks: tells two users of a number apart */
	uint64_t rss_pages, minor_faults, major_faults;
	unsigned threads;
	char name[32]; /* the kernel keeps 15 bytes */
};

bool fw_proc_parse_stat(const char *text, struct fw_proc_stat *stat);

/* What /proc/PID/task/TID/schedstat says. */
struct fw_proc_schedstat {
	uint64_t run_ns, delay_ns; /* on a CPU; ready, waiting for one */
};

bool fw_proc_parse_schedstat(const char *text, struct fw_proc_schedstat *stat);

/* The newest process or thread of this PID namespace: the last number of /proc/loadavg. */
bool fw_proc_parse_last_id(const char *loadavg, unsigned *id);

#endif
