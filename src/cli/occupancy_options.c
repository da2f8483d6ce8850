/* The command line of `fullwarp occupancy`. */
#include "cli/occupancy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_SMEM     (1u << 30) /* bytes; far above any GPU, so that sums cannot overflow */
#define MAX_GRID     2147483647u
#define MAX_SMS      65536u
#define MAX_BARRIERS 16u
#define MAX_CLUSTER  1024u

/* The texts of the options as given. */
struct given {
	const char *cc, *gpu, *sms, *block, *regs, *smem, *dynamic_smem, *barriers, *cluster;
	const char *carveout, *sweep, *grid, *filter, *sort, *format;
	bool no_optin, cliffs, summary;
};

/* Where a value goes, and what it may be. */
struct number {
	const char *option, *text;
	uint64_t least, most;
	bool is_bytes;
	uint64_t value; /* before: the default */
};

static bool parse_bytes(const char *text, uint64_t most, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");
	char number[24];
	const char *unit = text + digits;
	uint64_t factor = 1, count;

	if (!digits || digits >= sizeof(number))
		return false;
	if (!strcasecmp(unit, "K") || !strcasecmp(unit, "KB") || !strcasecmp(unit, "KiB"))
		factor = 1024;
	else if (*unit)
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (!fw_parse_count(number, 0, most / factor, &count))
		return false;
	*value = count * factor;
	return true;
}

static int read_number(const struct fw_usage *usage, struct number *n)
{
	bool good;

	if (!n->text)
		return -1;
	good = n->is_bytes ? parse_bytes(n->text, n->most, &n->value)
			   : fw_parse_count(n->text, n->least, n->most, &n->value);
	if (good)
		return -1;
	if (n->is_bytes)
		return fw_usage_error(usage,
				      "--%s %.40s is not a number of bytes like 49152 or 48K",
				      n->option, n->text);
	return fw_usage_error(usage, "--%s %.40s is not a whole number from %llu to %llu",
			      n->option, n->text, (unsigned long long)n->least,
			      (unsigned long long)n->most);
}

/* Calls take for each part of a list "a,b"; -1, or the exit code of the first part refused. */
static int each_part(const struct fw_usage *usage, const char *option, const char *list,
		     int (*take)(const struct fw_usage *, struct fw_occupancy_args *, const char *),
		     struct fw_occupancy_args *args)
{
	char part[80];
	int status = -1;

	while (list && status < 0) {
		size_t len = strcspn(list, ",");

		if (!len || len >= sizeof(part))
			return fw_usage_error(usage, "--%s: '%.80s' has an empty or overlong part",
					      option, list);
		memcpy(part, list, len);
		part[len] = '\0';
		status = take(usage, args, part);
		list = list[len] ? list + len + 1 : NULL;
	}
	return status;
}

static int add_device(const struct fw_usage *usage, struct fw_occupancy_args *args,
		      struct fw_occupancy_device device)
{
	if (args->device_count == FW_OCCUPANCY_MAX_DEVICES)
		return fw_usage_error(usage, "more than %d GPUs", FW_OCCUPANCY_MAX_DEVICES);
	args->devices[args->device_count++] = device;
	return -1;
}

static int take_cc(const struct fw_usage *usage, struct fw_occupancy_args *args, const char *text)
{
	struct fw_occupancy_device device = { 0 };
	struct fw_error err;
	unsigned cc;

	if (fw_hw_cc_parse(text, &cc, &err) || fw_hw_limits_find(cc, &device.hw, &err))
		return fw_usage_error(usage, "%s", err.message);
	return add_device(usage, args, device);
}

static int take_gpu(const struct fw_usage *usage, struct fw_occupancy_args *args, const char *text)
{
	const struct fw_hw_chip *chip;
	struct fw_occupancy_device device = { 0 };
	struct fw_error err;

	if (fw_hw_chip_find(text, &chip, &err) || fw_hw_limits_find(chip->cc, &device.hw, &err))
		return fw_usage_error(usage, "%s", err.message);
	device.chip = chip->name;
	device.sms = chip->sms;
	return add_device(usage, args, device);
}

static int take_block(const struct fw_usage *usage, struct fw_occupancy_args *args,
		      const char *text)
{
	uint64_t value;

	if (!fw_parse_count(text, 1, FW_HW_MAX_BLOCK_THREADS, &value))
		return fw_usage_error(usage, "--block %s: a block has 1 to %u threads", text,
				      FW_HW_MAX_BLOCK_THREADS);
	if (args->block_count == FW_OCCUPANCY_MAX_BLOCKS)
		return fw_usage_error(usage, "more than %d block sizes", FW_OCCUPANCY_MAX_BLOCKS);
	args->blocks[args->block_count++] = (unsigned)value;
	return -1;
}

static int add_all(const struct fw_usage *usage, struct fw_occupancy_args *args)
{
	size_t count;
	const struct fw_hw_limits *all = fw_hw_limits_all(&count);
	int status = -1;

	for (size_t i = 0; i < count && status < 0; i++)
		status = add_device(usage, args, (struct fw_occupancy_device){ .hw = &all[i] });
	return status;
}

static int read_devices(const struct fw_usage *usage, const struct given *given,
			struct fw_occupancy_args *args)
{
	struct number sms = { "sms", given->sms, 1, MAX_SMS, false, 0 };
	bool is_all = given->cc && !strcmp(given->cc, "all");
	int status =
		is_all ? add_all(usage, args) : each_part(usage, "cc", given->cc, take_cc, args);

	if (status < 0)
		status = each_part(usage, "gpu", given->gpu, take_gpu, args);
	if (status < 0)
		status = read_number(usage, &sms);
	for (size_t i = 0; i < args->device_count && sms.value; i++)
		args->devices[i].sms = (unsigned)sms.value;
	return status;
}

static int read_numbers(const struct fw_usage *usage, const struct given *given,
			struct fw_occupancy_args *args)
{
	struct number numbers[] = {
		{ "regs", given->regs, 0, 255, false, 0 },
		{ "smem", given->smem, 0, MAX_SMEM, true, 0 },
		{ "dynamic-smem", given->dynamic_smem, 0, MAX_SMEM, true, 0 },
		{ "barriers", given->barriers, 0, MAX_BARRIERS, false, 1 },
		{ "cluster", given->cluster, 1, MAX_CLUSTER, false, 1 },
		{ "carveout", given->carveout, 0, 100, false, 0 },
		{ "grid", given->grid, 1, MAX_GRID, false, 0 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int status = read_number(usage, &numbers[i]);

		if (status >= 0)
			return status;
	}
	args->kernel.registers = (unsigned)numbers[0].value;
	args->kernel.static_smem_bytes = (unsigned)numbers[1].value;
	args->kernel.dynamic_smem_bytes = (unsigned)numbers[2].value;
	args->kernel.barriers = (unsigned)numbers[3].value;
	args->kernel.cluster_blocks = (unsigned)numbers[4].value;
	if (given->carveout)
		args->kernel.carveout_pct = (int)numbers[5].value;
	args->kernel.is_optin = !given->no_optin;
	args->grid = numbers[6].value;
	args->has_calculator_values =
		given->regs || given->smem || given->barriers || given->cluster;
	return -1;
}

/* The place of text in a NULL-terminated list of words. */
static int read_word(const struct fw_usage *usage, const char *option, const char *text,
		     const char *const *words, int *place)
{
	char list[160] = "";
	size_t used = 0;

	if (!text)
		return -1;
	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*place = i;
			return -1;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 words[i]);
	}
	return fw_usage_error(usage, "--%s %.40s is none of %s", option, text, list);
}

static int read_words(const struct fw_usage *usage, const struct given *given,
		      struct fw_occupancy_args *args)
{
	/* In the order of enum fw_resource, fw_occupancy_format and fw_occupancy_sort. */
	static const char *const sweeps[] = { "block", "regs", "smem", NULL };
	static const char *const formats[] = { "text", "json", "csv", NULL };
	static const char *const sorts[] = { "file", "name",   "occupancy", "registers",
					     "smem", "blocks", NULL };
	int sweep = FW_OCCUPANCY_NO_SWEEP, format = FW_OCCUPANCY_TEXT,
	    sort = FW_OCCUPANCY_SORT_FILE;
	int status = read_word(usage, "sweep", given->sweep, sweeps, &sweep);

	if (status < 0)
		status = read_word(usage, "format", given->format, formats, &format);
	if (status < 0)
		status = read_word(usage, "sort", given->sort, sorts, &sort);
	args->sweep = (enum fw_resource)sweep;
	args->format = (enum fw_occupancy_format)format;
	args->sort = (enum fw_occupancy_sort)sort;
	return status;
}

static int check_grid(const struct fw_usage *usage, const struct fw_occupancy_args *args)
{
	if (!args->grid)
		return -1;
	for (size_t i = 0; i < args->device_count; i++)
		if (!args->devices[i].sms)
			return fw_usage_error(usage,
					      "--grid needs the number of SMs: --gpu or --sms");
	if (!args->device_count)
		return fw_usage_error(usage, "--grid needs --gpu, or --cc and --sms");
	return -1;
}

static int check_files(const struct fw_usage *usage, const struct fw_occupancy_args *args)
{
	if (args->has_calculator_values)
		return fw_usage_error(usage,
				      "--regs, --smem, --barriers and --cluster are read from the "
				      "file; leave them out, or the file");
	if (args->has_summary && args->format == FW_OCCUPANCY_CSV)
		return fw_usage_error(usage, "--summary is not written as csv");
	if (args->format == FW_OCCUPANCY_CSV && args->sweep != FW_OCCUPANCY_NO_SWEEP)
		return fw_usage_error(usage, "--sweep of files is not written as csv");
	return -1;
}

/* What only makes sense together. */
static int check_together(const struct fw_usage *usage, const struct given *given,
			  const struct fw_occupancy_args *args)
{
	int status = check_grid(usage, args);

	if (status < 0 && args->format == FW_OCCUPANCY_CSV && (args->has_cliffs || args->grid))
		return fw_usage_error(usage, "--cliffs and --grid are not written as csv");
	if (status >= 0 || args->file_count)
		return status >= 0 ? status : check_files(usage, args);
	if (given->filter || given->sort || given->summary)
		return fw_usage_error(usage, "--filter, --sort and --summary need a file");
	if (!args->device_count)
		return fw_usage_error(usage, "which GPU? Give --cc or --gpu, or a file");
	if (args->block_count)
		return -1;
	if (args->sweep != FW_RESOURCE_BLOCK)
		return fw_usage_error(usage, "--block is missing: threads of a block");
	if (args->has_cliffs || args->grid)
		return fw_usage_error(usage, "--cliffs and --grid need --block");
	return -1;
}

static int read_given(const struct fw_usage *usage, const struct given *given,
		      struct fw_occupancy_args *args)
{
	bool is_from_bounds = given->block && !strcmp(given->block, "launch-bounds");
	int status = read_devices(usage, given, args);

	if (status < 0 && is_from_bounds && !args->file_count)
		return fw_usage_error(usage, "--block launch-bounds needs a file");
	if (status < 0 && !is_from_bounds)
		status = each_part(usage, "block", given->block, take_block, args);
	if (status < 0)
		status = read_numbers(usage, given, args);
	if (status < 0)
		status = read_words(usage, given, args);
	args->has_cliffs = given->cliffs;
	args->has_summary = given->summary;
	args->filter = given->filter;
	return status < 0 ? check_together(usage, given, args) : status;
}

int fw_occupancy_args_parse(struct fw_occupancy_args *args, int argc, char **argv)
{
	struct given g = { 0 };
	const struct fw_option options[] = {
		{ .name = "cc",
		  .value = "X.Y,...",
		  .text = &g.cc,
		  .help = "compute capabilities; 'all': every known one" },
		{ .name = "gpu",
		  .value = "NAME,...",
		  .text = &g.gpu,
		  .help = "GPUs by name: H200, A10, 'RTX 4090'" },
		{ .name = "block",
		  .value = "N,...",
		  .text = &g.block,
		  .help = "threads of a block; of files launch-bounds by default" },
		{ .name = "dynamic-smem",
		  .value = "BYTES",
		  .text = &g.dynamic_smem,
		  .help = "shared memory given at launch (48K: 49152)" },
		{ .name = "regs", .value = "N", .text = &g.regs, .help = "registers a thread" },
		{ .name = "smem",
		  .value = "BYTES",
		  .text = &g.smem,
		  .help = "shared memory of a block" },
		{ .name = "barriers",
		  .value = "N",
		  .text = &g.barriers,
		  .help = "named barriers of a block (default 1)" },
		{ .name = "cluster",
		  .value = "N",
		  .text = &g.cluster,
		  .help = "blocks of a cluster (default 1)" },
		{ .name = "carveout",
		  .value = "PCT",
		  .text = &g.carveout,
		  .help = "preferred shared memory carve-out (default: largest)" },
		{ .name = "no-optin",
		  .flag = &g.no_optin,
		  .help = "the program did not opt in to more than 48 KB" },
		{ .name = "sweep",
		  .value = "WHAT",
		  .text = &g.sweep,
		  .help = "vary block, regs or smem and keep the rest" },
		{ .name = "cliffs",
		  .flag = &g.cliffs,
		  .help = "smallest change of each resource that changes it" },
		{ .name = "grid",
		  .value = "BLOCKS",
		  .text = &g.grid,
		  .help = "waves and tail of a launch; needs --gpu or --sms" },
		{ .name = "sms",
		  .value = "N",
		  .text = &g.sms,
		  .help = "streaming multiprocessors of the GPU" },
		{ .name = "filter",
		  .value = "REGEX",
		  .text = &g.filter,
		  .help = "only kernels whose name matches" },
		{ .name = "sort",
		  .value = "KEY",
		  .text = &g.sort,
		  .help = "file, name, occupancy, registers, smem or blocks" },
		{ .name = "summary",
		  .flag = &g.summary,
		  .help = "limiters counted, and the ten lowest with reasons" },
		{ .name = "format",
		  .value = "FORMAT",
		  .text = &g.format,
		  .help = "text (default), json, csv" },
	};
	const struct fw_usage usage = {
		.command = "occupancy",
		.operands = "[FILE...]",
		.about =
			"Theoretical occupancy of every kernel in cubins, fatbins, PTX, objects,\n"
			"executables, libraries, archives, wheels and folders; without a file, of\n"
			"the values typed in.\n"
			"No GPU is needed. Occupancy is a limit, not a goal.\n",
		.options = options,
		.count = sizeof(options) / sizeof(options[0]),
	};
	int status = fw_options_parse(&usage, &argc, argv);

	if (status >= 0)
		return status;
	*args = (struct fw_occupancy_args){ .files = argv + 1, .file_count = (size_t)(argc - 1) };
	fw_occupancy_input_init(&args->kernel);
	args->is_terminal = isatty(STDOUT_FILENO);
	return read_given(&usage, &g, args);
}
