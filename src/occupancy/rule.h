#ifndef FW_OCCUPANCY_RULE_H
#define FW_OCCUPANCY_RULE_H

#include "fullwarp/occupancy.h"
#include "hw/limits.h"

/*
 * The rule for given limits, which may come from a device instead of the table; in->cc is not read,
 * in must be valid (fw_occupancy_check) and the struct_size members are not looked at.
 */
void fw_occupancy_compute(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
			  struct fw_occupancy_result *out);

/* FW_ERR_ARGUMENT and which value is out of the range of the public header. */
fw_status fw_occupancy_check(const struct fw_occupancy_input *in, struct fw_error *err);

#endif
