#ifndef FW_TOP_SCREEN_H
#define FW_TOP_SCREEN_H
/* The live view on a terminal. */
#include "top/view.h"

/*
 * Shows top until q is pressed or a signal (INT, TERM, HUP, QUIT) asks for the end; the terminal is
 * then as it was. Returns the signal's number in *signal, 0 after q. A terminal that cannot be used
 * is FW_ERR_UNSUPPORTED. options: ascii, interval and sort are taken, the rest is the screen's.
 */
fw_status fw_screen_run(struct fw_top *top, const struct fw_view_options *options, bool has_color,
			int *signal, struct fw_error *err);

#endif
