#include "trace/columns.h"

#include "base/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fw_spilled *find(struct fw_columns *columns, const void *data)
{
	struct fw_spilled *s = columns->spilled.data;

	for (size_t i = 0; i < columns->spilled.len && data; i++)
		if (s[i].data == data)
			return &s[i];
	return NULL;
}

static void *grow_spilled(struct fw_columns *columns, struct fw_spilled *s, size_t bytes)
{
	void *data;

	if (!fw_spill_reserve(s->fd, bytes)) {
		columns->error = errno;
		return NULL;
	}
	data = mremap(s->data, s->bytes, bytes, MREMAP_MAYMOVE);
	if (data == MAP_FAILED) {
		columns->error = errno;
		return NULL;
	}
	s->data = data;
	s->bytes = bytes;
	return data;
}

/* A file with its mapping at the end of the list; NULL with errno set. */
static void *map_new(struct fw_columns *columns, size_t bytes)
{
	struct fw_spilled *s = fw_vec_push(&columns->spilled);
	void *data = MAP_FAILED;
	int error, fd;

	if (!s)
		return NULL;
	fd = fw_spill_open();
	if (fd >= 0 && fw_spill_reserve(fd, bytes))
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data != MAP_FAILED) {
		*s = (struct fw_spilled){ data, bytes, fd };
		return data;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	columns->spilled.len--;
	errno = error;
	return NULL;
}

/* Moves a column from memory to a file. */
static void *spill(struct fw_columns *columns, void *old, size_t old_bytes, size_t bytes)
{
	void *data = map_new(columns, bytes);

	if (!data) {
		columns->error = errno;
		return NULL;
	}
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
