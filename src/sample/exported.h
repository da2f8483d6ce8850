#ifndef FW_SAMPLE_EXPORTED_H
#define FW_SAMPLE_EXPORTED_H
/* How a value is called in OpenMetrics, which wants base units and names that end in them. */
#include "sample/values.h"

#define FW_EXPORTED_NAME_BYTES 96

struct fw_exported {
	char name
		[FW_EXPORTED_NAME_BYTES]; /* "sm_busy_percent" of a GPU: "fullwarp_gpu_sm_busy_ratio" */
	const char *unit;                 /* NULL: none; static storage */
	double scale;                     /* of the number */
};

void fw_exported(const struct fw_value_kind *kind, const char *prefix,
		 struct fw_exported *exported);

#endif
