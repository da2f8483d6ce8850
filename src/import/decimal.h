#ifndef FW_IMPORT_DECIMAL_H
#define FW_IMPORT_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/*
 * The text of a JSON number -> an integer, exactly: never through a double, which has no room for
 * nanoseconds since 1970.
 */
enum fw_decimal_result {
	FW_DECIMAL_OK,
	FW_DECIMAL_NOT_A_NUMBER,
	FW_DECIMAL_OUT_OF_RANGE /* beyond +-FW_DECIMAL_MAX */
};

/* Sums and differences of two such values cannot overflow; 2^61 ns are 73 years. */
#define FW_DECIMAL_MAX (INT64_C(1) << 61)

/*
 * number * 10^scale, rounded half to even. scale 3 turns microseconds into nanoseconds, scale 0 reads
 * an integer. The whole text must be the number. *out is set only with FW_DECIMAL_OK.
 */
enum fw_decimal_result fw_decimal_parse(const char *text, size_t len, int scale, int64_t *out);

#endif
