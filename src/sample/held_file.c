#include "sample/held_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_file(const struct fw_held_files *files, struct fw_held_name name)
{
	char path[64];

	if (name.tid)
		snprintf(path, sizeof(path), "proc/%u/task/%u/%s", name.pid, name.tid, name.name);
	else
		snprintf(path, sizeof(path), "proc/%u/%s", name.pid, name.name);
	/* Not blocking: below a root for tests, a name may be a pipe. */
	return openat(files->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The kernel makes the text anew for each reading from the start, and gives it in one piece. */
static int read_text(int fd, char text[FW_PROC_FILE_BYTES])
{
	ssize_t n;

	do
		n = pread(fd, text, FW_PROC_FILE_BYTES - 1, 0);
	while (n < 0 && errno == EINTR);
	text[n > 0 ? n : 0] = '\0';
	return n < 0 ? errno : 0;
}

int fw_held_read(struct fw_held_files *files, struct fw_held_file *file, struct fw_held_name name,
		 char text[FW_PROC_FILE_BYTES])
{
	int fd = file->fd, error;

	if (fd < 0)
		fd = open_file(files, name);
	if (fd < 0) {
		text[0] = '\0';
		return errno;
	}
	error = read_text(fd, text);
	if (file->fd < 0 && !error && files->held < files->most) {
		file->fd = fd;
		files->held++;
	} else if (file->fd < 0) {
		close(fd);
	}
	return error;
}

void fw_held_close(struct fw_held_files *files, struct fw_held_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	files->held--;
	file->fd = -1;
}
