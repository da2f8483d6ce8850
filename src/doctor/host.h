#ifndef FW_DOCTOR_HOST_H
#define FW_DOCTOR_HOST_H
/*
 * The machine as the checks see it: files below a root, environment variables, limits. Every reader is
 * bounded, and with a root other than / no symbolic link leads out of it.
 */
#include "base/arena.h"
#include "base/error.h"
#include "doctor/gpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes of a file that are read; names of a folder that are listed. */
#define FW_HOST_FILE_BYTES ((size_t)256 << 10)
#define FW_HOST_NAMES      4096u

/* One thread. What the readers return lives until the host is closed. */
struct fw_host {
	struct fw_arena arena;
	int root;      /* a folder's descriptor */
	bool is_other; /* the root is not this machine's / */
	/* "NAME=VALUE"; NULL: not known, because another root has no file "environ". */
	const char **environment;
	size_t environment_count;
	struct fw_gpus gpus;
	/* What --for names; NULL: nothing. */
	const char *program;
};

/* root NULL or "/": this machine. Close it after a failure too. The GPUs are not asked yet. */
fw_status fw_host_open(struct fw_host *host, const char *root, struct fw_error *err);
void fw_host_close(struct fw_host *host);

struct fw_host_file {
	const char *text; /* NUL-terminated, may hold other NULs; NULL: not read */
	size_t len;
	int error; /* errno, where text is NULL */
};

/* Paths are absolute, as seen from the root. */
struct fw_host_file fw_host_read(struct fw_host *host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The last bytes of a file, at most so many, from the beginning of a line; *is_cut: there was more. */
struct fw_host_file fw_host_read_end(struct fw_host *host, const char *path, size_t most,
				     bool *is_cut);

/* The first line of a file, without blanks around it; NULL: not read. */
const char *fw_host_line(struct fw_host *host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "no such file", "permission denied"; static storage. */
const char *fw_host_error(int error);

/* 0 or errno; links are followed. */
int fw_host_stat(struct fw_host *host, const char *path, struct stat *st);
bool fw_host_has(struct fw_host *host, const char *path);

/* An open descriptor of a regular file, or -1 with errno. */
int fw_host_open_file(struct fw_host *host, const char *path);

/* The path that a path leads to through links, as seen from the root; NULL: nothing. */
const char *fw_host_real_path(struct fw_host *host, const char *path);

/* The last name of the path that a path leads to through links, "libcuda.so.550.54.14"; NULL: nothing. */
const char *fw_host_last_name(struct fw_host *host, const char *path);

struct fw_host_names {
	const char **names; /* in order */
	size_t count;
	int error; /* errno, where the folder could not be read */
};
struct fw_host_names fw_host_list(struct fw_host *host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL: not set. */
const char *fw_host_env(const struct fw_host *host, const char *name);

/* A formatted text; "" when memory is out. */
const char *fw_host_text(struct fw_host *host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What follows `key` (and blanks and a colon) on the first line that begins with it; NULL: no such line. */
const char *fw_host_field(struct fw_host *host, const char *text, const char *key);

/* The decimal number that text begins with, after blanks. */
bool fw_host_number(const char *text, uint64_t *number);

/* How many numbers a list such as "0-3,8" names, and whether it names one; 0: not such a list. */
unsigned fw_host_list_count(const char *list);
bool fw_host_list_has(const char *list, unsigned number);

/* Processors that this process may use; 0: not known. */
unsigned fw_host_cores(struct fw_host *host);

#endif
