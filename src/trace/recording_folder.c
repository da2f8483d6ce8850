#include "trace/recording_folder.h"

#include "trace/recording.h"
#include "trace/recording_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_part_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 4 && !memcmp(name + len - 4, ".fwr", 4);
}

/* Reads the header as far as it is there; what it says is checked when the file is read. */
static bool peek(const char *path, struct fw_rec_file *header)
{
	/* Opening a pipe would wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	ssize_t got = -1;

	memset(header, 0, sizeof(*header));
	if (fd < 0)
		return false;
	if (!fstat(fd, &info) && S_ISREG(info.st_mode))
		got = pread(fd, header, sizeof(*header), 0);
	close(fd);
	return got >= (ssize_t)sizeof(header->magic) &&
	       !memcmp(header->magic, FW_REC_MAGIC, sizeof(header->magic));
}

/* A file that is named twice, perhaps by two paths, would count twice. */
static bool refuse_repeated(struct fw_rec_parts *parts, const struct stat *info,
			    struct fw_rec_part *part)
{
	uint64_t *slot = fw_map_at(&parts->seen, info->st_dev, info->st_ino, NULL);
	const struct fw_rec_part *list = parts->list.data;

	if (!slot)
		return false;
	if (*slot) {
		part->refused =
			fw_arena_printf(&parts->arena, "%s: the same file as %s, counted once",
					part->path, list[*slot - 1].path);
		return part->refused != NULL;
	}
	*slot = parts->list.len;
	return true;
}

static fw_status add_file(struct fw_rec_parts *parts, const char *path, struct fw_error *err)
{
	struct fw_rec_part *part = path ? fw_vec_push(&parts->list) : NULL;
	struct fw_rec_file header;
	struct stat info;

	if (!part)
		return fw_fail_nomem(err, sizeof(*part));
	part->path = path;
	if (stat(path, &info))
		return FW_OK; /* to be told when it is opened */
	part->size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
	if (peek(path, &header)) {
		part->kind = header.kind;
		part->start_mono = header.start_mono;
	}
	return refuse_repeated(parts, &info, part) ? FW_OK : fw_fail_nomem(err, sizeof(*part));
}

static fw_status add_entries(struct fw_rec_parts *parts, const char *folder, DIR *dir,
			     struct fw_error *err)
{
	size_t first = parts->list.len, len = strlen(folder);
	const char *slash = len && folder[len - 1] == '/' ? "" : "/";
	const struct dirent *entry;
	fw_status status = FW_OK;

	while (!status && (entry = readdir(dir)))
		if (is_part_name(entry->d_name))
			status = add_file(parts,
					  fw_arena_printf(&parts->arena, "%s%s%s", folder, slash,
							  entry->d_name),
					  err);
	if (!status && parts->list.len == first)
		status = fw_fail(err, FW_ERR_FORMAT, "%s: no file of a recording in it (*.fwr)",
				 folder);
	return status;
}

fw_status fw_rec_parts_add(struct fw_rec_parts *parts, const char *path, struct fw_error *err)
{
	struct stat info;
	fw_status status;
	DIR *dir;

	if (stat(path, &info))
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(info.st_mode))
		return add_file(parts, fw_arena_strndup(&parts->arena, path, strlen(path)), err);
	dir = opendir(path);
	if (!dir)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	status = add_entries(parts, path, dir, err);
	closedir(dir);
	return status;
}

static int place_of(uint16_t kind)
{
	switch (kind) {
	case FW_REC_FILE_PROCESS: return 0;
	case FW_REC_FILE_PYTHON: return 1;
	case FW_REC_FILE_COUNTERS: return 2;
	case FW_REC_FILE_HOST: return 3;
	default: return 4;
	}
}

static int in_order(const void *x, const void *y)
{
	const struct fw_rec_part *a = x, *b = y;
	int place = place_of(a->kind) - place_of(b->kind);

	if (place)
		return place;
	if (a->start_mono != b->start_mono)
		return a->start_mono < b->start_mono ? -1 : 1;
	return strcmp(a->path, b->path);
}

void fw_rec_parts_sort(struct fw_rec_parts *parts)
{
	if (parts->list.len)
		qsort(parts->list.data, parts->list.len, sizeof(struct fw_rec_part), in_order);
}

void fw_rec_parts_release(struct fw_rec_parts *parts)
{
	fw_vec_release(&parts->list);
	fw_map_release(&parts->seen);
	fw_arena_release(&parts->arena);
}

static bool has_parts(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = is_part_name(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

bool fw_is_recording(const char *path)
{
	struct fw_rec_file header;
	struct stat info;

	if (stat(path, &info))
		return false;
	return S_ISDIR(info.st_mode) ? has_parts(path) : peek(path, &header);
}

bool fw_is_recording_bytes(const void *bytes, size_t size)
{
	return size >= sizeof(FW_REC_MAGIC) - 1 &&
	       !memcmp(bytes, FW_REC_MAGIC, sizeof(FW_REC_MAGIC) - 1);
}
