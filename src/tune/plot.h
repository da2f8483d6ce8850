#ifndef FW_TUNE_PLOT_H
#define FW_TUNE_PLOT_H
/* All configurations that ran as a picture (SVG): time against theoretical occupancy. */
#include "base/str.h"
#include "tune/tune.h"

/* FW_ERR_UNSUPPORTED: no configuration has both a time and an occupancy. */
fw_status fw_tune_plot(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
		       struct fw_str *out, struct fw_error *err);

#endif
