#ifndef FW_CLI_TOP_H
#define FW_CLI_TOP_H
/* The parts of the command top. */
#include "top/view.h"

struct fw_top_arguments {
	bool once;
	const char *format, *prometheus;
	struct fw_view_options view;
};

int64_t fw_top_clock_ns(void);

/* The screen, and the exporter, until the user or a signal ends them; both return the exit code. */
int fw_top_live(const struct fw_top_arguments *args, struct fw_top *top);
int fw_top_export(const struct fw_top_arguments *args, struct fw_top *top);

#endif
