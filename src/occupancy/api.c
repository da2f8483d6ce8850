/* The public calls: structures of any version in, structures of the caller's version out. */
#include "fullwarp/occupancy.h"
#include "occupancy/rule.h"
#include "occupancy/versioned.h"

#include <limits.h>
#include <string.h>

void fw_occupancy_input_init(struct fw_occupancy_input *in)
{
	*in = (struct fw_occupancy_input){
		.struct_size = sizeof(*in),
		.carveout_pct = -1,
		.is_optin = 1,
		.barriers = 1,
		.cluster_blocks = 1,
	};
}

void fw_occupancy_result_init(struct fw_occupancy_result *out)
{
	*out = (struct fw_occupancy_result){ .struct_size = sizeof(*out) };
}

static fw_status check_sizes(const struct fw_occupancy_input *in,
			     const struct fw_occupancy_result *out, struct fw_error *err)
{
	if (!in || !out)
		return fw_fail(err, FW_ERR_ARGUMENT, "occupancy: input or result is NULL");
	if (out->struct_size < sizeof(*out) || out->struct_size > INT_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "occupancy: struct_size %zu of the result is wrong",
			       out->struct_size);
	return fw_versioned_check(in, sizeof(*in), "occupancy input", err);
}

fw_status fw_occupancy(const struct fw_occupancy_input *in, struct fw_occupancy_result *out,
		       struct fw_error *err)
{
	const struct fw_hw_limits *hw;
	fw_status status = check_sizes(in, out, err);

	if (!status)
		status = fw_occupancy_check(in, err);
	if (!status)
		status = fw_hw_limits_find(in->cc, &hw, err);
	if (!status)
		fw_occupancy_compute(hw, in, out);
	return status;
}

const char *fw_limiter_name(unsigned int limiter)
{
	switch (limiter) {
	case FW_LIMITER_WARPS: return "warps";
	case FW_LIMITER_REGISTERS: return "registers";
	case FW_LIMITER_SHARED_MEMORY: return "shared_memory";
	case FW_LIMITER_BLOCKS: return "blocks";
	case FW_LIMITER_BARRIERS: return "barriers";
	case FW_LIMITER_VIRTUAL: return "virtual";
	case FW_LIMITER_CLUSTER: return "cluster";
	default: return NULL;
	}
}
