#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static fw_status map(struct fw_file *file, int fd, const char *path, struct fw_error *err)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st))
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: not a regular file", path);
	if ((uint64_t)st.st_size > SIZE_MAX)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: too large for this machine", path);
	if (!st.st_size)
		return FW_OK;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return fw_fail(err, FW_ERR_IO, "%s: cannot map %lld bytes: %s", path,
			       (long long)st.st_size, strerror(errno));
	file->data = p;
	file->size = (size_t)st.st_size;
	return FW_OK;
}

fw_status fw_file_open(struct fw_file *file, const char *path, struct fw_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	fw_status status;

	*file = (struct fw_file){ 0 };
	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	status = map(file, fd, path, err);
	close(fd);
	return status;
}

void fw_file_close(struct fw_file *file)
{
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->size);
	*file = (struct fw_file){ 0 };
}
