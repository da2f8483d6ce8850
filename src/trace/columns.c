#include "trace/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fw_columns_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* A file without a name: it is gone when the process ends, however that happens. */
static int open_unnamed(void)
{
	char path[PATH_MAX];
	int fd = open(fw_columns_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system has O_TMPFILE. */
	if (snprintf(path, sizeof(path), "%s/fullwarp_XXXXXX", fw_columns_folder()) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static struct fw_spilled *find(struct fw_columns *columns, const void *data)
{
	struct fw_spilled *s = columns->spilled.data;

	for (size_t i = 0; i < columns->spilled.len && data; i++)
		if (s[i].data == data)
			return &s[i];
	return NULL;
}

/*
 * Blocks are reserved before they are mapped: a full disk is an error here, not a signal at the
 * first write.
 */
static bool reserve(struct fw_columns *columns, int fd, size_t bytes)
{
	int result;

	do
		result = posix_fallocate(fd, 0, (off_t)bytes);
	while (result == EINTR);
	if (result)
		columns->error = result;
	return !result;
}

static void *grow_spilled(struct fw_columns *columns, struct fw_spilled *s, size_t bytes)
{
	void *data;

	if (!reserve(columns, s->fd, bytes))
		return NULL;
	data = mremap(s->data, s->bytes, bytes, MREMAP_MAYMOVE);
	if (data == MAP_FAILED) {
		columns->error = errno;
		return NULL;
	}
	s->data = data;
	s->bytes = bytes;
	return data;
}

/* Moves a column from memory to a file. */
static void *spill(struct fw_columns *columns, void *old, size_t old_bytes, size_t bytes)
{
	struct fw_spilled *s;
	void *data = MAP_FAILED;
	int fd = open_unnamed();

	if (fd < 0) {
		columns->error = errno;
		return NULL;
	}
	s = fw_vec_push(&columns->spilled);
	if (!s)
		columns->error = ENOMEM;
	else if (reserve(columns, fd, bytes))
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		if (!columns->error)
			columns->error = errno;
		columns->spilled.len -= s != NULL;
		close(fd);
		return NULL;
	}
	*s = (struct fw_spilled){ data, bytes, fd };
	if (old)
		memcpy(data, old, old_bytes);
	free(old);
	columns->used -= old_bytes;
	return data;
}

void *fw_columns_resize(struct fw_columns *columns, void *old, size_t old_bytes, size_t bytes)
{
	struct fw_spilled *s = find(columns, old);
	void *data;

	if (s)
		return grow_spilled(columns, s, bytes);
	if (columns->limit && columns->used - old_bytes + bytes > columns->limit)
		return spill(columns, old, old_bytes, bytes);
	data = realloc(old, bytes);
	if (!data) {
		columns->error = ENOMEM;
		return NULL;
	}
	columns->used += bytes - old_bytes;
	return data;
}

void fw_columns_free(struct fw_columns *columns, void *data, size_t bytes)
{
	struct fw_spilled *s = find(columns, data);

	if (!s) {
		free(data);
		columns->used -= data ? bytes : 0;
		return;
	}
	munmap(s->data, s->bytes);
	close(s->fd);
	s->data = NULL;
}
