#include "nn/cudnn_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define SEAL_BYTES 13 /* "end ", eight digits, line feed */

uint64_t fw_nn_store_hash(uint64_t hash, const char *text)
{
	if (!hash)
		hash = 0xcbf29ce484222325u;
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	return hash;
}

bool fw_nn_store_path(const char *folder, const char *what, uint64_t hash, const char *end,
		      char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/%s-%016" PRIx64 "%s", folder, what, hash, end);

	return length > 0 && length < PATH_MAX - 32; /* room for the name while it is written */
}

static void seal(const void *data, size_t bytes, char text[SEAL_BYTES + 1])
{
	snprintf(text, SEAL_BYTES + 1, "end %08lx\n", crc32_z(0, data, bytes));
}

static bool write_new(const char *path, const void *data, size_t bytes)
{
	FILE *out = fopen(path, "wxb");
	char text[SEAL_BYTES + 1];
	bool good;

	if (!out)
		return false;
	seal(data, bytes, text);
	good = fwrite(data, 1, bytes, out) == bytes &&
	       fwrite(text, 1, SEAL_BYTES, out) == SEAL_BYTES;
	return !fclose(out) && good;
}

bool fw_nn_store_write(const char *path, const void *data, size_t bytes)
{
	char part[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length = snprintf(part, sizeof(part), "%.*s", (int)(slash ? slash - path : 0), path);
	int saved;

	if (length > 0)
		mkdir(part, 0777); /* if it is there already, so much the better */
	length = snprintf(part, sizeof(part), "%s.%ld", path, (long)getpid());
	if (length < 0 || (size_t)length >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return false;
	}
	unlink(part); /* of a process of that number that was ended */
	if (write_new(part, data, bytes) && !rename(part, path))
		return true;
	saved = errno;
	unlink(part);
	errno = saved;
	return false;
}

bool fw_nn_store_is_whole(const void *data, size_t bytes, size_t *body)
{
	char text[SEAL_BYTES + 1];

	if (bytes < SEAL_BYTES)
		return false;
	seal(data, bytes - SEAL_BYTES, text);
	if (memcmp((const char *)data + bytes - SEAL_BYTES, text, SEAL_BYTES))
		return false;
	if (body)
		*body = bytes - SEAL_BYTES;
	return true;
}
