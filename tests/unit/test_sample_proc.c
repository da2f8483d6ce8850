#include "sample/memory_limit.h"
#include "sample/proc.h"
#include "sample/proc_files.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];
static struct fw_proc *proc;

static int begin(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/fw-root-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	return fw_proc_open(&proc, root, NULL);
}

/* Removes the folder with all below; names are our own. */
static int end(void **state)
{
	char command[128];
	FILE *pipe;

	(void)state;
	fw_proc_close(proc);
	snprintf(command, sizeof(command), "rm -r %s", root);
	pipe = popen(command, "r");
	return pipe ? pclose(pipe) : -1;
}

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

struct process {
	unsigned pid, parent, ticks, start, pages, anon_kb, shared_kb;
};

static void put_process(const struct process *p)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "proc/%u/stat", p->pid);
	snprintf(text, sizeof(text),
		 "%u (a) (b) S %u 1 1 0 -1 4194304 0 0 0 0 %u 1 0 0 20 0 1 0 %u 99999 %u 1 1\n",
		 p->pid, p->parent, p->ticks - 1, p->start, p->pages);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%u/status", p->pid);
	snprintf(text, sizeof(text),
		 "Name:\tx\nRssAnon:\t  %u kB\nRssFile:\t 1 kB\nRssShmem:\t %u kB\n", p->anon_kb,
		 p->shared_kb);
	put(path, text);
}

static void read_process(unsigned pid, struct fw_value *values, char name[32])
{
	uint64_t start;

	fw_values_forget(values, FW_PROCESS_VALUE_COUNT, "");
	fw_proc_read(proc, pid, values, name, &start);
}

/*
 * A trainer (100) with two workers (101, and 102 below a shell 103), and a process of its own (104,
 * tracked) with one below it. 2 s apart it used 100 ticks of 1/100 s: 50 % of a core.
 */
static void sums_up_a_process_and_its_children(void **state)
{
	const struct process first[] = {
		{ 1, 0, 1, 1, 1, 1, 0 },           { 100, 1, 50, 5, 10, 4000, 700 },
		{ 101, 100, 10, 6, 20, 100, 900 }, { 103, 100, 1, 6, 30, 10, 0 },
		{ 102, 103, 10, 7, 40, 200, 900 }, { 104, 100, 10, 8, 50, 1, 1 },
		{ 105, 104, 10, 9, 60, 1, 1 },
	};
	const unsigned tracked[] = { 100, 104 };
	struct fw_value values[FW_PROCESS_VALUE_COUNT];
	double page = (double)sysconf(_SC_PAGESIZE), tick = 100.0 / (double)sysconf(_SC_CLK_TCK);
	char name[32];

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		put_process(&first[i]);
	assert_int_equal(fw_proc_scan(proc, tracked, 2, 1000000000, NULL), FW_OK);
	read_process(100, values, name);
	assert_int_equal(values[FW_PROCESS_CPU].source, FW_VALUE_UNKNOWN); /* needs two scans */
	put_process(&(struct process){ 100, 1, 150, 5, 10, 4000, 700 });
	put_process(&(struct process){ 101, 100, 30, 6, 20, 100, 900 });
	assert_int_equal(fw_proc_scan(proc, tracked, 2, 3000000000, NULL), FW_OK);
	read_process(100, values, name);
	assert_string_equal(name, "a) (b");
	assert_true(values[FW_PROCESS_RSS].number == 10 * page);
	assert_true(values[FW_PROCESS_SHARED].number == 700 * 1024);
	assert_true(values[FW_PROCESS_CPU].number == 50 * tick);
	assert_true(values[FW_PROCESS_CHILDREN].number == 3);
	assert_true(values[FW_PROCESS_CHILDREN_RSS].number == 90 * page);
	assert_true(values[FW_PROCESS_CHILDREN_CPU].number == 10 * tick);
	assert_true(values[FW_PROCESS_HOST_MEMORY].number == (4000 + 100 + 10 + 200 + 900) * 1024);
	assert_int_equal(values[FW_PROCESS_PINNED].source, FW_VALUE_UNKNOWN);
	read_process(104, values, name);
	assert_true(values[FW_PROCESS_CHILDREN].number == 1);
}

static void a_number_used_again_is_another_process(void **state)
{
	const unsigned tracked[] = { 100 };
	struct fw_value values[FW_PROCESS_VALUE_COUNT];
	char name[32];

	(void)state;
	put_process(&(struct process){ 100, 1, 50, 5, 10, 1, 1 });
	fw_proc_scan(proc, tracked, 1, 1000000000, NULL);
	put_process(&(struct process){ 100, 1, 90, 77, 10, 1, 1 });
	fw_proc_scan(proc, tracked, 1, 2000000000, NULL);
	read_process(100, values, name);
	/* 90 ticks of its own in 1 s, not 90 - 50 */
	assert_true(values[FW_PROCESS_CPU].number == 90 * 100.0 / (double)sysconf(_SC_CLK_TCK));
}

static void a_process_that_is_not_here_is_unknown(void **state)
{
	const unsigned tracked[] = { 4242 };
	struct fw_value values[FW_PROCESS_VALUE_COUNT];
	char name[32] = "x";

	(void)state;
	put_process(&(struct process){ 1, 0, 1, 1, 1, 1, 1 });
	assert_int_equal(fw_proc_scan(proc, tracked, 1, 1, NULL), FW_OK);
	read_process(4242, values, name);
	assert_string_equal(name, "");
	for (int i = FW_PROCESS_RSS; i < FW_PROCESS_VALUE_COUNT; i++)
		assert_int_equal(values[i].source, FW_VALUE_UNKNOWN);
}

static void parents_in_a_circle_end(void **state)
{
	const unsigned tracked[] = { 9 };

	(void)state;
	put_process(&(struct process){ 5, 6, 1, 1, 1, 1, 1 });
	put_process(&(struct process){ 6, 5, 1, 1, 1, 1, 1 });
	assert_int_equal(fw_proc_scan(proc, tracked, 1, 1, NULL), FW_OK);
}

static void refuses_damaged_stat_lines(void **state)
{
	static const char *const wrong[] = {
		"",
		"1",
		"1 (a",
		"1 a) S 1",
		")(",
		"1 (a) S 1 2 3",
		"x (a) S 1 1 1 0 -1 1 0 0 0 0 1 1",
		"1 (a) S 1 1 1 0 -1 4 0 0 0 0 18446744073709551615 9 0 0 20 0 1 0 5 99 10",
		"1 (a) S 1 1 1 0 -1 4 0 0 0 0 1 9 0 0 20 0 1 0 5 99 -10",
	};
	struct fw_proc_stat stat;
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(fw_proc_parse_stat(wrong[i], &stat));
	assert_false(fw_proc_number("VmRSS: 99999999999999999999 kB\n", "VmRSS:", &n));
	assert_false(fw_proc_number("XVmRSS: 1 kB\n", "VmRSS:", &n));
	assert_true(fw_proc_number("a\nVmRSS:\t 12 kB\n", "VmRSS:", &n));
	assert_int_equal(n, 12);
}

static void limit_of(unsigned pid, struct fw_memory_limit *limit)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY);

	fw_memory_limit_read(fd, pid, limit);
	close(fd);
}

/* 1000 bytes allowed, 900 used, 300 of them reclaimable: 400 are left. */
static void finds_the_tightest_limit(void **state)
{
	struct fw_memory_limit limit;

	(void)state;
	limit_of(7, &limit);
	assert_false(limit.is_known);
	put("proc/meminfo", "MemTotal:       64 kB\nMemFree: 1 kB\nMemAvailable:   32 kB\n");
	limit_of(7, &limit);
	assert_true(limit.is_known && !limit.is_cgroup && limit.limit == 65536 &&
		    limit.free == 32768);
	put("proc/7/cgroup", "0::/jobs/mine\n");
	put("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
	put("sys/fs/cgroup/jobs/mine/memory.current", "900\n");
	put("sys/fs/cgroup/jobs/memory.max", "1000\n");
	put("sys/fs/cgroup/jobs/memory.current", "900\n");
	put("sys/fs/cgroup/jobs/memory.stat", "anon 500\ninactive_file 300\nactive_file 5\n");
	limit_of(7, &limit);
	assert_true(limit.is_known && limit.is_cgroup && limit.limit == 1000 && limit.free == 400);
}

static void reads_version_1_of_cgroups(void **state)
{
	struct fw_memory_limit limit;

	(void)state;
	put("proc/7/cgroup", "5:devices:/\n4:memory:/deep/below\n0::/\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	limit_of(7, &limit);
	assert_false(limit.is_known);
	/* A container sees its own group at the root, whatever its path is outside. */
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
	put("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1000\n");
	limit_of(7, &limit);
	assert_true(limit.is_known && limit.is_cgroup && limit.limit == 5000 && limit.free == 2000);
	put("proc/7/cgroup", "4:memory:/../../etc\n");
	limit_of(7, &limit);
	assert_false(limit.is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_up_a_process_and_its_children, begin, end),
		cmocka_unit_test_setup_teardown(a_number_used_again_is_another_process, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_is_not_here_is_unknown, begin, end),
		cmocka_unit_test_setup_teardown(parents_in_a_circle_end, begin, end),
		cmocka_unit_test(refuses_damaged_stat_lines),
		cmocka_unit_test_setup_teardown(finds_the_tightest_limit, begin, end),
		cmocka_unit_test_setup_teardown(reads_version_1_of_cgroups, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
