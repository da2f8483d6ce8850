/* `--summary`: thousands of kernels as a histogram by limiter, and the ten lowest with reasons. */
#include "cli/occupancy_list.h"

#include "base/utf8.h"

#include <string.h>

#define LOWEST       10
#define MASKS        128 /* every combination of limiters */
#define BAR_COLUMNS  20u
#define NAME_COLUMNS 100

/* What one GPU's rows add up to. */
struct tally {
	size_t rows, unknown, refused, intended_low;
	size_t by_mask[MASKS];
	size_t by_quarter[4]; /* occupancy up to 25, 50, 75, 100 % */
	struct fw_occupancy_row lowest[LOWEST];
	size_t lowest_count;
};

/* Keeps the lowest rows in ascending order; equal ones in the order they come. */
static void keep_lowest(struct tally *tally, const struct fw_occupancy_row *row)
{
	size_t at = tally->lowest_count;

	while (at && row->warps_per_sm < tally->lowest[at - 1].warps_per_sm)
		at--;
	if (at == LOWEST)
		return;
	if (tally->lowest_count < LOWEST)
		tally->lowest_count++;
	memmove(&tally->lowest[at + 1], &tally->lowest[at],
		(tally->lowest_count - 1 - at) * sizeof(*row));
	tally->lowest[at] = *row;
}

static void count_row(struct tally *tally, const struct fw_occupancy_list *list,
		      const struct fw_occupancy_row *row)
{
	const struct fw_kernel *kernel = &list->binary->kernels[row->kernel];
	struct fw_occupancy_launch launch =
		fw_occupancy_list_launch(list, kernel, row->device, row->block);
	unsigned quarter = (unsigned)(launch.result.occupancy * 4 + 0.999999);

	tally->rows++;
	if (!fw_occupancy_has_registers(kernel)) {
		tally->unknown++;
		return;
	}
	tally->by_mask[launch.result.limiters % MASKS]++;
	if (!launch.result.blocks_per_sm) {
		tally->refused++;
		return;
	}
	tally->by_quarter[quarter ? quarter - 1 : 0]++;
	if (launch.result.occupancy < 0.5 && fw_occupancy_intended_low(list, row->kernel, &launch))
		tally->intended_low++;
	else if (launch.result.warps_per_sm < launch.result.max_warps_per_sm)
		keep_lowest(tally, row);
}

static void put_bar(struct fw_str *out, const char *label, size_t part, size_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;
	size_t columns = (size_t)(share * BAR_COLUMNS + 0.5);

	fw_str_printf(out, "  %-36s%8zu %6.1f %%%s", label, part, 100 * share, columns ? "  " : "");
	fw_str_repeat(out, "#", columns);
	fw_str_putc(out, '\n');
}

/* Takes the most frequent combination of limiters out of the tally; 0: none is left. */
static unsigned take_most(struct tally *tally, size_t *rows)
{
	unsigned most = 0;

	for (unsigned mask = 1; mask < MASKS; mask++)
		if (tally->by_mask[mask] > tally->by_mask[most])
			most = mask;
	*rows = tally->by_mask[most];
	tally->by_mask[most] = 0;
	return most;
}

/* The combinations of limiters, the most frequent first. */
static void put_limiters(struct fw_str *out, struct tally *tally, size_t known)
{
	unsigned mask;
	size_t rows;

	while ((mask = take_most(tally, &rows))) {
		struct fw_str name = { 0 };

		fw_occupancy_put_limiters(&name, mask, ", ");
		put_bar(out, fw_str_text(&name), rows, known);
		fw_str_release(&name);
	}
}

static void put_lowest(struct fw_str *out, const struct fw_occupancy_list *list,
		       const struct fw_occupancy_row *row)
{
	const struct fw_kernel *kernel = &list->binary->kernels[row->kernel];
	struct fw_occupancy_launch launch =
		fw_occupancy_list_launch(list, kernel, row->device, row->block);
	const char *name = list->names[row->kernel];
	size_t len = strlen(name), cut = fw_utf8_cut(name, len, NAME_COLUMNS);

	fw_str_printf(out, "  %5.1f %%  %u x %u threads", 100 * launch.result.occupancy,
		      launch.result.blocks_per_sm, row->block);
	if (launch.result.limiters & FW_LIMITER_REGISTERS)
		fw_str_printf(out, ", %u registers", launch.in.registers);
	if (launch.result.limiters & FW_LIMITER_SHARED_MEMORY)
		fw_str_printf(out, ", %u B shared memory",
			      fw_resource_get(&launch.in, FW_RESOURCE_SMEM));
	if (launch.result.limiters & FW_LIMITER_BARRIERS)
		fw_str_printf(out, ", %u barriers", launch.in.barriers);
	fw_str_puts(out, " (");
	fw_occupancy_put_limiters(out, launch.result.limiters, ", ");
	fw_str_puts(out, "): ");
	fw_occupancy_put_clean(out, name, cut);
	fw_str_puts(out, cut == len ? "\n" : "...\n");
}

static void put_tally(struct fw_str *out, const struct fw_occupancy_list *list, struct tally *tally)
{
	static const char *const quarters[] = { "up to 25 %", "up to 50 %", "up to 75 %",
						"up to 100 %" };
	size_t known = tally->rows - tally->unknown;

	fw_str_printf(out, "%zu rows", tally->rows);
	if (tally->unknown)
		fw_str_printf(out, ", %zu of them PTX, whose registers are unknown",
			      tally->unknown);
	if (tally->refused)
		fw_str_printf(out, ", %zu would not launch", tally->refused);
	fw_str_putc(out, '\n');
	if (!known)
		return;
	fw_str_puts(out, "\nlimited by\n");
	put_limiters(out, tally, known);
	fw_str_puts(out, "\noccupancy\n");
	for (size_t i = 0; i < 4; i++)
		put_bar(out, quarters[i], tally->by_quarter[i], known);
	if (tally->intended_low)
		fw_str_printf(out,
			      "\nlow on purpose: %zu below 50 %% (tiles, clusters, tensor memory, "
			      "setmaxnreg, name)\n",
			      tally->intended_low);
	if (tally->lowest_count)
		fw_str_puts(
			out,
			"\nlowest of the others; whether more would be faster, only a measurement "
			"says\n");
	for (size_t i = 0; i < tally->lowest_count; i++)
		put_lowest(out, list, &tally->lowest[i]);
}

/* Counts the rows of one GPU from row i on; returns the row after them. */
static size_t count_device(struct tally *tally, const struct fw_occupancy_list *list, size_t i)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	size_t device = rows[i].device;

	for (; i < list->rows.len && rows[i].device == device; i++)
		count_row(tally, list, &rows[i]);
	return i;
}

bool fw_occupancy_print_summary(const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	struct fw_str out = { 0 };
	bool is_good;

	for (size_t i = 0; i < list->rows.len;) {
		struct tally tally = { 0 };
		size_t device = rows[i].device;

		if (list->args->device_count) {
			fw_occupancy_put_loads(&out, list, device);
		} else {
			fw_occupancy_put_device(&out, &list->devices[device]);
			fw_str_puts(&out, ": kernels compiled for it\n");
		}
		i = count_device(&tally, list, i);
		put_tally(&out, list, &tally);
		fw_str_putc(&out, '\n');
	}
	fw_occupancy_put_notes(&out, list);
	is_good = !out.failed;
	fw_occupancy_flush(&out);
	fw_str_release(&out);
	return is_good;
}

static void json_lowest(struct fw_json *json, const struct fw_occupancy_list *list,
			const struct fw_occupancy_row *row)
{
	const struct fw_kernel *kernel = &list->binary->kernels[row->kernel];
	struct fw_occupancy_launch launch =
		fw_occupancy_list_launch(list, kernel, row->device, row->block);
	char target[FW_TARGET_TEXT];

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", kernel->name);
	fw_json_string(json, "demangled", list->names[row->kernel]);
	fw_json_string(json, "sm", fw_target_text(kernel->target, target));
	fw_json_uint(json, "registers", launch.in.registers);
	fw_json_uint(json, "static_smem", launch.in.static_smem_bytes);
	fw_json_uint(json, "barriers", launch.in.barriers);
	fw_occupancy_json_result(json, &launch);
	fw_json_end_object(json);
}

static void json_tally(struct fw_json *json, const struct fw_occupancy_list *list,
		       struct tally *tally)
{
	unsigned mask;
	size_t rows;

	fw_json_uint(json, "rows", tally->rows);
	fw_json_uint(json, "unknown_registers", tally->unknown);
	fw_json_uint(json, "would_not_launch", tally->refused);
	fw_json_uint(json, "intended_low", tally->intended_low);
	fw_json_begin_array(json, "limited_by");
	while ((mask = take_most(tally, &rows))) {
		fw_json_begin_object(json, NULL);
		fw_occupancy_json_limiters(json, mask);
		fw_json_uint(json, "rows", rows);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	fw_json_begin_array(json, "occupancy_up_to");
	for (size_t i = 0; i < 4; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_double(json, "occupancy", (double)(i + 1) / 4);
		fw_json_uint(json, "rows", tally->by_quarter[i]);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	fw_json_begin_array(json, "lowest");
	for (size_t i = 0; i < tally->lowest_count; i++)
		json_lowest(json, list, &tally->lowest[i]);
	fw_json_end_array(json);
}

static void json_totals(struct fw_json *json, const struct fw_occupancy_list *list)
{
	const struct fw_binary *binary = list->binary;

	fw_json_uint(json, "kernels", list->kept_kernels);
	fw_json_uint(json, "kernels_before_folding", binary->instances);
	fw_json_uint(json, "images", binary->image_count);
	fw_json_uint(json, "superseded_by_linked_code", list->superseded);
	fw_json_uint(json, "without_limits", list->without_limits);
}

bool fw_occupancy_print_summary_json(const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	struct fw_str out = { 0 };
	struct fw_json json = { .out = &out, .indent = 2 };
	char cc[FW_OCCUPANCY_CC_TEXT];
	bool is_good;

	fw_json_begin_object(&json, NULL);
	fw_json_uint(&json, "schema", 1);
	fw_json_begin_array(&json, "summary");
	for (size_t i = 0; i < list->rows.len;) {
		const struct fw_occupancy_device *device = &list->devices[rows[i].device];
		struct tally tally = { 0 };

		fw_json_begin_object(&json, NULL);
		fw_json_string(&json, "cc", fw_occupancy_cc_text(device->hw->cc, cc));
		fw_json_string(&json, "gpu", device->chip);
		i = count_device(&tally, list, i);
		json_tally(&json, list, &tally);
		fw_json_end_object(&json);
	}
	fw_json_end_array(&json);
	json_totals(&json, list);
	fw_occupancy_json_problems(&json, list->binary);
	fw_json_end_object(&json);
	fw_str_putc(&out, '\n');
	is_good = !out.failed;
	fw_occupancy_flush(&out);
	fw_str_release(&out);
	return is_good;
}
