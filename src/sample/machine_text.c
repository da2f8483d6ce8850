#include "sample/machine_text.h"

#include "sample/proc_files.h"

#include <string.h>

/* The kernel counts disk traffic in these, whatever the disk's own sectors are. */
#define SECTOR_BYTES 512

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=<microseconds>" */
static bool parse_total(const char *text, const char *key, uint64_t *ns)
{
	const char *line = strstr(text, key), *total = line ? strstr(line, "total=") : NULL;
	uint64_t us;

	if (!total || total > line + strcspn(line, "\n") || !fw_proc_digits(total + 6, &us))
		return false;
	return !__builtin_mul_overflow(us, UINT64_C(1000), ns);
}

bool fw_pressure_parse(const char *text, struct fw_pressure *pressure)
{
	pressure->full_ns = 0;
	if (!parse_total(text, "some ", &pressure->some_ns))
		return false;
	return !strstr(text, "full ") || parse_total(text, "full ", &pressure->full_ns);
}

/* Field `index` of blank-separated ones, 0 the first, within the line. */
static bool field(const char *line, unsigned index, uint64_t *value)
{
	for (unsigned i = 0;; i++) {
		line += strspn(line, " \t");
		if (i == index)
			return fw_proc_digits(line, value);
		line += strcspn(line, " \t\n");
		if (!*line || *line == '\n')
			return false;
	}
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static void add(struct fw_traffic *sum, uint64_t in, uint64_t out)
{
	/* Wrapping, as the kernel's own counters do. */
	sum->in += in;
	sum->out += out;
}

bool fw_net_parse(const char *text, struct fw_traffic *bytes)
{
	bool is_any = false;

	*bytes = (struct fw_traffic){ 0 };
	for (const char *line = text; *line; line = next_line(line)) {
		const char *name = line + strspn(line, " \t");
		size_t len = strcspn(name, ":\n");
		uint64_t in, out;

		if (name[len] != ':' || (len == 2 && !strncmp(name, "lo", 2)))
			continue;
		if (!field(name + len + 1, 0, &in) || !field(name + len + 1, 8, &out))
			continue;
		add(bytes, in, out);
		is_any = true;
	}
	return is_any;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* nvme0n1 and mmcblk0 are disks with partitions nvme0n1p1; sda has sda1. */
static bool is_disk(const char *name, size_t len)
{
	static const char *const whole[] = { "sd", "vd", "hd", "xvd" };
	size_t digits = 0;

	while (digits < len && is_digit(name[len - 1 - digits]))
		digits++;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strncmp(name, whole[i], strlen(whole[i])))
			return !digits;
	if (strncmp(name, "nvme", 4) && strncmp(name, "mmcblk", 6))
		return false;
	return digits && digits < len && name[len - 1 - digits] != 'p';
}

bool fw_disks_parse(const char *text, struct fw_traffic *bytes)
{
	bool is_any = false;

	*bytes = (struct fw_traffic){ 0 };
	for (const char *line = text; *line; line = next_line(line)) {
		const char *name = line;
		uint64_t in, out;

		for (int i = 0; i < 2; i++) { /* major and minor number */
			name += strspn(name, " \t");
			name += strspn(name, "0123456789");
		}
		name += strspn(name, " \t");
		if (!is_disk(name, strcspn(name, " \t\n")) || !field(name, 3, &in) ||
		    !field(name, 7, &out))
			continue;
		add(bytes, in * SECTOR_BYTES, out * SECTOR_BYTES);
		is_any = true;
	}
	return is_any;
}
