/* The kernels of files as JSON and CSV. */
#include "cli/occupancy_list.h"

#include <stdio.h>
#include <string.h>

#define FLUSH_BYTES 65536u

static const char *const load_names[] = { "no", "cubin", "jit" };
static const char *const source_names[] = { "given", "required", "launch-bounds", "assumed" };

static void json_number(struct fw_json *json, const char *key, int value)
{
	if (value == FW_UNKNOWN)
		fw_json_null(json, key);
	else
		fw_json_int(json, key, value);
}

static void json_dims(struct fw_json *json, const char *key, const int dims[3])
{
	if (dims[0] == FW_UNKNOWN) {
		fw_json_null(json, key);
		return;
	}
	fw_json_begin_array(json, key);
	for (int i = 0; i < 3; i++)
		fw_json_int(json, NULL, dims[i]);
	fw_json_end_array(json);
}

static void json_image(struct fw_json *json, const struct fw_occupancy_list *list, size_t at)
{
	static const char *const kinds[] = { "cubin", "ptx", "lto", "other" };
	const struct fw_image *image = &list->binary->images[at];
	char target[FW_TARGET_TEXT], cc[FW_OCCUPANCY_CC_TEXT];

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "source", image->source);
	fw_json_uint(json, "offset", image->offset);
	fw_json_uint(json, "entry", image->entry);
	fw_json_string(json, "kind", kinds[image->kind]);
	fw_json_string(json, "sm",
		       image->target.cc < 0 ? NULL : fw_target_text(image->target, target));
	json_number(json, "abi", image->abi);
	fw_json_string(json, "compiler", image->compiler);
	fw_json_bool(json, "relocatable", image->is_relocatable);
	fw_json_bool(json, "compressed", image->is_compressed);
	fw_json_uint(json, "bytes", image->bytes);
	fw_json_uint(json, "kernels", image->kernel_count);
	fw_json_string(json, "error", image->error);
	fw_json_begin_array(json, "loaded_by");
	for (size_t d = 0; d < list->device_count && list->args->device_count; d++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "cc", fw_occupancy_cc_text(list->devices[d].hw->cc, cc));
		fw_json_string(json, "loaded",
			       load_names[list->image_loads[d * list->binary->image_count + at]]);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	fw_json_end_object(json);
}

static void json_steps(struct fw_json *json, const struct fw_occupancy_launch *launch,
		       const struct fw_kernel *kernel)
{
	unsigned most = fw_occupancy_most_registers(launch, kernel);

	fw_json_begin_array(json, "register_sweep");
	for (unsigned registers = 1; registers <= most;) {
		struct fw_occupancy_input in = launch->in;
		struct fw_occupancy_launch step;
		unsigned last;

		in.registers = registers;
		step = fw_occupancy_launch_of(launch->device, &in, in.block_threads);
		last = fw_cliffs_find(launch->device->hw, &step.in, FW_RESOURCE_REGISTERS).free_to;
		last = last < most ? last : most;
		fw_json_begin_object(json, NULL);
		fw_json_uint(json, "registers_at_most", last);
		fw_json_uint(json, "blocks_per_sm", step.result.blocks_per_sm);
		fw_json_uint(json, "warps_per_sm", step.result.warps_per_sm);
		fw_json_double(json, "occupancy", step.result.occupancy);
		fw_json_end_object(json);
		registers = last + 1;
	}
	fw_json_end_array(json);
}

static void json_unknown(struct fw_json *json, const struct fw_occupancy_launch *launch)
{
	char cc[FW_OCCUPANCY_CC_TEXT];

	fw_json_string(json, "cc", fw_occupancy_cc_text(launch->in.cc, cc));
	fw_json_uint(json, "block", launch->in.block_threads);
	fw_json_uint(json, "dynamic_smem", launch->in.dynamic_smem_bytes);
	fw_json_null(json, "blocks_per_sm");
	fw_json_null(json, "warps_per_sm");
	fw_json_null(json, "occupancy");
	fw_json_null(json, "limiters");
}

static void json_slack(struct fw_json *json, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;

	fw_json_uint(json, "free_registers_to",
		     fw_cliffs_find(hw, &launch->in, FW_RESOURCE_REGISTERS).free_to);
	fw_json_uint(json, "free_smem_to",
		     fw_cliffs_find(hw, &launch->in, FW_RESOURCE_SMEM).free_to);
}

static void json_launch(struct fw_json *json, const struct fw_occupancy_list *list, size_t kernel,
			size_t device, unsigned block)
{
	const struct fw_kernel *k = &list->binary->kernels[kernel];
	struct fw_occupancy_launch launch = fw_occupancy_list_launch(list, k, device, block);
	unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
	enum fw_occupancy_block_source source;
	struct fw_str error = { 0 };

	fw_occupancy_list_blocks(list, k, blocks, &source);
	fw_occupancy_put_bound_error(&error, k, block);
	fw_json_begin_object(json, NULL);
	if (fw_occupancy_has_registers(k)) {
		fw_occupancy_json_result(json, &launch);
		fw_json_double(json, "warps_per_scheduler",
			       (double)launch.result.warps_per_sm /
				       launch.result.schedulers_per_sm);
		json_slack(json, &launch);
		if (list->args->grid)
			fw_occupancy_json_tail(json, &launch, list->args->grid);
	} else {
		json_unknown(json, &launch);
		json_steps(json, &launch, k);
	}
	fw_json_string(json, "block_from", source_names[source]);
	fw_json_string(json, "loaded", load_names[fw_occupancy_list_load(list, kernel, device)]);
	fw_json_string(json, "intended_low", fw_occupancy_intended_low(list, kernel, &launch));
	if (list->args->has_cliffs)
		fw_occupancy_json_cliffs(json, &launch);
	if (list->args->sweep != FW_OCCUPANCY_NO_SWEEP)
		fw_occupancy_json_sweep(json, &launch, list->args->sweep);
	fw_json_string(json, "launch_error", error.len ? fw_str_text(&error) : NULL);
	fw_json_end_object(json);
	fw_str_release(&error);
}

static void json_launches(struct fw_json *json, const struct fw_occupancy_list *list, size_t kernel)
{
	unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
	enum fw_occupancy_block_source source;
	size_t count =
		fw_occupancy_list_blocks(list, &list->binary->kernels[kernel], blocks, &source);

	fw_json_begin_array(json, "occupancy");
	for (size_t d = 0; d < list->device_count; d++)
		for (size_t b = 0; b < count && fw_occupancy_list_asks(list, kernel, d); b++)
			json_launch(json, list, kernel, d, blocks[b]);
	fw_json_end_array(json);
}

static void json_kernel(struct fw_json *json, const struct fw_occupancy_list *list, size_t at)
{
	const struct fw_kernel *k = &list->binary->kernels[at];
	char target[FW_TARGET_TEXT];

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", k->name);
	fw_json_string(json, "demangled", list->names[at]);
	fw_json_string(json, "sm", fw_target_text(k->target, target));
	fw_json_string(json, "kind", k->kind == FW_IMAGE_PTX ? "ptx" : "cubin");
	json_number(json, "registers", k->registers);
	json_number(json, "register_cap", k->register_cap);
	json_number(json, "static_smem", k->static_smem);
	json_number(json, "uses_dynamic_smem", k->uses_dynamic_smem);
	json_number(json, "barriers", k->barriers);
	json_dims(json, "max_threads", k->max_threads);
	json_dims(json, "required_threads", k->required_threads);
	json_number(json, "min_blocks", k->min_blocks);
	json_number(json, "stack", k->stack);
	json_number(json, "frame", k->frame);
	json_number(json, "spill_instructions", k->spill_instructions);
	json_dims(json, "cluster", k->cluster);
	json_number(json, "max_cluster", k->max_cluster_rank);
	json_number(json, "setmaxnreg", k->setmaxnreg);
	json_number(json, "tcgen05", k->tcgen05);
	json_number(json, "virtual_resources", k->vrc);
	fw_json_uint(json, "image", k->image);
	fw_json_uint(json, "copies", k->copies);
	fw_json_bool(json, "provisional", k->is_provisional);
	json_launches(json, list, at);
	fw_json_end_object(json);
}

void fw_occupancy_json_problems(struct fw_json *json, const struct fw_binary *binary)
{
	fw_json_begin_array(json, "problems");
	for (size_t i = 0; i < binary->problem_count; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "source", binary->problems[i].source);
		fw_json_string(json, "message", binary->problems[i].message);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
}

/* The kernels in the order of the rows, each once; then those that have no row. */
static bool json_kernels(struct fw_json *json, const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	size_t count = list->binary->kernel_count;
	struct fw_arena arena = { 0 };
	bool *is_written = fw_arena_array(&arena, count + 1, sizeof(*is_written));

	for (size_t i = 0; is_written && i < list->rows.len + count; i++) {
		size_t kernel = i < list->rows.len ? rows[i].kernel : i - list->rows.len;

		if (is_written[kernel] || !list->names[kernel])
			continue;
		is_written[kernel] = true;
		json_kernel(json, list, kernel);
		if (json->out->len > FLUSH_BYTES)
			fw_occupancy_flush(json->out);
	}
	fw_arena_release(&arena);
	return is_written != NULL;
}

bool fw_occupancy_print_json(const struct fw_occupancy_list *list)
{
	struct fw_str out = { 0 };
	struct fw_json json = { .out = &out, .indent = 2 };
	bool is_good;

	fw_json_begin_object(&json, NULL);
	fw_json_uint(&json, "schema", 1);
	fw_json_begin_array(&json, "kernels");
	is_good = json_kernels(&json, list);
	fw_json_end_array(&json);
	fw_json_begin_array(&json, "images");
	for (size_t i = 0; i < list->binary->image_count; i++) {
		json_image(&json, list, i);
		if (out.len > FLUSH_BYTES)
			fw_occupancy_flush(&out);
	}
	fw_json_end_array(&json);
	fw_occupancy_json_problems(&json, list->binary);
	fw_json_end_object(&json);
	fw_str_putc(&out, '\n');
	is_good = is_good && !out.failed;
	fw_occupancy_flush(&out);
	fw_str_release(&out);
	return is_good;
}

static void csv_number(struct fw_str *out, int value)
{
	if (value != FW_UNKNOWN)
		fw_str_printf(out, "%d", value);
	fw_str_putc(out, ',');
}

static void csv_dims(struct fw_str *out, const int dims[3])
{
	if (dims[0] != FW_UNKNOWN)
		fw_str_printf(out, "%dx%dx%d", dims[0], dims[1], dims[2]);
	fw_str_putc(out, ',');
}

/* RFC 4180: names have commas, and may have quotes. */
static void csv_text(struct fw_str *out, const char *text)
{
	fw_str_putc(out, '"');
	while (*text) {
		size_t len = strcspn(text, "\"");

		fw_occupancy_put_clean(out, text, len);
		text += len;
		if (*text) {
			fw_str_puts(out, "\"\"");
			text++;
		}
	}
	fw_str_putc(out, '"');
}

static void csv_row(struct fw_str *out, const struct fw_occupancy_list *list,
		    const struct fw_occupancy_row *row)
{
	const struct fw_kernel *k = &list->binary->kernels[row->kernel];
	struct fw_occupancy_launch launch =
		fw_occupancy_list_launch(list, k, row->device, row->block);
	const struct fw_occupancy_result *r = &launch.result;
	char text[FW_OCCUPANCY_CC_TEXT], target[FW_TARGET_TEXT];

	csv_text(out, k->name);
	fw_str_printf(out, ",%s,", fw_target_text(k->target, target));
	csv_number(out, k->registers);
	csv_number(out, k->register_cap);
	csv_number(out, k->static_smem);
	csv_number(out, k->barriers);
	csv_dims(out, k->max_threads);
	csv_dims(out, k->required_threads);
	csv_number(out, k->stack);
	csv_number(out, k->spill_instructions);
	csv_dims(out, k->cluster);
	fw_str_printf(out, "%s,%u,%u,", fw_occupancy_cc_text(launch.in.cc, text), row->block,
		      launch.in.dynamic_smem_bytes);
	if (fw_occupancy_has_registers(k)) {
		fw_str_printf(out, "%u,%u,%.9g,%.9g,", r->blocks_per_sm, r->warps_per_sm,
			      (double)r->warps_per_sm / r->schedulers_per_sm, r->occupancy);
		fw_occupancy_put_limiters(out, r->limiters, "|");
	} else {
		fw_str_puts(out, ",,,,");
	}
	fw_str_printf(out, ",%s,%u,",
		      load_names[fw_occupancy_list_load(list, row->kernel, row->device)],
		      k->copies);
	csv_text(out, list->names[row->kernel]);
	fw_str_putc(out, '\n');
}

bool fw_occupancy_print_csv(const struct fw_occupancy_list *list)
{
	const struct fw_occupancy_row *rows = list->rows.data;
	struct fw_str out = { 0 };
	bool is_good;

	fw_str_puts(
		&out,
		"name,sm,registers,register_cap,static_smem,barriers,max_threads,required_threads,"
		"stack,spill_instructions,cluster,cc,block,dynamic_smem,blocks_per_sm,warps_per_sm,"
		"warps_per_scheduler,occupancy,limiters,loaded,copies,demangled\n");
	for (size_t i = 0; i < list->rows.len; i++) {
		csv_row(&out, list, &rows[i]);
		if (out.len > FLUSH_BYTES)
			fw_occupancy_flush(&out);
	}
	is_good = !out.failed;
	fw_occupancy_flush(&out);
	fw_str_release(&out);
	return is_good;
}
