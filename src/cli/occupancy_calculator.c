/* The calculator: values typed in, one card for one launch or a table for several. */
#include "cli/occupancy.h"

#include <stdarg.h>
#include <stdio.h>

/* A launch that only a sweep over block sizes is asked of has no size of its own. */
static bool has_block(const struct fw_occupancy_args *args)
{
	return args->block_count != 0;
}

/* The launch number i of the GPUs times the block sizes. */
static struct fw_occupancy_launch launch_at(const struct fw_occupancy_args *args, size_t i)
{
	size_t sizes = has_block(args) ? args->block_count : 1;
	unsigned block = has_block(args) ? args->blocks[i % sizes] : FW_HW_WARP_THREADS;

	return fw_occupancy_launch_of(&args->devices[i / sizes], &args->kernel, block);
}

static size_t launch_count(const struct fw_occupancy_args *args)
{
	return args->device_count * (has_block(args) ? args->block_count : 1);
}

static void put_limit(struct fw_str *out, const char *name, unsigned limit, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void put_limit(struct fw_str *out, const char *name, unsigned limit, const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (limit == FW_NO_LIMIT)
		fw_str_printf(out, "  %-15s%10s   %s\n", name, "-", text);
	else
		fw_str_printf(out, "  %-15s%10u   %s\n", name, limit, text);
}

static void put_limits(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	const struct fw_occupancy_result *r = &launch->result;

	fw_str_printf(out, "  %-15s%10s   %s\n", "limit", "blocks/SM", "a block takes");
	put_limit(out, "warps", r->limit_warps, "%u of %u", r->warps_per_block, hw->max_warps);
	if (launch->in.registers)
		put_limit(out, "registers", r->limit_registers,
			  "%u of %u; %u warps fit each of %u sub-partitions",
			  r->allocated_registers, FW_HW_REGS_PER_SM,
			  FW_HW_REGS_PER_SM / hw->sub_partitions /
				  (r->allocated_registers / r->warps_per_block),
			  hw->sub_partitions);
	else
		put_limit(out, "registers", FW_NO_LIMIT, "not given, not counted");
	put_limit(out, "shared_memory", r->limit_shared_memory,
		  "%u B of %u B; %u B are the driver's", r->allocated_smem_bytes, r->carveout_bytes,
		  hw->smem_reserved);
	put_limit(out, "blocks", r->limit_blocks, "1 of %u", hw->max_blocks);
	if (r->limit_barriers != FW_NO_LIMIT)
		put_limit(out, "barriers", r->limit_barriers, "%u of %u", launch->in.barriers,
			  hw->barriers);
	if (launch->in.cluster_blocks > 1)
		put_limit(out, "cluster", r->limit_cluster,
			  "%u blocks; %u portable, %u with opt-in", launch->in.cluster_blocks,
			  hw->cluster_portable, hw->cluster_max);
}

static void put_kernel(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_occupancy_input *in = &launch->in;

	fw_occupancy_put_device(out, launch->device);
	fw_str_puts(out, ": ");
	fw_occupancy_put_count(out, in->block_threads, "thread");
	fw_str_puts(out, ", ");
	if (in->registers)
		fw_occupancy_put_count(out, in->registers, "register");
	else
		fw_str_puts(out, "registers not given");
	fw_str_printf(out, ", %u B shared memory\n",
		      in->static_smem_bytes + in->dynamic_smem_bytes);
}

static void put_result(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_occupancy_result *r = &launch->result;

	if (!r->blocks_per_sm) {
		fw_str_puts(out, "does not launch: ");
		fw_occupancy_put_refusal(out, launch);
		fw_str_putc(out, '\n');
		return;
	}
	fw_occupancy_put_count(out, r->blocks_per_sm, "block");
	fw_str_printf(out, " an SM, %u of %u warps (%.4g a scheduler), %.1f %%, limited by ",
		      r->warps_per_sm, r->max_warps_per_sm,
		      (double)r->warps_per_sm / r->schedulers_per_sm, 100 * r->occupancy);
	fw_occupancy_put_limiters(out, r->limiters, ", ");
	fw_str_putc(out, '\n');
}

static void put_card(struct fw_str *out, const struct fw_occupancy_args *args,
		     const struct fw_occupancy_launch *launch)
{
	put_kernel(out, launch);
	put_result(out, launch);
	fw_str_putc(out, '\n');
	put_limits(out, launch);
	fw_str_putc(out, '\n');
	if (args->has_cliffs) {
		fw_occupancy_put_cliffs(out, launch);
		fw_str_putc(out, '\n');
	}
	fw_occupancy_put_advice(out, launch, fw_occupancy_intended_low_launch(launch));
	if (args->grid)
		fw_occupancy_put_tail(out, launch, args->grid);
}

static void put_table(struct fw_str *out, const struct fw_occupancy_args *args)
{
	fw_str_printf(out, "%-32s %7s %9s %8s %11s %11s  limited by\n", "GPU", "threads",
		      "blocks/SM", "warps/SM", "w/scheduler", "occupancy");
	for (size_t i = 0; i < launch_count(args); i++) {
		struct fw_occupancy_launch launch = launch_at(args, i);
		const struct fw_occupancy_result *r = &launch.result;
		struct fw_str name = { 0 };

		fw_occupancy_put_device(&name, launch.device);
		fw_str_printf(out, "%-32s %7u %9u %8u %11.4g %9.1f %%  ", fw_str_text(&name),
			      launch.in.block_threads, r->blocks_per_sm, r->warps_per_sm,
			      (double)r->warps_per_sm / r->schedulers_per_sm, 100 * r->occupancy);
		fw_occupancy_put_limiters(out, r->limiters, ", ");
		if (!r->blocks_per_sm)
			fw_str_puts(out, " (does not launch)");
		fw_str_putc(out, '\n');
		fw_str_release(&name);
	}
}

static void put_details(struct fw_str *out, const struct fw_occupancy_args *args,
			const struct fw_occupancy_launch *launch)
{
	if (args->has_cliffs)
		fw_occupancy_put_cliffs(out, launch);
	if (args->grid)
		fw_occupancy_put_tail(out, launch, args->grid);
}

static void put_sweep(struct fw_str *out, const struct fw_occupancy_args *args,
		      const struct fw_occupancy_launch *launch)
{
	fw_occupancy_put_device(out, launch->device);
	fw_str_puts(out, ": ");
	if (args->sweep != FW_RESOURCE_BLOCK)
		fw_str_printf(out, "%u threads, ", launch->in.block_threads);
	if (args->sweep != FW_RESOURCE_REGISTERS && launch->in.registers)
		fw_str_printf(out, "%u registers, ", launch->in.registers);
	else if (args->sweep != FW_RESOURCE_REGISTERS)
		fw_str_puts(out, "registers not given, ");
	if (args->sweep != FW_RESOURCE_SMEM)
		fw_str_printf(out, "%u B shared memory, ",
			      launch->in.static_smem_bytes + launch->in.dynamic_smem_bytes);
	fw_str_printf(out, "%u %s\n", launch->in.barriers,
		      launch->in.barriers == 1 ? "barrier" : "barriers");
	fw_occupancy_put_sweep(out, launch, args->sweep, args->is_terminal);
}

static void put_text(struct fw_str *out, const struct fw_occupancy_args *args)
{
	size_t count = launch_count(args);

	if (args->sweep == FW_OCCUPANCY_NO_SWEEP && count > 1)
		put_table(out, args);
	for (size_t i = 0; i < count; i++) {
		struct fw_occupancy_launch launch = launch_at(args, i);

		if (args->sweep != FW_OCCUPANCY_NO_SWEEP) {
			if (i)
				fw_str_putc(out, '\n');
			put_sweep(out, args, &launch);
		}
		if (count == 1 && args->sweep == FW_OCCUPANCY_NO_SWEEP) {
			put_card(out, args, &launch);
		} else if (has_block(args) && (args->has_cliffs || args->grid)) {
			fw_str_putc(out, '\n');
			put_kernel(out, &launch);
			put_details(out, args, &launch);
		}
	}
}

static void json_limit(struct fw_json *json, const char *name, unsigned limit)
{
	if (limit == FW_NO_LIMIT)
		fw_json_null(json, name);
	else
		fw_json_uint(json, name, limit);
}

static void json_limits(struct fw_json *json, const struct fw_occupancy_result *r)
{
	fw_json_begin_object(json, "limits");
	json_limit(json, "warps", r->limit_warps);
	json_limit(json, "registers", r->limit_registers);
	json_limit(json, "shared_memory", r->limit_shared_memory);
	json_limit(json, "blocks", r->limit_blocks);
	json_limit(json, "barriers", r->limit_barriers);
	json_limit(json, "cluster", r->limit_cluster);
	fw_json_end_object(json);
}

static void json_kernel(struct fw_json *json, const struct fw_occupancy_launch *launch)
{
	fw_json_string(json, "gpu", launch->device->chip);
	if (launch->device->sms)
		fw_json_uint(json, "sms", launch->device->sms);
	else
		fw_json_null(json, "sms");
	if (launch->in.registers)
		fw_json_uint(json, "registers", launch->in.registers);
	else
		fw_json_null(json, "registers");
	fw_json_uint(json, "static_smem", launch->in.static_smem_bytes);
	fw_json_uint(json, "barriers", launch->in.barriers);
	fw_json_uint(json, "cluster", launch->in.cluster_blocks);
}

/* The members of one launch, inside an object that the caller opened. */
static void json_launch(struct fw_json *json, const struct fw_occupancy_args *args,
			const struct fw_occupancy_launch *launch)
{
	const struct fw_occupancy_result *r = &launch->result;
	char cc[FW_OCCUPANCY_CC_TEXT];

	if (has_block(args)) {
		fw_occupancy_json_result(json, launch);
		fw_json_uint(json, "max_warps_per_sm", r->max_warps_per_sm);
		fw_json_double(json, "warps_per_scheduler",
			       (double)r->warps_per_sm / r->schedulers_per_sm);
		json_limits(json, r);
		fw_json_uint(json, "allocated_registers", r->allocated_registers);
		fw_json_uint(json, "allocated_smem", r->allocated_smem_bytes);
		fw_json_uint(json, "carveout", r->carveout_bytes);
		json_kernel(json, launch);
		fw_occupancy_json_advice(json, launch, fw_occupancy_intended_low_launch(launch));
	} else {
		fw_json_string(json, "cc", fw_occupancy_cc_text(launch->in.cc, cc));
		fw_json_uint(json, "dynamic_smem", launch->in.dynamic_smem_bytes);
		json_kernel(json, launch);
	}
	if (args->has_cliffs)
		fw_occupancy_json_cliffs(json, launch);
	if (args->sweep != FW_OCCUPANCY_NO_SWEEP)
		fw_occupancy_json_sweep(json, launch, args->sweep);
	if (args->grid)
		fw_occupancy_json_tail(json, launch, args->grid);
}

static void put_json(struct fw_str *out, const struct fw_occupancy_args *args)
{
	struct fw_json json = { .out = out, .indent = 2 };
	size_t count = launch_count(args);

	fw_json_begin_object(&json, NULL);
	fw_json_uint(&json, "schema", 1);
	if (count > 1)
		fw_json_begin_array(&json, "occupancy");
	for (size_t i = 0; i < count; i++) {
		struct fw_occupancy_launch launch = launch_at(args, i);

		if (count > 1)
			fw_json_begin_object(&json, NULL);
		json_launch(&json, args, &launch);
		if (count > 1)
			fw_json_end_object(&json);
	}
	if (count > 1)
		fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}

static void put_csv(struct fw_str *out, const struct fw_occupancy_args *args)
{
	fw_occupancy_csv_header(out);
	for (size_t i = 0; i < launch_count(args); i++) {
		struct fw_occupancy_launch launch = launch_at(args, i);

		if (args->sweep != FW_OCCUPANCY_NO_SWEEP)
			fw_occupancy_csv_sweep(out, &launch, args->sweep);
		else
			fw_occupancy_csv_line(out, &launch);
	}
}

int fw_occupancy_calculate(const struct fw_occupancy_args *args)
{
	struct fw_str out = { 0 };
	int status = 0;

	if (args->format == FW_OCCUPANCY_JSON)
		put_json(&out, args);
	else if (args->format == FW_OCCUPANCY_CSV)
		put_csv(&out, args);
	else
		put_text(&out, args);
	if (out.failed) {
		fprintf(stderr, "fullwarp occupancy: out of memory\n");
		status = 1;
	} else {
		fwrite(fw_str_text(&out), 1, out.len, stdout);
	}
	fw_str_release(&out);
	return status;
}
