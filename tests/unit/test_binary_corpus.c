/*
 * Every figure that ptxas and nvlink printed for the corpus' kernels (expected.tsv, groundtruth_cubin.tsv)
 * equals what is read back from the binaries, in every form of container.
 */
#include "binary/binary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OUT         FW_CORPUS "/occupancy/out/"
#define MOST_ROWS   512
#define MOST_FIELDS 24

/* A table of tab-separated text. */
struct table {
	char *text;
	char *cells[MOST_ROWS][MOST_FIELDS];
	size_t rows;
};

static void read_table(struct table *table, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line, *next;
	size_t n;

	memset(table, 0, sizeof(*table));
	assert_non_null(f);
	table->text = calloc(1, 1 << 20);
	assert_non_null(table->text);
	n = fread(table->text, 1, (1 << 20) - 1, f);
	fclose(f);
	assert_true(n > 0);
	for (line = table->text; line && *line; line = next) {
		size_t field = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		assert_true(table->rows < MOST_ROWS);
		while (line && field < MOST_FIELDS) {
			table->cells[table->rows][field++] = line;
			line = strchr(line, '\t');
			if (line)
				*line++ = '\0';
		}
		table->rows++;
	}
}

static struct fw_binary *open_one(const char *path)
{
	struct fw_binary *binary = NULL;
	struct fw_error err = { 0 };

	if (fw_binary_open(&binary, &path, 1, NULL, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < binary->problem_count; i++)
		fail_msg("%s: %s", binary->problems[i].source, binary->problems[i].message);
	return binary;
}

static const struct fw_kernel *find(const struct fw_binary *binary, const char *name,
				    const char *target, bool is_provisional)
{
	char text[FW_TARGET_TEXT];

	for (size_t i = 0; i < binary->kernel_count; i++) {
		const struct fw_kernel *k = &binary->kernels[i];

		if (k->kind == FW_IMAGE_CUBIN && !strcmp(k->name, name) &&
		    !strcmp(fw_target_text(k->target, text), target) &&
		    k->is_provisional == is_provisional)
			return k;
	}
	return NULL;
}

/* nvlink prints the 1 KB that the driver keeps with the kernel's own on sm_90, and not on sm_120. */
static long expected_smem(char *const *row)
{
	long smem = strtol(row[5], NULL, 10);

	return !strcmp(row[0], "rdc_link.log") && !strcmp(row[2], "90") ? smem - 1024 : smem;
}

static void compare_row(const struct fw_kernel *k, char *const *row)
{
	assert_int_equal(k->registers, strtol(row[3], NULL, 10));
	assert_int_equal(k->barriers, strtol(row[4], NULL, 10));
	assert_int_equal(k->static_smem, expected_smem(row));
	/* Relocatable code has no stack yet. */
	if (k->is_provisional)
		assert_int_equal(k->stack, FW_UNKNOWN);
	else
		assert_int_equal(k->stack, strtol(row[6], NULL, 10));
	if (row[8] && *row[8])
		assert_int_equal(k->spill_instructions > 0,
				 strtol(row[8], NULL, 10) + strtol(row[9], NULL, 10) > 0);
}

/* All rows of the log; their number, so that no kernel is left over. */
static size_t compare_log(const struct table *table, const struct fw_binary *binary,
			  const char *log, bool is_provisional)
{
	size_t rows = 0;

	for (size_t i = 1; i < table->rows; i++) {
		char *const *row = table->cells[i];
		const struct fw_kernel *k;

		if (strcmp(row[0], log) != 0)
			continue;
		k = find(binary, row[1], row[2], is_provisional);
		if (!k)
			fail_msg("%s: %s for %s is missing", log, row[1], row[2]);
		else
			compare_row(k, row);
		rows++;
	}
	assert_true(rows > 0);
	return rows;
}

static size_t cubin_kernels(const struct fw_binary *binary, bool is_provisional)
{
	size_t n = 0;

	for (size_t i = 0; i < binary->kernel_count; i++)
		n += binary->kernels[i].kind == FW_IMAGE_CUBIN &&
		     binary->kernels[i].is_provisional == is_provisional;
	return n;
}

static void cubins_equal_ptxas(void **state)
{
	static const char *const targets[] = { "k_75",  "k_80",   "k_86",   "k_87",
					       "k_88",  "k_89",   "k_90",   "k_90a",
					       "k_100", "k_100a", "k_100f", "k_103",
					       "k_110", "k_120",  "k_121",  "tc_100a" };

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		char path[512], log[32];
		struct fw_binary *binary;

		snprintf(path, sizeof(path), OUT "%s.cubin", targets[i]);
		snprintf(log, sizeof(log), "%s.log", targets[i]);
		binary = open_one(path);
		assert_int_equal(compare_log(*state, binary, log, false), binary->kernel_count);
		assert_int_equal(binary->images[0].abi, 8);
		assert_int_equal(binary->images[0].toolkit, 130);
		assert_string_equal(binary->images[0].compiler, "13.0.88");
		fw_binary_close(binary);
	}
}

static void containers_equal_ptxas(void **state)
{
	static const char *const files[] = { "k_none.fatbin",
					     "k_default.fatbin",
					     "k_size.fatbin",
					     "k_speed.fatbin",
					     "k_balance.fatbin",
					     "k_all_speed.fatbin",
					     "k_nocompress.fatbin",
					     "k.o",
					     "k.exe",
					     "k.so",
					     "libk.a" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[512];
		struct fw_binary *binary;
		size_t rows;

		snprintf(path, sizeof(path), OUT "%s", files[i]);
		binary = open_one(path);
		rows = compare_log(*state, binary, "k_80.log", false) +
		       compare_log(*state, binary, "k_90.log", false) +
		       compare_log(*state, binary, "k_120.log", false);
		assert_int_equal(rows, cubin_kernels(binary, false));
		assert_int_equal(binary->kinds[FW_IMAGE_PTX], 1);
		assert_int_equal(binary->kernel_count, rows + 19);
		fw_binary_close(binary);
	}
}

static void linked_and_relocatable_code_are_told_apart(void **state)
{
	struct fw_binary *binary = open_one(OUT "rdc.exe");

	assert_int_equal(compare_log(*state, binary, "rdc_link.log", false),
			 cubin_kernels(binary, false));
	assert_int_equal(compare_log(*state, binary, "rdc1.log", true) +
				 compare_log(*state, binary, "rdc2.log", true),
			 cubin_kernels(binary, true));
	fw_binary_close(binary);
	binary = open_one(OUT "rdc_dlink.o");
	assert_int_equal(compare_log(*state, binary, "rdc_link.log", false), binary->kernel_count);
	fw_binary_close(binary);
	binary = open_one(OUT "rdc1.o");
	assert_int_equal(compare_log(*state, binary, "rdc1.log", true), binary->kernel_count);
	fw_binary_close(binary);
	binary = open_one(OUT "rdc2.o");
	assert_int_equal(compare_log(*state, binary, "rdc2.log", true), binary->kernel_count);
	fw_binary_close(binary);
	binary = open_one(OUT "lto.o");
	assert_int_equal(binary->kinds[FW_IMAGE_LTO], 1);
	assert_int_equal(binary->kernel_count, 0);
	fw_binary_close(binary);
}

/* Launch bounds, clusters and caps as they stand in k.cu and tc.cu. */
static void bounds_equal_the_source(void **state)
{
	struct fw_binary *binary = open_one(OUT "k_90.cubin");
	const struct fw_kernel *k = find(binary, "_Z7lb256x4Pfi", "90", false);

	(void)state;
	assert_int_equal(k->max_threads[0], 256);
	assert_int_equal(k->max_threads[1], 1);
	assert_int_equal(k->register_cap, 64);
	assert_int_equal(k->required_threads[0], FW_UNKNOWN);
	assert_int_equal(k->uses_dynamic_smem, FW_UNKNOWN);
	k = find(binary, "_Z10lb_clusterPf", "90", false);
	assert_int_equal(k->max_threads[0], 384);
	assert_int_equal(k->max_cluster_rank, 8);
	assert_int_equal(k->register_cap, 168);
	k = find(binary, "_Z4clusPf", "90", false);
	assert_int_equal(k->cluster[0] * 100 + k->cluster[1] * 10 + k->cluster[2], 221);
	k = find(binary, "_Z5blkszPf", "90", false);
	assert_true(k->blocks_are_clusters);
	assert_int_equal(k->required_threads[0] * 100 + k->required_threads[1], 12802);
	k = find(binary, "_Z6maxn32Pfi", "90", false);
	assert_int_equal(k->register_cap, 32);
	/* ptxas: 1116 bytes of spill stores, 1220 of loads: at most 4 bytes an instruction or more. */
	assert_in_range(k->spill_instructions, 1, (1116 + 1220) / 4);
	k = find(binary, "plain", "90", false);
	assert_int_equal(k->register_cap, 255);
	assert_int_equal(k->max_threads[0], FW_UNKNOWN);
	assert_int_equal(k->setmaxnreg, 0);
	fw_binary_close(binary);
	binary = open_one(OUT "tc_100a.cubin");
	k = find(binary, "setmaxn", "100a", false);
	assert_int_equal(k->setmaxnreg, 1);
	assert_int_equal(k->tcgen05, 0);
	k = find(binary, "tmem_alloc", "100a", false);
	assert_int_equal(k->tcgen05, 1);
	assert_int_equal(k->vrc, 128);
	fw_binary_close(binary);
}

static const struct fw_kernel *find_ptx(const struct fw_binary *binary, const char *name)
{
	for (size_t i = 0; i < binary->kernel_count; i++) {
		if (binary->kernels[i].kind == FW_IMAGE_PTX &&
		    !strcmp(binary->kernels[i].name, name))
			return &binary->kernels[i];
	}
	return NULL;
}

/* What PTX fixes equals what ptxas made of it; what it does not fix is unknown. */
static void ptx_equals_ptxas(void **state)
{
	const struct table *table = *state;
	struct fw_binary *ptx = open_one(OUT "k_90.ptx"), *cubin = open_one(OUT "k_90.cubin");
	size_t unknown_barriers = 0;

	assert_int_equal(ptx->kernel_count, 19);
	assert_int_equal(ptx->images[0].ptx_version, 90);
	for (size_t i = 1; i < table->rows; i++) {
		char *const *row = table->cells[i];
		const struct fw_kernel *k, *c;

		if (strcmp(row[0], "k_90.log") != 0)
			continue;
		k = find_ptx(ptx, row[1]);
		c = find(cubin, row[1], "90", false);
		assert_non_null(k);
		assert_int_equal(k->target.cc, 90);
		assert_int_equal(k->registers, FW_UNKNOWN);
		assert_int_equal(k->static_smem, strtol(row[5], NULL, 10));
		if (k->barriers < 0)
			unknown_barriers++;
		else
			assert_int_equal(k->barriers, strtol(row[4], NULL, 10));
		assert_memory_equal(k->max_threads, c->max_threads, sizeof(k->max_threads));
		assert_memory_equal(k->required_threads, c->required_threads,
				    sizeof(k->required_threads));
		assert_memory_equal(k->cluster, c->cluster, sizeof(k->cluster));
		assert_int_equal(k->max_cluster_rank, c->max_cluster_rank);
		assert_int_equal(k->uses_dynamic_smem,
				 strstr(row[1], "dynamic_smem") || strstr(row[1], "both_smem"));
	}
	/* Cluster barriers of clus and lb_cluster: ptxas decides. */
	assert_int_equal(unknown_barriers, 2);
	assert_int_equal(find_ptx(ptx, "_Z7lb256x4Pfi")->min_blocks, 4);
	assert_int_equal(find_ptx(ptx, "_Z6maxn32Pfi")->register_cap, 32);
	fw_binary_close(ptx);
	fw_binary_close(cubin);
}

/* "256x1x1" or "-". */
static int first_dim(const char *cell)
{
	return *cell == '-' ? FW_UNKNOWN : (int)strtol(cell, NULL, 10);
}

static void compare_truth(const struct fw_kernel *k, char *const *row)
{
	assert_non_null(k);
	assert_int_equal(k->registers, strtol(row[15], NULL, 10));
	assert_int_equal(k->static_smem, strtol(row[16], NULL, 10));
	assert_int_equal(k->barriers, strtol(row[17], NULL, 10));
	assert_int_equal(k->frame, strtol(row[8], NULL, 10));
	assert_int_equal(k->stack, strtol(row[9], NULL, 10));
	assert_int_equal(k->max_threads[0], first_dim(row[10]));
	assert_int_equal(k->required_threads[0], first_dim(row[11]));
	assert_int_equal(k->spill_instructions > 0, strtol(row[18], NULL, 10) > 0);
}

static void generated_kernels_equal_ptxas(void **state)
{
	static struct table table;
	struct fw_binary *object = open_one(FW_CORPUS "/generated/occ_cases.o");
	struct fw_binary *fatbin = open_one(FW_CORPUS "/generated/occ_cases.default.fatbin");
	struct fw_binary *ptx = open_one(FW_CORPUS "/generated/occ_cases.compute_80.ptx");

	(void)state;
	read_table(&table, FW_CORPUS "/groundtruth_cubin.tsv");
	for (size_t i = 1; i < table.rows; i++) {
		char *const *row = table.cells[i];
		struct fw_binary *binary;
		char path[512];

		snprintf(path, sizeof(path), FW_CORPUS "/%s", row[0]);
		binary = open_one(path);
		assert_int_equal(binary->kernel_count, 12);
		compare_truth(find(binary, row[1], row[2], false), row);
		fw_binary_close(binary);
		if (!strcmp(row[2], "80") || !strcmp(row[2], "90")) {
			compare_truth(find(object, row[1], row[2], false), row);
			compare_truth(find(fatbin, row[1], row[2], false), row);
		}
		if (strcmp(row[2], "80") != 0)
			continue;
		assert_int_equal(find_ptx(ptx, row[1])->static_smem, strtol(row[16], NULL, 10));
		assert_int_equal(find_ptx(ptx, row[1])->barriers, strtol(row[17], NULL, 10));
	}
	assert_int_equal(table.rows, 49);
	free(table.text);
	fw_binary_close(object);
	fw_binary_close(fatbin);
	fw_binary_close(ptx);
}

/* The same kernels in several files are one each, and results do not depend on the threads. */
static void folds_equal_kernels(void **state)
{
	static const char *const paths[] = { OUT "k_80.cubin", OUT "k.so", OUT "k_size.fatbin" };
	struct fw_binary_options options = { .threads = 3 };
	struct fw_binary *binary;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_binary_open(&binary, paths, 3, &options, &err), FW_OK);
	assert_int_equal(binary->kernel_count, 16 + 19 + 19 + 19);
	assert_int_equal(binary->instances, 16 + 2 * (16 + 19 + 19 + 19));
	assert_int_equal(binary->kernels[0].copies, 3);
	assert_int_equal(binary->kernels[0].image, 0);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(binary->kernel_of_image[i], i);
	assert_string_equal(binary->images[binary->image_count - 1].source, OUT "k_size.fatbin");
	fw_binary_close(binary);
}

static int setup(void **state)
{
	static struct table table;

	read_table(&table, FW_CORPUS "/occupancy/expected.tsv");
	*state = &table;
	return 0;
}

static int teardown(void **state)
{
	free(((struct table *)*state)->text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cubins_equal_ptxas),
		cmocka_unit_test(containers_equal_ptxas),
		cmocka_unit_test(linked_and_relocatable_code_are_told_apart),
		cmocka_unit_test(bounds_equal_the_source),
		cmocka_unit_test(ptx_equals_ptxas),
		cmocka_unit_test(generated_kernels_equal_ptxas),
		cmocka_unit_test(folds_equal_kernels),
	};

	if (access(FW_CORPUS "/occupancy/expected.tsv", R_OK)) {
		printf("no corpus at " FW_CORPUS "\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
