#include "record/folder.h"

#include "trace/recording.h"
#include "trace/recording_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *fw_record_rank(void)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					     "SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rank = getenv(names[i]);

		if (rank && *rank)
			return rank;
	}
	return NULL;
}

static fw_status expand(struct fw_str *name, char what, struct fw_error *err)
{
	char host[HOST_NAME_MAX + 1] = { 0 };
	const char *rank = fw_record_rank();

	switch (what) {
	case '%': fw_str_putc(name, '%'); return FW_OK;
	case 'p': fw_str_printf(name, "%ld", (long)getpid()); return FW_OK;
	case 'h':
		if (gethostname(host, sizeof(host) - 1))
			return fw_fail(err, FW_ERR_ARGUMENT, "%%h: %s", strerror(errno));
		fw_str_puts(name, host);
		return FW_OK;
	case 'r':
		if (!rank || strspn(rank, "0123456789") != strlen(rank))
			return fw_fail(err, FW_ERR_ARGUMENT,
				       "%%r: no rank: RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or "
				       "SLURM_PROCID is a number where a launcher sets it");
		fw_str_puts(name, rank);
		return FW_OK;
	default:
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the folder's name may hold %%r, %%h, %%p and %%%%, not '%%%c'",
			       what ? what : ' ');
	}
}

fw_status fw_record_folder_name(struct fw_str *name, const char *pattern, struct fw_error *err)
{
	for (const char *p = pattern; *p; p++) {
		fw_status status;

		if (*p != '%') {
			fw_str_putc(name, *p);
			continue;
		}
		status = expand(name, p[1], err);
		if (status)
			return status;
		p++;
	}
	if (name->failed)
		return fw_fail_nomem(err, strlen(pattern));
	return name->len ? FW_OK : fw_fail(err, FW_ERR_ARGUMENT, "the folder's name is empty");
}

void fw_record_folder_default(struct fw_str *name, const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *base = slash && slash[1] ? slash + 1 : program;
	time_t now = time(NULL);
	struct tm local = { 0 };
	char date[32] = { 0 };

	localtime_r(&now, &local);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
	fw_str_puts(name, "fullwarp-");
	for (const char *p = base; *p && p - base < 100; p++)
		fw_str_putc(name, *p == '/' ? '_' : *p);
	fw_str_printf(name, "-%s-%ld", date, (long)getpid());
}

/* Makes the folder and those above it, as mkdir -p does. */
static fw_status make(char *path, bool *was_made, struct fw_error *err)
{
	size_t length = strlen(path);
	struct stat info;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0777); /* the last one tells whether all is well */
		*p = '/';
	}
	*was_made = !mkdir(path, 0777);
	if (*was_made)
		return FW_OK;
	if (errno != EEXIST)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	if (!stat(path, &info) && !S_ISDIR(info.st_mode))
		return fw_fail(err, FW_ERR_ARGUMENT, "%s: this is not a folder", path);
	return FW_OK;
}

/* Whether there is a file in the folder other than the control page. */
static bool has_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			strcmp(entry->d_name, FW_REC_CONTROL_FILE) != 0;
	if (dir)
		closedir(dir);
	return found;
}

static fw_status map_page(struct fw_record_folder *folder, struct fw_error *err)
{
	void *page = mmap(NULL, FW_REC_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  folder->control_fd, 0);

	if (page == MAP_FAILED)
		return fw_fail(err, FW_ERR_IO, "%s/%s: %s", folder->path, FW_REC_CONTROL_FILE,
			       strerror(errno));
	folder->control = page;
	return FW_OK;
}

/* The folder is this recorder's: fills the page. The file is written, so that a full disk shows here. */
static fw_status lead(struct fw_record_folder *folder, struct fw_error *err)
{
	static const char zeros[FW_REC_CONTROL_BYTES];
	struct fw_rec_control *page;
	ssize_t n = pwrite(folder->control_fd, zeros, sizeof(zeros), 0);
	fw_status status;

	if (n != (ssize_t)sizeof(zeros))
		return fw_fail(err, FW_ERR_IO, "%s: %s", folder->path,
			       n < 0 ? strerror(errno) : "no space left");
	status = map_page(folder, err);
	if (status)
		return status;
	folder->is_leader = true;
	page = folder->control;
	page->version = FW_REC_VERSION;
	page->recorder_pid = (int32_t)getpid();
	memcpy(page->boot_id, folder->boot_id, sizeof(page->boot_id));
	atomic_store(&page->wanted, FW_REC_WANT_PAUSE);
	page->magic = FW_REC_CONTROL_MAGIC;
	return FW_OK;
}

/* Another recorder leads, or led and was killed. is_alone: nobody else holds the page now. */
static fw_status join(struct fw_record_folder *folder, bool is_alone, struct fw_error *err)
{
	fw_status status = map_page(folder, err);
	const struct fw_rec_control *page = folder->control;

	if (status)
		return status;
	if (page->magic != FW_REC_CONTROL_MAGIC || page->version != FW_REC_VERSION)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: holds a recording of another version of fullwarp",
			       folder->path);
	if (memcmp(page->boot_id, folder->boot_id, sizeof(page->boot_id)) != 0)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: another host records into it; give each its own, with %%h",
			       folder->path);
	if (is_alone && kill(page->recorder_pid, 0) && errno == ESRCH)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: holds a recording whose recorder was killed; take another name",
			       folder->path);
	return FW_OK;
}

static void unlink_page(const struct fw_record_folder *folder)
{
	struct fw_str name = { 0 };

	fw_str_printf(&name, "%s/%s", folder->path, FW_REC_CONTROL_FILE);
	if (!name.failed)
		unlink(fw_str_text(&name));
	fw_str_release(&name);
}

/* Opens and locks the page's file; *is_alone: nobody else held it. 1: it was just taken away, again. */
static int lock_page(struct fw_record_folder *folder, bool *is_alone, struct fw_error *err)
{
	struct fw_str name = { 0 };
	struct stat info = { 0 };
	int failed;

	fw_str_printf(&name, "%s/%s", folder->path, FW_REC_CONTROL_FILE);
	folder->control_fd = open(fw_str_text(&name), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	failed = folder->control_fd < 0 ? errno : 0;
	fw_str_release(&name);
	if (failed) {
		fw_fail(err, FW_ERR_IO, "%s: %s", folder->path, strerror(failed));
		return -1;
	}
	*is_alone = !flock(folder->control_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
	if (!*is_alone)
		flock(folder->control_fd, LOCK_SH);
	if (!fstat(folder->control_fd, &info) && info.st_nlink)
		return 0;
	close(folder->control_fd);
	folder->control_fd = -1;
	return 1;
}

static fw_status enter(struct fw_record_folder *folder, struct fw_error *err)
{
	struct stat info = { 0 };
	bool is_alone = false;
	fw_status status;
	int again = 1;

	for (int i = 0; i < 10 && again > 0; i++)
		again = lock_page(folder, &is_alone, err);
	if (again < 0)
		return FW_ERR_IO;
	if (again || fstat(folder->control_fd, &info))
		return fw_fail(err, FW_ERR_IO, "%s: other recorders come and go", folder->path);
	if (info.st_size == FW_REC_CONTROL_BYTES) {
		status = join(folder, is_alone, err);
	} else if (!is_alone) {
		return fw_fail(err, FW_ERR_IO, "%s: another recorder could not begin",
			       folder->path);
	} else if (info.st_size || has_files(folder->path)) {
		if (!info.st_size)
			unlink_page(folder);
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: exists and is not empty; take another name", folder->path);
	} else {
		status = lead(folder, err);
		if (status)
			fw_record_folder_remove_page(folder);
	}
	flock(folder->control_fd, LOCK_SH);
	return status;
}

fw_status fw_record_folder_open(struct fw_record_folder *folder, const char *path,
				struct fw_error *err)
{
	struct fw_rec_file header;
	struct fw_error why = { 0 };
	char *name = strdup(path);
	fw_status status = name ? FW_OK : fw_fail_nomem(&why, strlen(path));

	*folder = (struct fw_record_folder){ .control_fd = -1 };
	fw_rec_begin_file(&header, FW_REC_FILE_HOST, 0);
	memcpy(folder->boot_id, header.boot_id, sizeof(folder->boot_id));
	if (!status)
		status = make(name, &folder->was_made, &why);
	if (!status) {
		folder->path = realpath(name, NULL);
		if (!folder->path)
			status = fw_fail(&why, FW_ERR_IO, "%s: %s", path, strerror(errno));
	}
	if (!status)
		status = enter(folder, &why);
	free(name);
	if (status) {
		fw_record_folder_release(folder);
		return fw_fail(err, status, "%s", why.message);
	}
	return FW_OK;
}

bool fw_record_folder_is_last(struct fw_record_folder *folder)
{
	return !flock(folder->control_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
}

void fw_record_folder_remove_page(struct fw_record_folder *folder)
{
	unlink_page(folder);
	if (folder->was_made)
		rmdir(folder->path); /* not if there is a file in it */
}

void fw_record_folder_release(struct fw_record_folder *folder)
{
	if (folder->control)
		munmap(folder->control, FW_REC_CONTROL_BYTES);
	if (folder->control_fd >= 0)
		close(folder->control_fd);
	free(folder->path);
	*folder = (struct fw_record_folder){ .control_fd = -1 };
}
