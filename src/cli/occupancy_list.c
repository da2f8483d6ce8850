/* From files to rows: which kernels, on which GPUs, with which block sizes. */
#include "cli/occupancy_list.h"

#include "base/demangle.h"
#include "occupancy/advice.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

unsigned fw_occupancy_threads(const int dims[3])
{
	uint64_t threads = 1;

	for (int i = 0; i < 3; i++) {
		if (dims[i] < 1 || dims[i] > UINT16_MAX)
			return 0;
		threads *= (unsigned)dims[i];
	}
	return threads <= UINT16_MAX ? (unsigned)threads : 0;
}

bool fw_occupancy_has_registers(const struct fw_kernel *kernel)
{
	return kernel->registers != FW_UNKNOWN;
}

size_t fw_occupancy_list_blocks(const struct fw_occupancy_list *list,
				const struct fw_kernel *kernel, unsigned *blocks,
				enum fw_occupancy_block_source *source)
{
	unsigned required = fw_occupancy_threads(kernel->required_threads);
	unsigned bound = fw_occupancy_threads(kernel->max_threads);

	if (list->args->block_count) {
		*source = FW_OCCUPANCY_BLOCK_GIVEN;
		memcpy(blocks, list->args->blocks, list->args->block_count * sizeof(*blocks));
		return list->args->block_count;
	}
	*source = required ? FW_OCCUPANCY_BLOCK_REQUIRED
		  : bound  ? FW_OCCUPANCY_BLOCK_BOUND
			   : FW_OCCUPANCY_BLOCK_ASSUMED;
	blocks[0] = required ? required : bound ? bound : FW_OCCUPANCY_ASSUMED_BLOCK;
	return 1;
}

bool fw_occupancy_list_asks(const struct fw_occupancy_list *list, size_t kernel, size_t device)
{
	return list->args->device_count ||
	       (int)list->devices[device].hw->cc == list->binary->kernels[kernel].target.cc;
}

enum fw_load fw_occupancy_list_load(const struct fw_occupancy_list *list, size_t kernel,
				    size_t device)
{
	return (enum fw_load)list->kernel_loads[device * list->binary->kernel_count + kernel];
}

static unsigned known_or(int value, unsigned fallback)
{
	return value < 0 ? fallback : (unsigned)value;
}

struct fw_occupancy_launch fw_occupancy_list_launch(const struct fw_occupancy_list *list,
						    const struct fw_kernel *kernel, size_t device,
						    unsigned block)
{
	struct fw_occupancy_input in = list->args->kernel;
	unsigned cluster = fw_occupancy_threads(kernel->cluster);
	struct fw_occupancy_launch launch;

	in.registers = known_or(kernel->registers, 0);
	in.static_smem_bytes = known_or(kernel->static_smem, 0);
	in.barriers = known_or(kernel->barriers, 1);
	in.cluster_blocks = cluster ? cluster : 1;
	launch = fw_occupancy_launch_of(&list->devices[device], &in, block);
	launch.max_threads = fw_occupancy_threads(kernel->max_threads);
	launch.is_fixed = fw_occupancy_threads(kernel->required_threads) != 0;
	return launch;
}

unsigned fw_occupancy_most_registers(const struct fw_occupancy_launch *launch,
				     const struct fw_kernel *kernel)
{
	unsigned most = fw_resource_range(launch->device->hw, FW_RESOURCE_REGISTERS).most;
	unsigned bound = fw_occupancy_threads(kernel->max_threads);
	unsigned cap =
		bound ? fw_register_cap(launch->device->hw, bound, known_or(kernel->min_blocks, 0))
		      : most;

	if (kernel->register_cap > 0 && (unsigned)kernel->register_cap < cap)
		cap = (unsigned)kernel->register_cap;
	return cap < most ? cap : most;
}

void fw_occupancy_put_bound_error(struct fw_str *out, const struct fw_kernel *kernel,
				  unsigned block)
{
	unsigned required = fw_occupancy_threads(kernel->required_threads);
	unsigned bound = fw_occupancy_threads(kernel->max_threads);

	if (required && block != required)
		fw_str_printf(out, "launch fails: the kernel requires blocks of %u", required);
	else if (!required && bound && block > bound)
		fw_str_printf(out, "launch fails: over the launch bound of %u", bound);
}

const char *fw_occupancy_intended_low(const struct fw_occupancy_list *list, size_t kernel,
				      const struct fw_occupancy_launch *launch)
{
	const struct fw_kernel *k = &list->binary->kernels[kernel];
	struct fw_kernel_traits traits = {
		.name = list->names[kernel],
		.smem_bytes = fw_resource_get(&launch->in, FW_RESOURCE_SMEM),
		.has_setmaxnreg = k->setmaxnreg > 0,
		.has_tensor_memory = k->tcgen05 > 0,
		.has_cluster = launch->in.cluster_blocks > 1 || k->has_explicit_cluster,
	};

	return fw_intended_low(&traits);
}

/* names[i] for the kernels that the filter keeps; without one, all. */
static fw_status keep_names(struct fw_occupancy_list *list, const regex_t *filter,
			    struct fw_error *err)
{
	const struct fw_binary *binary = list->binary;

	list->names = fw_arena_array(&list->arena, binary->kernel_count, sizeof(*list->names));
	if (!list->names)
		return fw_fail_nomem(err, binary->kernel_count * sizeof(*list->names));
	for (size_t i = 0; i < binary->kernel_count; i++) {
		const char *name = binary->kernels[i].name;
		const char *readable = fw_demangle(&list->arena, name);

		if (filter && regexec(filter, readable, 0, NULL, 0) &&
		    regexec(filter, name, 0, NULL, 0))
			continue;
		list->names[i] = readable;
		list->kept_kernels++;
	}
	return FW_OK;
}

static fw_status filter_names(struct fw_occupancy_list *list, struct fw_error *err)
{
	regex_t filter;
	char why[128];
	fw_status status;
	int code;

	if (!list->args->filter)
		return keep_names(list, NULL, err);
	code = regcomp(&filter, list->args->filter, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &filter, why, sizeof(why));
		return fw_fail(err, FW_ERR_ARGUMENT, "--filter %.80s: %s", list->args->filter, why);
	}
	status = keep_names(list, &filter, err);
	regfree(&filter);
	return status;
}

static bool has_device(const struct fw_occupancy_list *list, int cc)
{
	for (size_t i = 0; i < list->device_count; i++)
		if ((int)list->devices[i].hw->cc == cc)
			return true;
	return false;
}

static int compare_devices(const void *a, const void *b)
{
	const struct fw_occupancy_device *x = a, *y = b;

	return (x->hw->cc > y->hw->cc) - (x->hw->cc < y->hw->cc);
}

static void choose_devices(struct fw_occupancy_list *list)
{
	const struct fw_hw_limits *hw;

	list->device_count = list->args->device_count;
	memcpy(list->devices, list->args->devices, sizeof(list->devices));
	if (list->device_count)
		return;
	for (size_t i = 0; i < list->binary->kernel_count; i++) {
		int cc = list->binary->kernels[i].target.cc;

		if (!list->names[i])
			continue;
		if (cc < 0 || fw_hw_limits_find((unsigned)cc, &hw, NULL))
			list->without_limits++;
		else if (!has_device(list, cc) && list->device_count < FW_OCCUPANCY_MAX_DEVICES)
			list->devices[list->device_count++] =
				(struct fw_occupancy_device){ .hw = hw };
	}
	qsort(list->devices, list->device_count, sizeof(list->devices[0]), compare_devices);
}

static void load_kernels(struct fw_occupancy_list *list, size_t device)
{
	const struct fw_binary *binary = list->binary;
	const enum fw_load *loads = list->image_loads + device * binary->image_count;
	unsigned char *kernels = list->kernel_loads + device * binary->kernel_count;

	list->loads_none[device] = true;
	for (size_t i = 0; i < binary->image_count; i++) {
		const struct fw_image *image = &binary->images[i];

		if (loads[i] == FW_LOAD_NOT)
			continue;
		list->loads_none[device] = false;
		for (uint32_t k = 0; k < image->kernel_count; k++) {
			unsigned char *load =
				&kernels[binary->kernel_of_image[image->first_kernel + k]];

			/* The same kernel in two containers: one that runs as it is counts. */
			if (*load != FW_LOAD_CUBIN)
				*load = (unsigned char)loads[i];
		}
	}
}

static fw_status choose_loads(struct fw_occupancy_list *list, struct fw_error *err)
{
	const struct fw_binary *binary = list->binary;

	list->image_loads =
		fw_arena_array(&list->arena, list->device_count * binary->image_count + 1,
			       sizeof(*list->image_loads));
	list->kernel_loads =
		fw_arena_array(&list->arena, list->device_count * binary->kernel_count + 1, 1);
	if (!list->image_loads || !list->kernel_loads)
		return fw_fail_nomem(err, list->device_count *
						  (binary->image_count * sizeof(enum fw_load) +
						   binary->kernel_count));
	for (size_t d = 0; d < list->device_count; d++) {
		fw_binary_choose(binary, (int)list->devices[d].hw->cc,
				 list->image_loads + d * binary->image_count);
		load_kernels(list, d);
	}
	return FW_OK;
}

/* By name; of equal ones linked code comes first. */
static int compare_linked(const void *a, const void *b, void *binary)
{
	const struct fw_kernel *kernels = ((const struct fw_binary *)binary)->kernels;
	const struct fw_kernel *x = &kernels[*(const uint32_t *)a];
	const struct fw_kernel *y = &kernels[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);

	return order ? order : x->is_provisional - y->is_provisional;
}

/*
 * Programs built with -rdc=true keep the device linker's input beside its output, and that of
 * libraries for targets that were not linked at all. It never runs, so it would only repeat every
 * kernel with figures that do not hold.
 */
static fw_status mark_superseded(struct fw_occupancy_list *list, struct fw_error *err)
{
	const struct fw_kernel *kernels = list->binary->kernels;
	size_t count = list->binary->kernel_count, cubins = 0;
	uint32_t *order = fw_arena_array(&list->arena, count, sizeof(*order));
	const struct fw_kernel *linked = NULL;

	list->is_superseded = fw_arena_array(&list->arena, count, sizeof(*list->is_superseded));
	if (!order || !list->is_superseded)
		return fw_fail_nomem(err, count * sizeof(*order));
	for (size_t i = 0; i < count; i++)
		if (list->names[i] && kernels[i].kind == FW_IMAGE_CUBIN)
			order[cubins++] = (uint32_t)i;
	if (cubins)
		qsort_r(order, cubins, sizeof(*order), compare_linked, list->binary);
	for (size_t i = 0; i < cubins; i++) {
		const struct fw_kernel *kernel = &kernels[order[i]];

		if (!kernel->is_provisional)
			linked = kernel;
		else if (linked && !strcmp(linked->name, kernel->name))
			list->is_superseded[order[i]] = true;
		list->superseded += list->is_superseded[order[i]];
	}
	return FW_OK;
}

/* A row is shown where the GPU would load the kernel; where it loads nothing at all, every kernel is. */
static bool is_shown(const struct fw_occupancy_list *list, size_t kernel, size_t device)
{
	if (!list->names[kernel] || list->is_superseded[kernel] ||
	    !fw_occupancy_list_asks(list, kernel, device))
		return false;
	return !list->args->device_count || list->loads_none[device] ||
	       fw_occupancy_list_load(list, kernel, device) != FW_LOAD_NOT;
}

static bool add_rows(struct fw_occupancy_list *list, size_t kernel, size_t device)
{
	unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
	enum fw_occupancy_block_source source;
	size_t count =
		fw_occupancy_list_blocks(list, &list->binary->kernels[kernel], blocks, &source);

	for (size_t b = 0; b < count; b++) {
		struct fw_occupancy_launch launch = fw_occupancy_list_launch(
			list, &list->binary->kernels[kernel], device, blocks[b]);
		struct fw_occupancy_row *row = fw_vec_push(&list->rows);

		if (!row)
			return false;
		*row = (struct fw_occupancy_row){
			.kernel = (uint32_t)kernel,
			.device = (uint16_t)device,
			.block = (uint16_t)blocks[b],
			.blocks_per_sm = (uint16_t)launch.result.blocks_per_sm,
			.warps_per_sm = (uint16_t)launch.result.warps_per_sm,
			.max_warps = (uint16_t)launch.result.max_warps_per_sm,
		};
	}
	return true;
}

static int compare_keys(const struct fw_occupancy_list *list, const struct fw_occupancy_row *a,
			const struct fw_occupancy_row *b)
{
	const struct fw_kernel *kernels = list->binary->kernels;
	const struct fw_kernel *x = &kernels[a->kernel], *y = &kernels[b->kernel];

	switch (list->args->sort) {
	case FW_OCCUPANCY_SORT_NAME: return strcmp(list->names[a->kernel], list->names[b->kernel]);
	case FW_OCCUPANCY_SORT_OCCUPANCY:
		return a->warps_per_sm * b->max_warps - b->warps_per_sm * a->max_warps;
	case FW_OCCUPANCY_SORT_REGISTERS:
		return (y->registers > x->registers) - (y->registers < x->registers);
	case FW_OCCUPANCY_SORT_SMEM:
		return (y->static_smem > x->static_smem) - (y->static_smem < x->static_smem);
	case FW_OCCUPANCY_SORT_BLOCKS: return b->blocks_per_sm - a->blocks_per_sm;
	default: return 0;
	}
}

static int compare_rows(const void *a, const void *b, void *list)
{
	const struct fw_occupancy_row *x = a, *y = b;
	int order = x->device - y->device;

	if (!order)
		order = compare_keys(list, x, y);
	if (!order)
		order = (x->kernel > y->kernel) - (x->kernel < y->kernel);
	return order ? order : x->block - y->block;
}

static fw_status make_rows(struct fw_occupancy_list *list, struct fw_error *err)
{
	for (size_t d = 0; d < list->device_count; d++)
		for (size_t k = 0; k < list->binary->kernel_count; k++)
			if (is_shown(list, k, d) && !add_rows(list, k, d))
				return fw_fail_nomem(err, list->rows.len *
								  sizeof(struct fw_occupancy_row));
	if (list->rows.len)
		qsort_r(list->rows.data, list->rows.len, sizeof(struct fw_occupancy_row),
			compare_rows, list);
	return FW_OK;
}

fw_status fw_occupancy_list_open(struct fw_occupancy_list *list,
				 const struct fw_occupancy_args *args, struct fw_error *err)
{
	fw_status status;

	*list = (struct fw_occupancy_list){ .args = args, .rows = FW_VEC(struct fw_occupancy_row) };
	status = fw_binary_open(&list->binary, (const char *const *)args->files, args->file_count,
				NULL, err);
	if (!status)
		status = filter_names(list, err);
	if (status)
		return status;
	choose_devices(list);
	status = choose_loads(list, err);
	if (!status)
		status = mark_superseded(list, err);
	return status ? status : make_rows(list, err);
}

void fw_occupancy_list_release(struct fw_occupancy_list *list)
{
	fw_vec_release(&list->rows);
	fw_arena_release(&list->arena);
	fw_binary_close(list->binary);
}
