/*
 * Prints every kernel of the files named, one line each, tab-separated: what the side-by-side run
 * against cuobjdump compares. -1 is unknown. Usage: list_kernels [-j THREADS] [-n] [-P] FILE...
 * -n reads without printing, -P leaves PTX unread,
 * -i lists the images instead. A last line on stderr has the time and the memory.
 */
#include "binary/binary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of this process, from the kernel; -1 where it does not say. */
static long anonymous_kb(void)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "RssAnon:", 8))
			kb = strtol(line + 8, NULL, 10);
	}
	if (f)
		fclose(f);
	return kb;
}

static void print_dims(const int dims[3])
{
	printf("\t%d,%d,%d", dims[0], dims[1], dims[2]);
}

static void print_kernel(const struct fw_binary *binary, const struct fw_kernel *kernel)
{
	const struct fw_image *image = &binary->images[kernel->image];
	char target[FW_TARGET_TEXT];

	printf("%s\t%s\t%s", kernel->name, kernel->kind == FW_IMAGE_PTX ? "ptx" : "cubin",
	       fw_target_text(kernel->target, target));
	printf("\t%u\t%d\t%d\t%d\t%d\t%d\t%d", kernel->copies, kernel->is_provisional,
	       kernel->registers, kernel->static_smem, kernel->stack, kernel->frame,
	       kernel->barriers);
	print_dims(kernel->max_threads);
	print_dims(kernel->required_threads);
	print_dims(kernel->cluster);
	printf("\t%d\t%d\t%d\t%d\t%d\t%d", kernel->register_cap, kernel->spill_instructions,
	       kernel->setmaxnreg, kernel->tcgen05, kernel->vrc, kernel->uses_dynamic_smem);
	printf("\t%s\t%llu\t%u\n", image->source, (unsigned long long)image->offset, image->entry);
}

static void print_all(const struct fw_binary *binary)
{
	for (size_t i = 0; i < binary->kernel_count; i++)
		print_kernel(binary, &binary->kernels[i]);
	for (size_t i = 0; i < binary->problem_count; i++)
		fprintf(stderr, "%s: %s\n", binary->problems[i].source,
			binary->problems[i].message);
}

static void print_images(const struct fw_binary *binary)
{
	static const char *const kinds[] = { "cubin", "ptx", "lto", "other" };

	for (size_t i = 0; i < binary->image_count; i++) {
		const struct fw_image *image = &binary->images[i];
		char target[FW_TARGET_TEXT];

		printf("%s\t%#llx\t%u\t%s\t%s\t%llu\t%d\t%u\t%s\n", image->source,
		       (unsigned long long)image->offset, image->entry, kinds[image->kind],
		       fw_target_text(image->target, target), (unsigned long long)image->bytes,
		       image->is_compressed, image->kernel_count, image->error ? image->error : "");
	}
}

int main(int argc, char **argv)
{
	struct fw_binary_options options = { 0 };
	struct fw_binary *binary;
	struct fw_error err;
	struct rusage usage;
	double begin = seconds();
	int first = 1;
	int is_quiet = 0, lists_images = 0;

	for (; first < argc && argv[first][0] == '-'; first++) {
		if (!strcmp(argv[first], "-n"))
			is_quiet = 1;
		else if (!strcmp(argv[first], "-i"))
			lists_images = 1;
		else if (!strcmp(argv[first], "-P"))
			options.without_ptx = true;
		else if (!strcmp(argv[first], "-j") && first + 1 < argc)
			options.threads = (unsigned)strtoul(argv[++first], NULL, 10);
	}
	if (fw_binary_open(&binary, (const char *const *)argv + first, (size_t)(argc - first),
			   &options, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	if (lists_images)
		print_images(binary);
	else if (!is_quiet)
		print_all(binary);
	fflush(stdout);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr,
		"seconds %.3f kernels %zu instances %zu cubins %zu ptx %zu lto %zu other %zu "
		"problems %zu files %zu skipped %zu anonymous_kb %ld\n",
		seconds() - begin, binary->kernel_count, binary->instances, binary->kinds[0],
		binary->kinds[1], binary->kinds[2], binary->kinds[3], binary->problem_count,
		binary->files, binary->files_skipped, anonymous_kb());
	fw_binary_close(binary);
	return 0;
}
