#include "doctor/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Below another root the kernel itself keeps links inside (Linux 5.6); without that call nothing of it
 * is read, rather than the wrong machine's files. O_NONBLOCK: a named pipe must not stop us.
 */
static int open_path(const struct fw_host *host, const char *path, int flags)
{
	struct open_how how = { .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (!host->is_other)
		return open(path, flags);
	how.flags = (unsigned)flags;
	return (int)syscall(SYS_openat2, host->root, path, &how, sizeof(how));
}

static char *vtext(struct fw_host *host, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = len < 0 ? NULL : fw_arena_alloc(&host->arena, (size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, fmt, args);
	return text;
}

const char *fw_host_text(struct fw_host *host, const char *fmt, ...)
{
	va_list args;
	const char *text;

	va_start(args, fmt);
	text = vtext(host, fmt, args);
	va_end(args);
	return text ? text : "";
}

int fw_host_open_file(struct fw_host *host, const char *path)
{
	struct stat st;
	int fd = open_path(host, path, O_RDONLY);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		return -1;
	}
	return fd;
}

/* At most so many bytes from a descriptor's place on; file->error stays where that fails. */
static void read_bytes(struct fw_host *host, int fd, size_t most, struct fw_host_file *file)
{
	char *buffer = malloc(most);
	ssize_t got = 0;

	file->error = ENOMEM;
	while (buffer && file->len < most) {
		got = read(fd, buffer + file->len, most - file->len);
		if (got <= 0)
			break;
		file->len += (size_t)got;
	}
	if (buffer && got < 0)
		file->error = errno;
	else if (buffer)
		file->text = fw_arena_strndup(&host->arena, buffer, file->len);
	if (!file->text)
		file->len = 0;
	free(buffer);
}

static struct fw_host_file read_path(struct fw_host *host, const char *path)
{
	struct fw_host_file file = { 0 };
	int fd = fw_host_open_file(host, path);

	file.error = errno;
	if (fd < 0)
		return file;
	read_bytes(host, fd, FW_HOST_FILE_BYTES, &file);
	close(fd);
	return file;
}

struct fw_host_file fw_host_read_end(struct fw_host *host, const char *path, size_t most,
				     bool *is_cut)
{
	struct fw_host_file file = { 0 };
	int fd = fw_host_open_file(host, path);
	struct stat st = { 0 };
	size_t line;

	file.error = errno;
	*is_cut = false;
	if (fd < 0)
		return file;
	*is_cut = !fstat(fd, &st) && st.st_size > (off_t)most &&
		  lseek(fd, st.st_size - (off_t)most, SEEK_SET) >= 0;
	read_bytes(host, fd, most, &file);
	close(fd);
	line = *is_cut && file.text ? strcspn(file.text, "\n") : 0;
	if (line) {
		file.text += line;
		file.len -= line;
	}
	return file;
}

struct fw_host_file fw_host_read(struct fw_host *host, const char *fmt, ...)
{
	va_list args;
	const char *path;

	va_start(args, fmt);
	path = vtext(host, fmt, args);
	va_end(args);
	return path ? read_path(host, path) : (struct fw_host_file){ .error = ENOMEM };
}

const char *fw_host_line(struct fw_host *host, const char *fmt, ...)
{
	va_list args;
	const char *path;
	struct fw_host_file file;
	size_t len;

	va_start(args, fmt);
	path = vtext(host, fmt, args);
	va_end(args);
	file = path ? read_path(host, path) : (struct fw_host_file){ 0 };
	if (!file.text)
		return NULL;
	file.text += strspn(file.text, " \t");
	len = strcspn(file.text, "\n");
	while (len && strchr(" \t\r", file.text[len - 1]))
		len--;
	return fw_arena_strndup(&host->arena, file.text, len);
}

const char *fw_host_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR: return "no such file";
	case EACCES:
	case EPERM: return "permission denied";
	case ELOOP: return "a loop of links";
	case EISDIR: return "not a regular file";
	case ENOSYS: return "this kernel cannot read below another root (openat2, Linux 5.6)";
	default: return "the system refused to read it";
	}
}

int fw_host_stat(struct fw_host *host, const char *path, struct stat *st)
{
	int fd = open_path(host, path, O_PATH), error = 0;

	if (fd < 0)
		return errno;
	if (fstat(fd, st))
		error = errno;
	close(fd);
	return error;
}

bool fw_host_has(struct fw_host *host, const char *path)
{
	struct stat st;

	return !fw_host_stat(host, path, &st);
}

/* Where a descriptor's file lies; false: not told, or too long. */
static bool place_of(int fd, char path[4096])
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, 4095);
	path[len > 0 ? len : 0] = 0;
	return len > 0;
}

const char *fw_host_real_path(struct fw_host *host, const char *path)
{
	int fd = open_path(host, path, O_PATH);
	char target[4096], root[4096];
	bool is_known = fd >= 0 && place_of(fd, target) && place_of(host->root, root);
	size_t above = is_known && host->is_other ? strlen(root) : 0;

	if (fd >= 0)
		close(fd);
	if (!is_known || (above && strncmp(target, root, above)))
		return NULL;
	return fw_arena_strndup(&host->arena, target + above, strlen(target + above));
}

const char *fw_host_last_name(struct fw_host *host, const char *path)
{
	const char *target = fw_host_real_path(host, path), *slash;

	slash = target ? strrchr(target, '/') : NULL;
	return slash ? slash + 1 : target;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_names(struct fw_host *host, DIR *dir, struct fw_host_names *list)
{
	struct dirent *entry;

	list->names = fw_arena_array(&host->arena, FW_HOST_NAMES, sizeof(*list->names));
	list->error = list->names ? 0 : ENOMEM;
	while (list->names && list->count < FW_HOST_NAMES && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		name = fw_arena_strndup(&host->arena, name, strlen(name));
		if (name)
			list->names[list->count++] = name;
	}
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), by_name);
}

struct fw_host_names fw_host_list(struct fw_host *host, const char *fmt, ...)
{
	struct fw_host_names list = { .error = ENOMEM };
	va_list args;
	const char *path;
	DIR *dir = NULL;
	int fd;

	va_start(args, fmt);
	path = vtext(host, fmt, args);
	va_end(args);
	fd = path ? open_path(host, path, O_RDONLY | O_DIRECTORY) : -1;
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		list.error = errno;
		if (fd >= 0)
			close(fd);
		return list;
	}
	read_names(host, dir, &list);
	closedir(dir);
	return list;
}

const char *fw_host_env(const struct fw_host *host, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; host->environment && i < host->environment_count; i++)
		if (!strncmp(host->environment[i], name, len) && host->environment[i][len] == '=')
			return host->environment[i] + len + 1;
	return NULL;
}

/* A file of NUL-terminated (as in /proc/PID/environ) or of newline-terminated variables. */
static bool split_environment(struct fw_host *host, const char *text, size_t len)
{
	char end = memchr(text, 0, len) ? 0 : '\n';
	size_t count = 1;

	for (size_t i = 0; i < len; i++)
		count += text[i] == end;
	host->environment = fw_arena_array(&host->arena, count, sizeof(char *));
	for (size_t at = 0; host->environment && at < len;) {
		const char *stop = memchr(text + at, end, len - at);
		size_t size = stop ? (size_t)(stop - text) - at : len - at;
		const char *copy = fw_arena_strndup(&host->arena, text + at, size);

		if (copy && size)
			host->environment[host->environment_count++] = copy;
		at += size + 1;
	}
	return host->environment;
}

static bool copy_environment(struct fw_host *host)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	host->environment = fw_arena_array(&host->arena, count + 1, sizeof(char *));
	for (size_t i = 0; host->environment && i < count; i++)
		host->environment[i] = environ[i];
	host->environment_count = count;
	return host->environment;
}

fw_status fw_host_open(struct fw_host *host, const char *root, struct fw_error *err)
{
	struct fw_host_file file;
	struct stat st, own;

	*host = (struct fw_host){ .root = -1 };
	root = root ? root : "/";
	host->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host->root < 0 || fstat(host->root, &st) || stat("/", &own))
		return fw_fail(err, FW_ERR_IO, "%s: %s", root, strerror(errno));
	host->is_other = st.st_dev != own.st_dev || st.st_ino != own.st_ino;
	if (!host->is_other)
		return copy_environment(host) ? FW_OK : fw_fail_nomem(err, sizeof(char *));
	file = read_path(host, "/environ");
	if (file.text && !split_environment(host, file.text, file.len))
		return fw_fail_nomem(err, file.len);
	if (!file.text && file.error == ENOSYS)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: %s", root, fw_host_error(ENOSYS));
	return FW_OK;
}

void fw_host_close(struct fw_host *host)
{
	if (host->root >= 0)
		close(host->root);
	fw_arena_release(&host->arena);
	*host = (struct fw_host){ .root = -1 };
}
