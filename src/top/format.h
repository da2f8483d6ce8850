#ifndef FW_TOP_FORMAT_H
#define FW_TOP_FORMAT_H
/* Values to short texts for people; what is unknown is "?". */
#include "base/str.h"
#include "top/history.h"

#define FW_FORMAT_BYTES 24

/* "66 %", "9.8 %" below 10. */
void fw_format_percent(char text[FW_FORMAT_BYTES], struct fw_value value);

/* "71.2 GiB". */
void fw_format_bytes(char text[FW_FORMAT_BYTES], struct fw_value value);

/* "71.2G", at most 5 columns. */
void fw_format_bytes_short(char text[FW_FORMAT_BYTES], struct fw_value value);

/* A whole number. */
void fw_format_count(char text[FW_FORMAT_BYTES], struct fw_value value);

/* "45 s", "12 min", "2 h 13 min", "3 d". */
void fw_format_duration(char text[FW_FORMAT_BYTES], double seconds);

/* The newest `width` points as bars, 0 to most; unknown points are blank. */
void fw_format_bars(struct fw_str *out, const struct fw_history *history, unsigned width,
		    double most, bool is_ascii);

#endif
