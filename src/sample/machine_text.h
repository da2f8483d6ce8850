#ifndef FW_SAMPLE_MACHINE_TEXT_H
#define FW_SAMPLE_MACHINE_TEXT_H
/* What the kernel's files about the whole machine say. The texts are foreign. */
#include <stdbool.h>
#include <stdint.h>

struct fw_pressure {
	uint64_t some_ns, full_ns;
};

/* /proc/pressure/<resource>; false: not such a text. */
bool fw_pressure_parse(const char *text, struct fw_pressure *pressure);

/* Bytes that came in and went out, of all that count. */
struct fw_traffic {
	uint64_t in, out;
};

/* /proc/net/dev without lo: received and sent. False: no interface. */
bool fw_net_parse(const char *text, struct fw_traffic *bytes);

/*
 * /proc/diskstats: read and written. Counts disks only, not their partitions nor what lies on other
 * disks (loop, dm, md, zram). False: no disk.
 */
bool fw_disks_parse(const char *text, struct fw_traffic *bytes);

#endif
