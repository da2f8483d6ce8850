#include "sample/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool fw_proc_file(int root, const char *path, char text[FW_PROC_FILE_BYTES])
{
	/* Not blocking: below a root for tests or containers, a name may be a pipe. */
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	while (len < FW_PROC_FILE_BYTES - 1) {
		n = read(fd, text + len, FW_PROC_FILE_BYTES - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	text[len] = '\0';
	return n >= 0;
}

const char *fw_proc_digits(const char *p, uint64_t *value)
{
	uint64_t n = 0;

	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return NULL;
	*value = n;
	return p;
}

bool fw_proc_number(const char *text, const char *key, uint64_t *value)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len))
			return fw_proc_digits(line + len + strspn(line + len, " \t"), value);
	}
	return false;
}

/* Numbers of the fields of proc(5) that we read. */
enum {
	STAT_PARENT = 4,
	STAT_MINOR_FAULTS = 10,
	STAT_MAJOR_FAULTS = 12,
	STAT_USER = 14,
	STAT_SYSTEM = 15,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_RSS = 24,
	STAT_FIELDS = 25
};

/* Fields 4 and up, each after a blank; negative ones only pass where a bit of `may` allows them. */
static bool parse_fields(const char *p, uint64_t fields[STAT_FIELDS], unsigned may)
{
	for (unsigned i = STAT_PARENT; i < STAT_FIELDS; i++) {
		if (*p++ != ' ')
			return false;
		if (*p == '-' && !(may & 1u << i))
			return false;
		p = fw_proc_digits(p + (*p == '-'), &fields[i]);
		if (!p)
			return false;
	}
	return true;
}

/* The name may hold blanks and parentheses; the last ')' ends it (proc(5)). */
bool fw_proc_parse_stat(const char *text, struct fw_proc_stat *stat)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const unsigned used = 1u << STAT_PARENT | 1u << STAT_MINOR_FAULTS |
			      1u << STAT_MAJOR_FAULTS | 1u << STAT_USER | 1u << STAT_SYSTEM |
			      1u << STAT_THREADS | 1u << STAT_START | 1u << STAT_RSS;
	uint64_t fields[STAT_FIELDS], pid;

	if (!open || !close || close < open || !fw_proc_digits(text, &pid) || pid > INT32_MAX)
		return false;
	if (close[1] != ' ' || !close[2] || !parse_fields(close + 3, fields, ~used) ||
	    fields[STAT_PARENT] > INT32_MAX || fields[STAT_THREADS] > INT32_MAX)
		return false;
	stat->pid = (unsigned)pid;
	stat->parent = (unsigned)fields[STAT_PARENT];
	stat->state = close[2];
	stat->minor_faults = fields[STAT_MINOR_FAULTS];
	stat->major_faults = fields[STAT_MAJOR_FAULTS];
	stat->user = fields[STAT_USER];
	stat->kernel = fields[STAT_SYSTEM];
	stat->threads = (unsigned)fields[STAT_THREADS];
	stat->start = fields[STAT_START];
	stat->rss_pages = fields[STAT_RSS];
	if (__builtin_add_overflow(stat->user, stat->kernel, &stat->ticks))
		return false;
	snprintf(stat->name, sizeof(stat->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

/* "CPU time, time waiting for a CPU, time slices" (Documentation/scheduler/sched-stats). */
bool fw_proc_parse_schedstat(const char *text, struct fw_proc_schedstat *stat)
{
	const char *p = fw_proc_digits(text, &stat->run_ns);

	return p && *p == ' ' && fw_proc_digits(p + 1, &stat->delay_ns);
}

bool fw_proc_parse_last_id(const char *loadavg, unsigned *id)
{
	const char *blank = strrchr(loadavg, ' ');
	uint64_t n;

	if (!blank || !fw_proc_digits(blank + 1, &n) || n > INT32_MAX)
		return false;
	*id = (unsigned)n;
	return true;
}
