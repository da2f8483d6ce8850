#include "inject/control.h"

#include "inject/descriptor.h"
#include "trace/recording.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often a file is looked for while it is not there. */
#define LOOK_NS INT64_C(200000000)

static void name_file(struct fw_control_file *file, const char *dir, const char *name)
{
	if (snprintf(file->path, sizeof(file->path), "%s/%s", dir, name) >= (int)sizeof(file->path))
		file->path[0] = 0;
	file->fd = -1;
}

/* Programs close descriptors that are not theirs, and use the numbers again. */
static bool is_open(struct fw_control_file *file, int64_t now_mono)
{
	struct stat st;

	if (fw_descriptor_is(file->fd, file->device, file->inode))
		return true;
	file->fd = -1;
	if (now_mono < file->look_again_mono)
		return false;
	file->look_again_mono = now_mono + LOOK_NS;
	file->fd = fw_descriptor_open(file->path, O_RDWR);
	if (file->fd < 0)
		file->fd = fw_descriptor_open(file->path, O_RDONLY);
	if (file->fd < 0 || fstat(file->fd, &st))
		return false;
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return true;
}

void fw_control_open(struct fw_control *control, const char *dir, uint32_t pid)
{
	char name[32];

	*control = (struct fw_control){ .control.fd = -1 };
	name_file(&control->control, dir, FW_REC_CONTROL_FILE);
	snprintf(name, sizeof(name), FW_REC_YIELD_FILE, pid);
	name_file(&control->yield, dir, name);
	is_open(&control->control, 0);
	is_open(&control->yield, 0);
}

enum fw_rec_wanted fw_control_wanted(struct fw_control *control, int64_t now_mono)
{
	uint32_t words[3]; /* magic, version, wanted */

	_Static_assert(offsetof(struct fw_rec_control, wanted) == 8, "words");
	if (!is_open(&control->control, now_mono) ||
	    pread(control->control.fd, words, sizeof(words), 0) != sizeof(words) ||
	    words[0] != FW_REC_CONTROL_MAGIC || words[1] != FW_REC_VERSION ||
	    words[2] > FW_REC_WANT_STOP)
		return FW_REC_WANT_RECORD;
	return (enum fw_rec_wanted)words[2];
}

bool fw_control_is_asked(struct fw_control *control, int64_t now_mono)
{
	uint32_t asked = 0;

	return is_open(&control->yield, now_mono) &&
	       pread(control->yield.fd, &asked, sizeof(asked), 0) == sizeof(asked) && asked == 1;
}

void fw_control_grant(struct fw_control *control, bool granted)
{
	uint32_t value = granted;

	/* A write that fails leaves the shim waiting its second out. */
	if (is_open(&control->yield, 0) &&
	    pwrite(control->yield.fd, &value, sizeof(value),
		   offsetof(struct fw_rec_yield, granted)) != sizeof(value))
		control->yield.look_again_mono = 0;
}
