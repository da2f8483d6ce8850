#include "sample/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

static bool parse_u64(const char *p, uint64_t *value)
{
	uint64_t n = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	*value = n;
	return true;
}

bool fw_proc_number(const char *text, const char *key, uint64_t *value)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len))
			return parse_u64(line + len + strspn(line + len, " \t"), value);
	}
	return false;
}

/* The name may hold blanks and parentheses; the last ')' ends it (proc(5)). */
bool fw_proc_parse_stat(const char *text, struct fw_proc_stat *stat)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, kernel;
	int64_t rss;

	if (!open || !close || close < open || sscanf(text, "%u", &stat->pid) != 1)
		return false;
	if (sscanf(close + 1,
		   " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %*d %*d %" SCNu64 " %*u %" SCNd64,
		   &stat->parent, &user, &kernel, &stat->start, &rss) != 5)
		return false;
	if (__builtin_add_overflow(user, kernel, &stat->ticks) || rss < 0)
		return false;
	stat->rss_pages = (uint64_t)rss;
	snprintf(stat->name, sizeof(stat->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}
