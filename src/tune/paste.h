#ifndef FW_TUNE_PASTE_H
#define FW_TUNE_PASTE_H
/* A configuration as lines for the program that launches the kernel. */
#include "base/str.h"
#include "tune/result.h"

/* C++ lines, each with its newline; what the configuration does not change is left out. */
fw_status fw_tune_paste(const struct fw_tune_spec *spec, const struct fw_tune_result *result,
			struct fw_str *out, struct fw_error *err);

/* The kernel's name without its template arguments and namespace: "conv" of "ns::conv<BX>". Length of it in *len. */
const char *fw_tune_plain_name(const char *kernel, size_t *len);

#endif
