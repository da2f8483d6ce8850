#ifndef FW_NN_WINDOW_H
#define FW_NN_WINDOW_H
/* The window of a convolution or a pool: its attributes made explicit for the shapes at hand. */
#include "nn/planner.h"

/*
 * r, s: of the filter; 0: read kernel_shape. Padding becomes what the last window reaches, so that
 * (size + both paddings - extent) / stride + 1 is the size of the result also where ceil_mode made it.
 */
fw_status fw_nn_window_read(const struct fw_nn_planner *p, uint32_t node, int64_t r, int64_t s,
			    struct fw_nn_window *window, struct fw_error *err);
bool fw_nn_window_pads(const struct fw_nn_window *window);

#endif
