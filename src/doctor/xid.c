/* xid: errors that the driver wrote to the kernel's log. */
#include "doctor/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#define MARK     "NVRM: Xid ("
#define READ_ALL 3 /* syslog(2): the newest bytes of the kernel's buffer */

/* The end of the log that is read: it is the latest that counts. */
#define LOG_BYTES ((size_t)4 << 20)

struct log {
	const char *text; /* NULL: not read; a crash leaves NULs in it */
	size_t len;
	const char *path;
	int error;   /* if so */
	bool is_cut; /* the log is longer */
};

/* Those that mean hardware or driver (NVIDIA, "Xid Errors"); 13, 31, 43, 45 are a program's own. */
static const struct {
	unsigned xid;
	const char *text;
} faults[] = {
	{ 48, "a memory error that ECC could not correct" },
	{ 61, "the GPU's controller stopped" },
	{ 62, "the GPU's controller stopped" },
	{ 63, "a memory row is to be remapped" },
	{ 64, "a memory row could not be remapped" },
	{ 74, "an NVLink error" },
	{ 79, "the GPU fell off the bus" },
	{ 92, "many corrected memory errors" },
	{ 94, "a contained memory error" },
	{ 95, "a memory error that was not contained" },
	{ 119, "the GPU's system processor does not answer" },
	{ 120, "the GPU's system processor failed" },
	{ 140, "an unrecovered memory error" },
};

static void read_buffer(struct fw_host *host, struct log *log)
{
	char *buffer = malloc(LOG_BYTES);
	int len = buffer ? klogctl(READ_ALL, buffer, (int)LOG_BYTES) : -1;

	if (len > 0) {
		log->text = fw_arena_strndup(&host->arena, buffer, (size_t)len);
		log->len = log->text ? (size_t)len : 0;
		log->path = "the kernel's buffer";
	}
	free(buffer);
}

/* The kernel's buffer on this machine, where it may be read; else the files that loggers write. */
static struct log read_log(struct fw_host *host)
{
	static const char *const paths[] = { "/var/log/kern.log", "/var/log/dmesg",
					     "/var/log/messages", "/var/log/syslog" };
	struct log log = { .error = ENOENT };

	if (!host->is_other)
		read_buffer(host, &log);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && !log.text; i++) {
		struct fw_host_file file = fw_host_read_end(host, paths[i], LOG_BYTES, &log.is_cut);

		log.text = file.text;
		log.len = file.len;
		log.path = paths[i];
		if (!file.text && file.error != ENOENT)
			log.error = file.error;
	}
	return log;
}

static const char *text_of(unsigned long xid)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i].xid == xid)
			return faults[i].text;
	return NULL;
}

void fw_check_xid(struct fw_host *host, struct fw_doctor_result *result)
{
	struct log log = read_log(host);
	const char *line = NULL;
	unsigned count = 0, own = 0;
	unsigned long last = 0;

	if (!log.text) {
		fw_doctor_unknown(result, "the kernel's log: %s (sudo dmesg | grep Xid)",
				  fw_host_error(log.error));
		return;
	}
	/* "NVRM: Xid (PCI:0000:17:00): 79, pid=1234, ..." */
	for (const char *p = log.text;
	     (p = memmem(p, log.len - (size_t)(p - log.text), MARK, strlen(MARK))); p++) {
		const char *number = strstr(p, "): ");
		unsigned long xid =
			number && number < p + strcspn(p, "\n") ? strtoul(number + 3, NULL, 10) : 0;

		own += !text_of(xid);
		if (!text_of(xid))
			continue;
		count++;
		last = xid;
		line = p;
	}
	if (count) {
		fw_doctor_problem(result,
				  "%u Xid error%s of the hardware or driver, the last %lu: %s "
				  "(%.*s), in %s%s",
				  count, count == 1 ? "" : "s", last, text_of(last),
				  (int)strcspn(line + 11, ")"), line + 11,
				  log.is_cut ? "the last 4 MiB of " : "", log.path);
		fw_doctor_fix(result,
			      "drain the node; sudo nvidia-smi --gpu-reset, or a reboot; if it "
			      "comes back, have the card replaced");
	} else {
		fw_doctor_ok(result, "no Xid error of the hardware in %s%s%s",
			     log.is_cut ? "the last 4 MiB of " : "", log.path,
			     own ? " (some of programs: faults of their own kernels)" : "");
	}
}
