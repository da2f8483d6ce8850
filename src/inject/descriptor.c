#include "inject/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that number descriptors themselves stay well below. */
#define LEAST 300

int fw_descriptor_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LEAST);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

bool fw_descriptor_is(int fd, dev_t device, ino_t inode)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == device && st.st_ino == inode;
}
