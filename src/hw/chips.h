#ifndef FW_HW_CHIPS_H
#define FW_HW_CHIPS_H

#include "base/error.h"

#include <stddef.h>

/* A GPU by its product name. Immutable, static storage. */
struct fw_hw_chip {
	const char *name; /* "H200", "GeForce RTX 4090" without the family words: "RTX 4090" */
	unsigned cc;      /* compute capability x 10 */
	unsigned sms;     /* streaming multiprocessors; 0: not known */
	char source;      /* of sms; the letters of limits.def */
};

/*
 * Finds a GPU by name, as people write it ("h200", "RTX-4090") or as the driver does ("NVIDIA H100
 * 80GB HBM3", "Tesla T4"). A name not known fails and the message lists similar ones.
 */
fw_status fw_hw_chip_find(const char *name, const struct fw_hw_chip **chip, struct fw_error *err);

/* The table; *count rows. */
const struct fw_hw_chip *fw_hw_chips_all(size_t *count);

#endif
