/* The pieces that several outputs of `fullwarp occupancy` share. */
#include "cli/occupancy.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct fw_occupancy_launch fw_occupancy_launch_of(const struct fw_occupancy_device *device,
						  const struct fw_occupancy_input *kernel,
						  unsigned block)
{
	struct fw_occupancy_launch launch = { .device = device, .in = *kernel };

	launch.in.cc = device->hw->cc;
	launch.in.block_threads = block;
	fw_occupancy_result_init(&launch.result);
	fw_occupancy_compute(device->hw, &launch.in, &launch.result);
	return launch;
}

void fw_occupancy_put_clean(struct fw_str *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = fw_utf8_length(text + i, len - i);

		if (fw_utf8_printable(text + i, len - i))
			fw_str_append(out, text + i, n);
		else
			fw_str_puts(out, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
}

void fw_occupancy_put_limiters(struct fw_str *out, unsigned limiters, const char *separator)
{
	const char *before = "";

	for (unsigned bit = 1; bit <= FW_LIMITER_CLUSTER; bit <<= 1) {
		if (!(limiters & bit))
			continue;
		fw_str_printf(out, "%s%s", before, fw_limiter_name(bit));
		before = separator;
	}
}

void fw_occupancy_json_limiters(struct fw_json *json, unsigned limiters)
{
	fw_json_begin_array(json, "limiters");
	for (unsigned bit = 1; bit <= FW_LIMITER_CLUSTER; bit <<= 1)
		if (limiters & bit)
			fw_json_string(json, NULL, fw_limiter_name(bit));
	fw_json_end_array(json);
}

const char *fw_occupancy_cc_text(unsigned cc, char text[FW_OCCUPANCY_CC_TEXT])
{
	snprintf(text, FW_OCCUPANCY_CC_TEXT, "%u.%u", cc / 10, cc % 10);
	return text;
}

void fw_occupancy_put_device(struct fw_str *out, const struct fw_occupancy_device *device)
{
	char cc[FW_OCCUPANCY_CC_TEXT];

	fw_occupancy_cc_text(device->hw->cc, cc);
	if (!device->chip)
		fw_str_printf(out, "CC %s", cc);
	else if (device->sms)
		fw_str_printf(out, "%s (CC %s, %u SMs)", device->chip, cc, device->sms);
	else
		fw_str_printf(out, "%s (CC %s, SMs not known)", device->chip, cc);
}

void fw_occupancy_put_count(struct fw_str *out, uint64_t count, const char *noun)
{
	fw_str_printf(out, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

static void put_register_refusal(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	unsigned parts = hw->cc == 60 ? 4 : hw->sub_partitions;
	unsigned warps = (launch->result.warps_per_block + parts - 1) / parts * parts;
	unsigned per_warp = launch->result.allocated_registers / launch->result.warps_per_block;

	fw_str_printf(out, "%u registers (%u warps count as %u) of at most %u a block",
		      warps * per_warp, launch->result.warps_per_block, warps, hw->regs_per_block);
}

static void put_smem_refusal(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	unsigned used = fw_resource_get(&launch->in, FW_RESOURCE_SMEM);

	fw_str_printf(out, "%u B of shared memory of at most %u B a block", used,
		      launch->in.is_optin ? hw->smem_optin : hw->smem_per_block);
	if (!launch->in.is_optin && used <= hw->smem_optin)
		fw_str_printf(out, " (%u B with opt-in)", hw->smem_optin);
}

void fw_occupancy_put_refusal(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	const struct fw_occupancy_result *r = &launch->result;

	if (r->blocks_per_sm)
		return;
	if (!r->limit_warps)
		fw_str_printf(out, "%u threads of at most %u a block", launch->in.block_threads,
			      FW_HW_MAX_BLOCK_THREADS);
	else if (!r->limit_registers)
		put_register_refusal(out, launch);
	else if (!r->limit_shared_memory)
		put_smem_refusal(out, launch);
	else if (!r->limit_cluster && hw->cluster_max == 1)
		fw_str_printf(out, "clusters of %u blocks; they need compute capability 9.0",
			      launch->in.cluster_blocks);
	else if (!r->limit_cluster)
		fw_str_printf(out, "clusters of %u blocks of at most %u", launch->in.cluster_blocks,
			      hw->cluster_max);
	else
		fw_str_printf(out, "%u barriers of %u", launch->in.barriers, hw->barriers);
}

void fw_occupancy_json_result(struct fw_json *json, const struct fw_occupancy_launch *launch)
{
	char cc[FW_OCCUPANCY_CC_TEXT];

	fw_json_string(json, "cc", fw_occupancy_cc_text(launch->in.cc, cc));
	fw_json_uint(json, "block", launch->in.block_threads);
	fw_json_uint(json, "dynamic_smem", launch->in.dynamic_smem_bytes);
	fw_json_uint(json, "blocks_per_sm", launch->result.blocks_per_sm);
	fw_json_uint(json, "warps_per_sm", launch->result.warps_per_sm);
	fw_json_double(json, "occupancy", launch->result.occupancy);
	fw_occupancy_json_limiters(json, launch->result.limiters);
}

void fw_occupancy_csv_header(struct fw_str *out)
{
	fw_str_puts(
		out,
		"cc,gpu,block,registers,static_smem,dynamic_smem,barriers,cluster,blocks_per_sm,"
		"warps_per_sm,warps_per_scheduler,occupancy,limiters\n");
}

void fw_occupancy_csv_line(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_occupancy_input *in = &launch->in;
	const struct fw_occupancy_result *r = &launch->result;
	char cc[FW_OCCUPANCY_CC_TEXT];

	fw_str_printf(out, "%s,%s,%u,", fw_occupancy_cc_text(in->cc, cc),
		      launch->device->chip ? launch->device->chip : "", in->block_threads);
	if (in->registers)
		fw_str_printf(out, "%u", in->registers);
	fw_str_printf(out, ",%u,%u,%u,%u,%u,%u,%.9g,%.9g,", in->static_smem_bytes,
		      in->dynamic_smem_bytes, in->barriers, in->cluster_blocks, r->blocks_per_sm,
		      r->warps_per_sm, (double)r->warps_per_sm / r->schedulers_per_sm,
		      r->occupancy);
	fw_occupancy_put_limiters(out, r->limiters, "|");
	fw_str_putc(out, '\n');
}
