#ifndef FW_SERVE_LABELS_H
#define FW_SERVE_LABELS_H
/* A labels file: the name of class i on line i + 1. */
#include "base/error.h"

#include <stdint.h>

struct fw_labels {
	char *text;         /* owned: the file, each line ended by NUL */
	const char **names; /* owned: in text */
	uint32_t count;
};

fw_status fw_labels_read(struct fw_labels *labels, const char *path, struct fw_error *err);
void fw_labels_release(struct fw_labels *labels);

#endif
