/* The folder of compiled objects. */
#include "tune/object_cache.h"

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "tune/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES   4096
#define KEY_DIGITS   32
#define STALE_TEMP_S 3600 /* a temporary file that old was left by a process that died */

static const char magic[8] = "FWOBJ1\n";

struct header {
	char magic[sizeof(magic)];
	struct fw_tune_object_key key;
	uint64_t bytes, hash; /* of what follows */
};

struct fw_tune_object_key fw_tune_object_key(const void *text, size_t bytes)
{
	struct fw_tune_object_key key;
	const unsigned char *half = text;

	/* Two hashes of different cuts of the text: 128 bits, so that two compiles never meet by chance. */
	key.high = fw_hash_bytes(text, bytes);
	key.low = bytes > 1 ? fw_hash_bytes(half + 1, bytes - 1) ^ fw_hash_u64(half[0]) : 0;
	return key;
}

static bool path_of(char path[PATH_BYTES], const char *folder, struct fw_tune_object_key key)
{
	return snprintf(path, PATH_BYTES, "%s/%016llx%016llx.obj", folder,
			(unsigned long long)key.high, (unsigned long long)key.low) < PATH_BYTES;
}

static char *copy_text(struct fw_tune_message *reader)
{
	const char *text = fw_tune_message_take_text(reader);

	return text ? strdup(text) : NULL;
}

/* What follows the header; false: not as it was written, or memory is out. */
static bool read_body(const struct fw_file *file, struct fw_nvrtc_output *output)
{
	struct fw_tune_message reader = { .bytes = file->size - sizeof(struct header) };
	const void *cubin;

	/* Only read through it. */
	reader.data = (unsigned char *)(uintptr_t)file->data + sizeof(struct header);
	cubin = fw_tune_message_take_block(&reader, &output->cubin_bytes);
	output->log = copy_text(&reader);
	for (unsigned i = 0; i < FW_NVRTC_MAX_NAMES; i++)
		output->lowered[i] = copy_text(&reader);
	if (!cubin || !output->log || !output->lowered[0] || reader.is_short)
		return false;
	output->cubin = malloc(output->cubin_bytes);
	if (output->cubin)
		memcpy(output->cubin, cubin, output->cubin_bytes);
	return output->cubin != NULL;
}

static bool is_whole(const struct fw_file *file, struct fw_tune_object_key key)
{
	struct header header;

	if (file->size < sizeof(header))
		return false;
	memcpy(&header, file->data, sizeof(header));
	return !memcmp(header.magic, magic, sizeof(magic)) && header.key.high == key.high &&
	       header.key.low == key.low && header.bytes == file->size - sizeof(header) &&
	       header.hash == fw_hash_bytes(file->data + sizeof(header), (size_t)header.bytes);
}

enum fw_tune_cached fw_tune_object_load(const char *folder, struct fw_tune_object_key key,
					struct fw_nvrtc_output *output, struct fw_error *err)
{
	enum fw_tune_cached cached = FW_TUNE_CACHE_DAMAGED;
	char path[PATH_BYTES];
	struct fw_file file;

	*output = (struct fw_nvrtc_output){ 0 };
	if (!path_of(path, folder, key) || fw_file_open(&file, path, NULL))
		return FW_TUNE_NOT_CACHED;
	if (is_whole(&file, key) && read_body(&file, output))
		cached = FW_TUNE_CACHED;
	fw_file_close(&file);
	if (cached == FW_TUNE_CACHED) {
		/* The time of last use decides what is removed first; without it, the time of writing. */
		utimensat(AT_FDCWD, path, NULL, 0);
		return cached;
	}
	fw_nvrtc_output_release(output);
	fw_fail(err, FW_ERR_FORMAT, "%.300s is damaged; it is built again", path);
	return cached;
}

static void put_body(struct fw_str *body, const struct fw_nvrtc_output *output)
{
	fw_tune_put_block(body, output->cubin, output->cubin_bytes);
	fw_tune_put_text(body, output->log ? output->log : "");
	for (unsigned i = 0; i < FW_NVRTC_MAX_NAMES; i++)
		fw_tune_put_text(body, output->lowered[i]);
}

static bool write_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			return false;
		}
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

static fw_status write_file(const char *path, const char *temp, const struct header *header,
			    const struct fw_str *body, struct fw_error *err)
{
	fw_status status = FW_OK;
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "%.300s: %s", temp, strerror(errno));
	if (!write_all(fd, header, sizeof(*header)) || !write_all(fd, body->data, body->len))
		status = fw_fail(err, FW_ERR_IO, "%.300s: %s", temp, strerror(errno));
	if (close(fd) && !status)
		status = fw_fail(err, FW_ERR_IO, "%.300s: %s", temp, strerror(errno));
	if (!status && rename(temp, path))
		status = fw_fail(err, FW_ERR_IO, "%.300s: %s", path, strerror(errno));
	if (status)
		unlink(temp);
	return status;
}

fw_status fw_tune_object_store(const char *folder, struct fw_tune_object_key key,
			       const struct fw_nvrtc_output *output, struct fw_error *err)
{
	char path[PATH_BYTES], temp[PATH_BYTES];
	struct header header = { .key = key };
	struct fw_str body = { 0 };
	fw_status status;

	if (!path_of(path, folder, key) ||
	    snprintf(temp, sizeof(temp), "%s.%d.tmp", path, getpid()) >= PATH_BYTES)
		return fw_fail(err, FW_ERR_ARGUMENT, "the folder's name is too long: %.200s",
			       folder);
	put_body(&body, output);
	if (body.failed) {
		status = fw_fail_nomem(err, output->cubin_bytes);
	} else {
		memcpy(header.magic, magic, sizeof(magic));
		header.bytes = body.len;
		header.hash = fw_hash_bytes(body.data, body.len);
		status = write_file(path, temp, &header, &body, err);
	}
	fw_str_release(&body);
	return status;
}

struct entry {
	char name[KEY_DIGITS + 8];
	int64_t used; /* seconds */
	uint64_t bytes;
};

/* Ours: 32 digits and ".obj"; a longer name that ends in ".tmp" is one being written. */
static bool is_object(const char *name, bool *is_temp)
{
	size_t len = strlen(name);

	if (strspn(name, "0123456789abcdef") != KEY_DIGITS || strncmp(name + KEY_DIGITS, ".obj", 4))
		return false;
	*is_temp = len > 4 && !strcmp(name + len - 4, ".tmp");
	return *is_temp || len == KEY_DIGITS + 4;
}

static fw_status list(DIR *dir, struct fw_vec *entries, uint64_t *total, struct fw_error *err)
{
	struct dirent *at;

	while ((at = readdir(dir))) {
		struct entry *entry;
		struct stat st;
		bool is_temp;

		if (!is_object(at->d_name, &is_temp) ||
		    fstatat(dirfd(dir), at->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_temp) {
			if (time(NULL) - st.st_mtime > STALE_TEMP_S)
				unlinkat(dirfd(dir), at->d_name, 0);
			continue;
		}
		entry = fw_vec_push(entries);
		if (!entry)
			return fw_fail_nomem(err, sizeof(*entry));
		snprintf(entry->name, sizeof(entry->name), "%.36s", at->d_name);
		entry->used = (int64_t)st.st_mtime;
		entry->bytes = (uint64_t)st.st_size;
		*total += entry->bytes;
	}
	return FW_OK;
}

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return strcmp(x->name, y->name);
}

fw_status fw_tune_object_folder(const char *folder, uint64_t max_bytes, struct fw_error *err)
{
	struct fw_vec entries = FW_VEC(struct entry);
	const struct entry *items;
	uint64_t total = 0;
	fw_status status;
	DIR *dir;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return fw_fail(err, FW_ERR_IO, "%.300s: %s", folder, strerror(errno));
	dir = opendir(folder);
	if (!dir)
		return fw_fail(err, FW_ERR_IO, "%.300s: %s", folder, strerror(errno));
	status = list(dir, &entries, &total, err);
	items = entries.data;
	if (!status && total > max_bytes)
		qsort(entries.data, entries.len, sizeof(struct entry), by_use);
	for (size_t i = 0; !status && i < entries.len && total > max_bytes; i++)
		if (!unlinkat(dirfd(dir), items[i].name, 0))
			total -= items[i].bytes;
	closedir(dir);
	fw_vec_release(&entries);
	return status;
}
