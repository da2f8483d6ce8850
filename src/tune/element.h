#ifndef FW_TUNE_ELEMENT_H
#define FW_TUNE_ELEMENT_H
/* One element of a buffer, or a scalar argument. */
#include "tune/spec.h"

/* Of a floating type value, else integer, cut to the type's width. */
void fw_tune_element_store(enum fw_tune_type type, double value, int64_t integer, void *to);

/* "3.5", "-7", "nan"; a floating one that was never written says so. */
void fw_tune_element_text(enum fw_tune_type type, const void *element, char *text, size_t bytes);

#endif
