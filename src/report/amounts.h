#ifndef FW_REPORT_AMOUNTS_H
#define FW_REPORT_AMOUNTS_H
/* Shares and the ledger's times for people: rounded, and "unknown" where they are. */
#include "base/amount.h"

#include <stddef.h>
#include <stdint.h>

/* Always ms, to the microsecond: "1290.123 ms", for columns. */
struct fw_amount fw_amount_ms(int64_t ns);

/* part of whole as "12.3 %"; negative part or whole without length: "unknown". */
struct fw_amount fw_amount_share(int64_t part, int64_t whole);

/* "12.3 %" for 123. */
struct fw_amount fw_amount_tenths(int64_t tenths);

/* value as tenths of a percent of total, rounded; 0 if total is. */
int64_t fw_tenths(int64_t value, int64_t total);

/*
 * The same for values (>= 0) that are shown with their sum: each is rounded, and the smallest the
 * other way where that is needed to make them add up to what their sum is rounded to. At most
 * FW_APPORTION_MOST values.
 */
#define FW_APPORTION_MOST 64
void fw_apportion(const int64_t *values, size_t count, int64_t total, int64_t *tenths);

#endif
