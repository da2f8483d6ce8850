#ifndef FW_TUNE_NEAREST_H
#define FW_TUNE_NEAREST_H
/* The known name that a mistyped one is most like. */
#include <stddef.h>

struct fw_tune_nearest {
	const char *name; /* the mistyped one */
	size_t len;
	const char *best; /* NULL: none is near */
	size_t distance;
};

/* Looks at one more known name. */
void fw_tune_nearest_try(struct fw_tune_nearest *nearest, const char *known);

#endif
