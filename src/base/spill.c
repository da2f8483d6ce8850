#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fw_spill_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

int fw_spill_open(void)
{
	char path[PATH_MAX];
	int fd = open(fw_spill_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system has O_TMPFILE. */
	if (snprintf(path, sizeof(path), "%s/fullwarp_XXXXXX", fw_spill_folder()) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

bool fw_spill_reserve(int fd, size_t bytes)
{
	int result;

	do
		result = posix_fallocate(fd, 0, (off_t)bytes);
	while (result == EINTR);
	errno = result;
	return !result;
}

void *fw_spill_map(size_t bytes)
{
	void *data = MAP_FAILED;
	int error, fd = fw_spill_open();

	if (fd < 0)
		return NULL;
	if (fw_spill_reserve(fd, bytes))
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* The mapping keeps the file. */
	error = errno;
	close(fd);
	errno = error;
	return data == MAP_FAILED ? NULL : data;
}
