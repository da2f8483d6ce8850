#ifndef FW_FAKE_CUPTI_H
#define FW_FAKE_CUPTI_H
/* The stand-in for libcupti, inside: which records are wanted, what they look like, how they are handed over. */
#include "gpu.h"

#include <cupti.h>
#include <stddef.h>

/* The toolkits whose layouts we write. */
enum toolkit { TOOLKIT_11_8, TOOLKIT_12_0, TOOLKIT_12_2, TOOLKIT_12_8, TOOLKIT_13_0 };

#define RECORD_BYTES 256 /* the longest, and what follows it */

/* A kind that no header knows. */
#define KIND_UNKNOWN 900

enum toolkit cupti_toolkit(void);

/* CLOCK_MONOTONIC to what cuptiGetTimestamp counts in. */
uint64_t cupti_time(int64_t mono);

/* The error that the script wants of this call of that function; 0: none. */
CUptiResult cupti_error(const char *function);

/* Writes a record into RECORD_BYTES; its size, 0 for what has none. */
size_t record_of_activity(uint8_t *out, const struct fake_activity *a, CUpti_ActivityKind kind);
size_t record_of_call(uint8_t *out, const struct fake_call *call, uint32_t thread);
size_t record_of_device(uint8_t *out, uint32_t device);
size_t record_of_context(uint8_t *out, uint32_t device);
size_t record_of_external(uint8_t *out, uint32_t kind, uint64_t id, uint32_t correlation);
size_t record_of_overhead(uint8_t *out, int64_t start, int64_t end);
size_t record_unknown(uint8_t *out);

/* The size of a record in a buffer; 0: not one of ours. */
size_t record_bytes(const CUpti_Activity *record);
/* What a forced flush makes of a record that is not complete. */
void record_forget_times(CUpti_Activity *record);

/* Puts a record that is complete from then on into the buffer, asking for one where needed. */
void buffers_put(const uint8_t *record, size_t bytes, int64_t complete);
/* Throws away what was not handed over; after that nobody is called. */
void buffers_reset(void);

#endif
