/* A file of an image into memory. */
#include "serve/image_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Up to size bytes; fewer where the file has become shorter. */
static fw_status read_all(int fd, unsigned char *to, size_t size, size_t *got, struct fw_error *err)
{
	*got = 0;
	while (*got < size) {
		ssize_t n = read(fd, to + *got, size - *got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fw_fail(err, FW_ERR_IO, "cannot read it: %s", strerror(errno));
		if (!n)
			break;
		*got += (size_t)n;
	}
	return FW_OK;
}

static fw_status read_file(int fd, size_t most, unsigned char **bytes, size_t *size,
			   struct fw_error *err)
{
	struct stat st;
	fw_status status;

	if (fstat(fd, &st))
		return fw_fail(err, FW_ERR_IO, "cannot read it: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "not a regular file");
	if ((uintmax_t)st.st_size > most)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%lld bytes, of which at most %zu are read",
			       (long long)st.st_size, most);
	*bytes = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (!*bytes)
		return fw_fail_nomem(err, (size_t)st.st_size);
	status = read_all(fd, *bytes, (size_t)st.st_size, size, err);
	if (status)
		free(*bytes);
	return status;
}

fw_status fw_image_bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size,
			      struct fw_error *err)
{
	/* Not waiting for the other end of a pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	fw_status status;

	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "cannot open it: %s", strerror(errno));
	status = read_file(fd, most, bytes, size, err);
	close(fd);
	return status;
}
