/* `--cliffs`: for each resource the nearest changes that change the blocks per SM. */
#include "cli/occupancy.h"

#include <stdio.h>

/* From here on, fewer registers are likely to spill. */
#define SPILL_RISK_PCT 15.0

/* How one resource is spoken of. */
struct wording {
	enum fw_resource resource;
	const char *name, *json, *noun;
};

static const struct wording wordings[] = {
	{ FW_RESOURCE_REGISTERS, "registers", "registers", "register" },
	{ FW_RESOURCE_SMEM, "shared_memory", "shared_memory", "B" },
	{ FW_RESOURCE_BLOCK, "block", "block", "thread" },
	{ FW_RESOURCE_BARRIERS, "barriers", "barriers", "barrier" },
};

#define WORDINGS (sizeof(wordings) / sizeof(wordings[0]))

/* Registers not given, and barriers where they do not limit, have no cliffs to speak of. */
static bool applies(const struct fw_occupancy_launch *launch, enum fw_resource resource)
{
	if (resource == FW_RESOURCE_REGISTERS)
		return launch->in.registers != 0;
	if (resource == FW_RESOURCE_BARRIERS)
		return launch->result.limit_barriers != FW_NO_LIMIT;
	return true;
}

static void put_amount(struct fw_str *out, const struct wording *w, unsigned value)
{
	if (w->resource != FW_RESOURCE_SMEM)
		fw_occupancy_put_count(out, value, w->noun);
	else if (value && value % 1024 == 0)
		fw_str_printf(out, "%u KB", value / 1024);
	else
		fw_str_printf(out, "%u B", value);
}

static void put_now(struct fw_str *out, const struct wording *w, unsigned now)
{
	if (w->resource == FW_RESOURCE_REGISTERS) {
		fw_str_printf(out, "now %u allocated as %u", now, (now + 7) / 8 * 8);
		return;
	}
	fw_str_puts(out, "now ");
	put_amount(out, w, now);
}

/* "one more block needs <= 80 registers, now 92 allocated as 96: 14 -> 21 warps, 21.9 -> 32.8 %" */
static void put_less(struct fw_str *out, const struct fw_occupancy_launch *launch,
		     const struct wording *w, const struct fw_cliffs *cliffs)
{
	const struct fw_occupancy_result *now = &launch->result, *then = &cliffs->less.result;
	unsigned gained = then->blocks_per_sm - now->blocks_per_sm;
	double saved_pct = 100.0 * (cliffs->now - cliffs->less.value) / cliffs->now;

	if (gained == 1)
		fw_str_puts(out, now->blocks_per_sm ? "one more block needs <= "
						    : "one block needs <= ");
	else
		fw_str_printf(out, "%u%s blocks need <= ", gained,
			      now->blocks_per_sm ? " more" : "");
	put_amount(out, w, cliffs->less.value);
	fw_str_puts(out, ", ");
	put_now(out, w, cliffs->now);
	fw_str_printf(out, ": %u -> %u warps, %.1f -> %.1f %%", now->warps_per_sm,
		      then->warps_per_sm, 100 * now->occupancy, 100 * then->occupancy);
	if (w->resource == FW_RESOURCE_REGISTERS)
		fw_str_printf(out, "; %.0f %% fewer registers%s", saved_pct,
			      saved_pct > SPILL_RISK_PCT ? ", which may spill" : "");
	fw_str_putc(out, '\n');
}

/* "up to +81 KB are free (82944 B); 82945 B leave 1 block, 10.9 %" */
static void put_more(struct fw_str *out, const struct wording *w, const struct fw_cliffs *cliffs)
{
	unsigned spare = cliffs->free_to - cliffs->now;

	if (spare) {
		fw_str_puts(out, "up to +");
		put_amount(out, w, spare);
		fw_str_printf(out, " %s free", spare == 1 ? "is" : "are");
		if (!cliffs->more.exists)
			fw_str_puts(out, ", the most there can be");
	} else {
		fw_str_puts(out,
			    cliffs->more.exists ? "none is free" : "it is the most there can be");
	}
	if (cliffs->more.exists) {
		const struct fw_occupancy_result *then = &cliffs->more.result;

		fw_str_puts(out, "; from ");
		put_amount(out, w, cliffs->more.value);
		fw_str_puts(out, " on ");
		if (then->blocks_per_sm) {
			fw_occupancy_put_count(out, then->blocks_per_sm, "block");
			fw_str_printf(out, ", %.1f %%", 100 * then->occupancy);
		} else {
			fw_str_puts(out, "it does not launch");
		}
	}
	fw_str_putc(out, '\n');
}

static void put_resource(struct fw_str *out, const struct fw_occupancy_launch *launch,
			 const struct wording *w)
{
	struct fw_cliffs cliffs = fw_cliffs_find(launch->device->hw, &launch->in, w->resource);

	fw_str_printf(out, "  %-15s", w->name);
	if (cliffs.less.exists) {
		put_less(out, launch, w, &cliffs);
	} else {
		fw_str_puts(out, "less gives no more blocks");
		if (launch->result.blocks_per_sm) {
			fw_str_puts(out, ": the limit is ");
			fw_occupancy_put_limiters(out, launch->result.limiters, ", ");
		}
		fw_str_putc(out, '\n');
	}
	if (!launch->result.blocks_per_sm)
		return;
	fw_str_printf(out, "  %-15s", "");
	put_more(out, w, &cliffs);
}

void fw_occupancy_put_cliffs(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	fw_str_puts(out, "cliffs (one change at a time)\n");
	for (size_t i = 0; i < WORDINGS; i++)
		if (applies(launch, wordings[i].resource))
			put_resource(out, launch, &wordings[i]);
}

static void json_cliff(struct fw_json *json, const char *key, const struct fw_cliff *cliff)
{
	if (!cliff->exists) {
		fw_json_null(json, key);
		return;
	}
	fw_json_begin_object(json, key);
	fw_json_uint(json, "value", cliff->value);
	fw_json_uint(json, "blocks_per_sm", cliff->result.blocks_per_sm);
	fw_json_uint(json, "warps_per_sm", cliff->result.warps_per_sm);
	fw_json_double(json, "occupancy", cliff->result.occupancy);
	fw_json_end_object(json);
}

void fw_occupancy_json_cliffs(struct fw_json *json, const struct fw_occupancy_launch *launch)
{
	fw_json_begin_object(json, "cliffs");
	for (size_t i = 0; i < WORDINGS; i++) {
		struct fw_cliffs cliffs;

		if (!applies(launch, wordings[i].resource)) {
			fw_json_null(json, wordings[i].json);
			continue;
		}
		cliffs = fw_cliffs_find(launch->device->hw, &launch->in, wordings[i].resource);
		fw_json_begin_object(json, wordings[i].json);
		fw_json_uint(json, "now", cliffs.now);
		fw_json_uint(json, "free_to", cliffs.free_to);
		json_cliff(json, "more_blocks_at_most", &cliffs.less);
		json_cliff(json, "fewer_blocks_from", &cliffs.more);
		fw_json_end_object(json);
	}
	fw_json_end_object(json);
}
