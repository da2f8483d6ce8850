#ifndef FW_HW_PEAKS_H
#define FW_HW_PEAKS_H
/* What a GPU can do at most, from peaks.def. Immutable, static storage. */
#include "hw/chips.h"

struct fw_hw_peak {
	const char *name;    /* as in chips.def */
	const char *variant; /* of several cards of that name, the one that is meant; "" */
	double fp32_tflops, tensor_tflops, gb_s;
	char source; /* the letters of peaks.def */
};

/* By any name that fw_hw_chip_find takes. FW_ERR_UNSUPPORTED: not known, or its peaks are not; the message lists them. */
fw_status fw_hw_peak_find(const char *name, const struct fw_hw_peak **peak, struct fw_error *err);

/* The table; *count rows. */
const struct fw_hw_peak *fw_hw_peaks_all(size_t *count);

#endif
