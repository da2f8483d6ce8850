/* The kernels of files as a table, and their summary. */
#include "cli/occupancy_list.h"
#include "cli/terminal.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_BYTES 65536u

/* Columns before the name. */
#define NAME_COLUMN 101

void fw_occupancy_flush(struct fw_str *out)
{
	fwrite(fw_str_text(out), 1, out->len, stdout);
	fw_str_clear(out);
}

static void put_number(struct fw_str *out, int width, int value)
{
	if (value == FW_UNKNOWN)
		fw_str_printf(out, "%*s", width, "?");
	else
		fw_str_printf(out, "%*d", width, value);
}

/* "+36 regs, +81 KB": what more can be used at no cost. */
static void put_slack(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	struct fw_cliffs regs = fw_cliffs_find(hw, &launch->in, FW_RESOURCE_REGISTERS);
	struct fw_cliffs smem = fw_cliffs_find(hw, &launch->in, FW_RESOURCE_SMEM);
	char text[48];

	if (launch->result.blocks_per_sm)
		snprintf(text, sizeof(text), "+%u regs, +%u B", regs.free_to - regs.now,
			 smem.free_to - smem.now);
	else
		snprintf(text, sizeof(text), "-");
	fw_str_printf(out, "%-22s", text);
}

/* Registers come with compiling: "8 to 32 regs, 4 to 64, 2 to 128", blocks each. */
static void put_register_steps(struct fw_str *out, const struct fw_occupancy_launch *launch,
			       const struct fw_kernel *kernel)
{
	unsigned most = fw_occupancy_most_registers(launch, kernel);
	const char *before = "blocks/SM: ";

	if (!most)
		fw_str_puts(out, "does not launch: no number of registers fits so many threads");
	for (unsigned registers = 1; registers <= most;) {
		struct fw_occupancy_input in = launch->in;
		struct fw_occupancy_launch step;
		struct fw_cliffs cliffs;
		unsigned last;

		in.registers = registers;
		step = fw_occupancy_launch_of(launch->device, &in, in.block_threads);
		cliffs = fw_cliffs_find(launch->device->hw, &step.in, FW_RESOURCE_REGISTERS);
		last = cliffs.free_to < most ? cliffs.free_to : most;
		fw_str_printf(out, "%s%u to %u regs", before, step.result.blocks_per_sm, last);
		before = ", ";
		registers = last + 1;
	}
}

static void put_result(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_occupancy_result *r = &launch->result;
	struct fw_str limiters = { 0 };

	fw_str_printf(out, "%9u %8u %7.4g %6.1f  ", r->blocks_per_sm, r->warps_per_sm,
		      (double)r->warps_per_sm / r->schedulers_per_sm, 100 * r->occupancy);
	fw_occupancy_put_limiters(&limiters, r->limiters, ",");
	fw_str_printf(out, "%-23s ", fw_str_text(&limiters));
	fw_str_release(&limiters);
	put_slack(out, launch);
}

/* The name, cut to what a terminal has left; full where there is none. */
static void put_name(struct fw_str *out, const struct fw_occupancy_list *list, size_t kernel,
		     unsigned columns)
{
	const char *name = list->names[kernel];
	size_t len = strlen(name), width = columns > NAME_COLUMN + 20 ? columns - NAME_COLUMN : 20;
	size_t cut = columns && list->args->is_terminal ? fw_utf8_cut(name, len, width) : len;
	uint32_t copies = list->binary->kernels[kernel].copies;

	fw_occupancy_put_clean(out, name, cut);
	if (cut < len)
		fw_str_puts(out, "...");
	if (copies > 1)
		fw_str_printf(out, " (x%" PRIu32 ")", copies);
}

/* Registers that the compiler was not allowed to exceed, and whether that made it spill. */
static void put_compiled(struct fw_str *out, const struct fw_kernel *kernel)
{
	if (kernel->spill_instructions > 0)
		fw_str_printf(
			out,
			"spills           %d loads and stores of registers that did not fit%s\n",
			kernel->spill_instructions,
			kernel->registers >= kernel->register_cap ? ", at the cap it was given"
								  : "");
	else if (kernel->register_cap > 0 && kernel->registers == kernel->register_cap &&
		 kernel->register_cap < 255)
		fw_str_printf(out,
			      "capped           it uses all %d registers that it was allowed\n",
			      kernel->register_cap);
}

/* --cliffs, --sweep and --grid: what the calculator says, under the row. */
static void put_details(struct fw_str *out, const struct fw_occupancy_list *list,
			const struct fw_kernel *kernel, const struct fw_occupancy_launch *launch,
			const char *low)
{
	const struct fw_occupancy_args *args = list->args;

	if (args->has_cliffs) {
		fw_occupancy_put_cliffs(out, launch);
		put_compiled(out, kernel);
		fw_occupancy_put_advice(out, launch, low);
	}
	if (args->sweep != FW_OCCUPANCY_NO_SWEEP)
		fw_occupancy_put_sweep(out, launch, args->sweep, args->is_terminal);
	if (args->grid && fw_occupancy_has_registers(kernel))
		fw_occupancy_put_tail(out, launch, args->grid);
	if (args->has_cliffs || args->grid || args->sweep != FW_OCCUPANCY_NO_SWEEP)
		fw_str_putc(out, '\n');
}

static void put_row(struct fw_str *out, const struct fw_occupancy_list *list,
		    const struct fw_occupancy_row *row, unsigned columns)
{
	const struct fw_kernel *kernel = &list->binary->kernels[row->kernel];
	struct fw_occupancy_launch launch =
		fw_occupancy_list_launch(list, kernel, row->device, row->block);
	unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
	enum fw_occupancy_block_source source;
	const char *low = fw_occupancy_intended_low(list, row->kernel, &launch);
	char target[FW_TARGET_TEXT];

	fw_occupancy_list_blocks(list, kernel, blocks, &source);
	fw_str_printf(out, "%-5s", fw_target_text(kernel->target, target));
	put_number(out, 4, kernel->registers);
	put_number(out, 8, kernel->static_smem);
	fw_str_printf(out, "%6u%c ", row->block, source == FW_OCCUPANCY_BLOCK_ASSUMED ? '?' : ' ');
	if (fw_occupancy_has_registers(kernel)) {
		put_result(out, &launch);
		fw_str_putc(out, ' ');
		put_name(out, list, row->kernel, columns);
	} else {
		put_register_steps(out, &launch, kernel);
		fw_str_puts(out, "  ");
		put_name(out, list, row->kernel, 0);
	}
	if (source == FW_OCCUPANCY_BLOCK_GIVEN) {
		fw_str_puts(out, "  ");
		fw_occupancy_put_bound_error(out, kernel, row->block);
	}
	if (kernel->is_provisional)
		fw_str_puts(out, "  [before linking]");
	if (low && launch.result.occupancy < 0.5)
		fw_str_printf(out, "  [intended low: %s]", low);
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	fw_str_putc(out, '\n');
	put_details(out, list, kernel, &launch, low);
}

#define SHOWN_TARGETS 8

/* " (2 sm_80, 1 sm_90a)": the images that a GPU treats in this way, by target. */
static size_t put_targets(struct fw_str *out, const struct fw_occupancy_list *list,
			  const enum fw_load *loads, enum fw_load wanted)
{
	const struct fw_binary *binary = list->binary;
	struct fw_target targets[SHOWN_TARGETS];
	size_t counts[SHOWN_TARGETS] = { 0 }, used = 0, all = 0;
	char text[FW_TARGET_TEXT];

	for (size_t i = 0; i < binary->image_count; i++) {
		struct fw_target target = binary->images[i].target;
		size_t at = 0;

		if (loads[i] != wanted)
			continue;
		all++;
		while (at < used &&
		       (targets[at].cc != target.cc || targets[at].suffix != target.suffix))
			at++;
		if (at == used && used < SHOWN_TARGETS)
			targets[used++] = target;
		if (at < used)
			counts[at]++;
	}
	for (size_t i = 0; i < used; i++)
		fw_str_printf(out, "%s%zu %s%s", i ? ", " : "", counts[i],
			      wanted == FW_LOAD_JIT ? "compute_" : "sm_",
			      fw_target_text(targets[i], text));
	return all;
}

void fw_occupancy_put_loads(struct fw_str *out, const struct fw_occupancy_list *list, size_t device)
{
	size_t images = list->binary->image_count, as_is, compiled;
	const enum fw_load *loads = list->image_loads + device * images;
	struct fw_str cubins = { 0 }, ptx = { 0 };

	as_is = put_targets(&cubins, list, loads, FW_LOAD_CUBIN);
	compiled = put_targets(&ptx, list, loads, FW_LOAD_JIT);
	fw_occupancy_put_device(out, &list->devices[device]);
	if (!as_is && !compiled)
		fw_str_printf(out,
			      " can load none of %zu images; figures are those of every kernel, as "
			      "compiled for its own target\n",
			      images);
	else if (compiled)
		fw_str_printf(
			out,
			" runs %zu of %zu images as they are%s%s%s and compiles %zu from PTX (%s; "
			"registers unknown until then)\n",
			as_is, images, as_is ? " (" : "", fw_str_text(&cubins), as_is ? ")" : "",
			compiled, fw_str_text(&ptx));
	else
		fw_str_printf(out, " runs %zu of %zu images as they are (%s)\n", as_is, images,
			      fw_str_text(&cubins));
	fw_str_release(&cubins);
	fw_str_release(&ptx);
}

static void put_header(struct fw_str *out)
{
	fw_str_printf(out, "%-5s%4s%8s%6s  %9s %8s %7s %6s  %-23s %-22s %s\n", "sm", "regs", "smem",
		      "block", "blocks/SM", "warps/SM", "w/sched", "occ %", "limited by", "slack",
		      "kernel");
}

struct note_counts {
	size_t assumed, tensor_memory, provisional, unknown_registers, unknown_smem;
};

static struct note_counts count_notes(const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	struct note_counts counts = { 0 };

	for (size_t i = 0; i < list->rows.len; i++) {
		const struct fw_kernel *kernel = &list->binary->kernels[rows[i].kernel];
		unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
		enum fw_occupancy_block_source source;

		fw_occupancy_list_blocks(list, kernel, blocks, &source);
		counts.assumed += source == FW_OCCUPANCY_BLOCK_ASSUMED;
		counts.tensor_memory += kernel->vrc > 0;
		counts.provisional += kernel->is_provisional;
		counts.unknown_registers += !fw_occupancy_has_registers(kernel);
		counts.unknown_smem += kernel->static_smem == FW_UNKNOWN;
	}
	return counts;
}

/* How much was looked at. */
static void put_totals(struct fw_str *out, const struct fw_occupancy_list *list)
{
	const struct fw_binary *binary = list->binary;

	if (!binary->kernel_count) {
		fw_str_printf(out, "no CUDA kernels: %zu images in %zu files\n",
			      binary->image_count, binary->files);
		return;
	}
	fw_str_printf(out, "%zu rows of %zu kernels", list->rows.len, list->kept_kernels);
	if (binary->instances > binary->kernel_count)
		fw_str_printf(out, " (identical ones folded: %zu in the files are %zu)",
			      binary->instances, binary->kernel_count);
	fw_str_printf(out, "; dynamic shared memory %s: %u B\n",
		      list->args->kernel.dynamic_smem_bytes ? "as given" : "is in no file; assumed",
		      list->args->kernel.dynamic_smem_bytes);
}

void fw_occupancy_put_notes(struct fw_str *out, const struct fw_occupancy_list *list)
{
	struct note_counts counts = count_notes(list);
	size_t lto = list->binary->kinds[FW_IMAGE_LTO] + list->binary->kinds[FW_IMAGE_OTHER];

	put_totals(out, list);
	if (counts.assumed)
		fw_str_printf(
			out,
			"block ?: %zu rows have no launch bounds; %u threads assumed, --block sets "
			"them\n",
			counts.assumed, FW_OCCUPANCY_ASSUMED_BLOCK);
	if (counts.unknown_registers)
		fw_str_printf(
			out,
			"regs ?: %zu rows are PTX; the driver's compiler decides the registers\n",
			counts.unknown_registers);
	if (counts.unknown_smem)
		fw_str_printf(
			out,
			"smem ?: %zu rows call what the text does not define; counted as 0 B, so "
			"a bound\n",
			counts.unknown_smem);
	if (counts.tensor_memory)
		fw_str_printf(
			out,
			"virtual resources (tensor memory) are claimed by %zu rows: 1 block an SM "
			"if that is enforced, which no run has confirmed\n",
			counts.tensor_memory);
	if (counts.provisional)
		fw_str_printf(
			out,
			"before linking: %zu rows are relocatable code; the device linker may "
			"change "
			"them\nand adds shared memory of templates, of file scope and of called "
			"functions\n",
			counts.provisional);
	if (list->superseded)
		fw_str_printf(out,
			      "not listed: %zu kernels before linking, whose linked code is in the "
			      "files too\n",
			      list->superseded);
	if (list->without_limits)
		fw_str_printf(
			out, "no limits known: %zu kernels are for other targets; --cc names one\n",
			list->without_limits);
	if (lto)
		fw_str_printf(out, "not read: %zu images are link-time code or of another kind\n",
			      lto);
}

bool fw_occupancy_print_table(const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	unsigned columns = fw_terminal_columns();
	struct fw_str out = { 0 };
	bool is_good;

	for (size_t i = 0; i < list->rows.len; i++) {
		bool is_new = !i || rows[i].device != rows[i - 1].device;

		if (is_new && list->args->device_count) {
			fw_str_puts(&out, i ? "\n" : "");
			fw_occupancy_put_loads(&out, list, rows[i].device);
		}
		if (!i || (is_new && list->args->device_count))
			put_header(&out);
		put_row(&out, list, &rows[i], columns);
		if (out.len > FLUSH_BYTES)
			fw_occupancy_flush(&out);
	}
	if (list->rows.len)
		fw_str_putc(&out, '\n');
	fw_occupancy_put_notes(&out, list);
	is_good = !out.failed;
	fw_occupancy_flush(&out);
	fw_str_release(&out);
	return is_good;
}
