#include "inject/control.h"

#include "trace/recording.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* How often a yield file is looked for while there is none. */
#define LOOK_NS INT64_C(200000000)

static void make_path(char path[PATH_MAX], const char *dir, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		path[0] = 0;
}

void fw_control_open(struct fw_control *control, const char *dir, uint32_t pid)
{
	char name[32];

	*control = (struct fw_control){ .has_yield = false };
	make_path(control->control, dir, FW_REC_CONTROL_FILE);
	snprintf(name, sizeof(name), FW_REC_YIELD_FILE, pid);
	make_path(control->yield, dir, name);
}

static bool read_at(const char *path, void *to, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = pread(fd, to, bytes, 0);
	close(fd);
	return got == (ssize_t)bytes;
}

enum fw_rec_wanted fw_control_wanted(const struct fw_control *control)
{
	uint32_t words[3]; /* magic, version, wanted */

	_Static_assert(offsetof(struct fw_rec_control, wanted) == 8, "words");
	if (!read_at(control->control, words, sizeof(words)) || words[0] != FW_REC_CONTROL_MAGIC ||
	    words[1] != FW_REC_VERSION || words[2] > FW_REC_WANT_STOP)
		return FW_REC_WANT_RECORD;
	return (enum fw_rec_wanted)words[2];
}

bool fw_control_is_asked(struct fw_control *control, int64_t now_mono)
{
	uint32_t asked = 0;

	if (!control->has_yield && now_mono < control->look_again_mono)
		return false;
	control->has_yield = read_at(control->yield, &asked, sizeof(asked));
	control->look_again_mono = now_mono + LOOK_NS;
	return control->has_yield && asked == 1;
}

void fw_control_grant(const struct fw_control *control, bool granted)
{
	uint32_t value = granted;
	int fd = open(control->yield, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* A write that fails leaves the shim waiting its second out. */
	if (pwrite(fd, &value, sizeof(value), offsetof(struct fw_rec_yield, granted)) < 0)
		value = 0;
	close(fd);
}
