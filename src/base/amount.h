#ifndef FW_BASE_AMOUNT_H
#define FW_BASE_AMOUNT_H
/*
 * Times, bytes and rates for people, the same everywhere: the largest unit that leaves a figure from 1
 * on, and three digits ("9.50 us", "963 MB", "1.97 GB"), but whole microseconds from 10 us on ("870 us")
 * and tenths of milliseconds from 10 ms up to 10 s ("976.4 ms"), so that parts of a window compare.
 */
#include <stdint.h>

struct fw_amount {
	char text[32];
};

/* "12.35 s", "976.4 ms", "3.20 us", "120 ns", "0"; negative: "unknown". */
struct fw_amount fw_amount_time(int64_t ns);

/* In powers of 1000: "1.97 GB", "963 MB", "104 B"; negative: "unknown". */
struct fw_amount fw_amount_bytes(int64_t bytes);

/* "55.1 GB/s"; "unknown" where bytes are, or no time passed. */
struct fw_amount fw_amount_rate(int64_t bytes, int64_t ns);

#endif
