#ifndef FW_CLI_DURATION_H
#define FW_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "START,END", each a decimal number with an optional unit (ns, us, ms, s; none: ms), exactly, to ns.
 * False: it is not that, or END is not after START.
 */
bool fw_parse_window(const char *text, int64_t *start_ns, int64_t *end_ns);

/*
 * A time over 0, "90" or "1.5m": a decimal number with an optional unit (ns, us, ms, s, m, h; none: s),
 * exactly, to ns. False: it is not that.
 */
bool fw_parse_duration(const char *text, int64_t *ns);

#endif
