/* The host sampler below a made root: what it finds, and how it meets what is missing or changes. */
#include "host_sink.h"
#include "sample/cpu_limit.h"
#include "sample/machine_text.h"
#include "sample/switches.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static char root[64];
static struct fw_host_sampler *sampler;

static void run(const char *command)
{
	char line[256];
	FILE *pipe;

	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	assert_int_equal(pclose(pipe), 0);
}

static int begin(void **state)
{
	(void)state;
	memset(&kept, 0, sizeof(kept));
	snprintf(root, sizeof(root), "/tmp/fw-root-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[96];
	FILE *pipe;

	(void)state;
	fw_host_sampler_close(sampler);
	sampler = NULL;
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

struct made {
	unsigned pid, tid, parent, start;
	char state;
	unsigned long run_ns, delay_ns;
};

/* A thread's files, and for the leader its process's. */
static void put_thread(const struct made *m)
{
	char path[96], text[512];

	snprintf(text, sizeof(text),
		 "%u (t%u) %c %u 1 1 0 -1 4194304 0 0 7 0 30 12 0 0 20 0 1 0 %u 99999 25 1 1\n",
		 m->tid, m->tid, m->state, m->parent, m->start);
	snprintf(path, sizeof(path), "proc/%u/task/%u/stat", m->pid, m->tid);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%u/stat", m->tid);
	put(path, text);
	snprintf(text, sizeof(text), "%lu %lu 5\n", m->run_ns, m->delay_ns);
	snprintf(path, sizeof(path), "proc/%u/task/%u/schedstat", m->pid, m->tid);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%u/schedstat", m->pid);
	put(path, text);
	snprintf(text, sizeof(text),
		 "Name:\tt\nTgid:\t%u\nVmLck:\t 8 kB\nVmPin:\t 4 kB\nRssShmem:\t 16 kB\n"
		 "voluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t3\n",
		 m->pid);
	snprintf(path, sizeof(path), "proc/%u/task/%u/status", m->pid, m->tid);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%u/status", m->tid);
	put(path, text);
	if (m->pid != m->tid)
		return;
	snprintf(path, sizeof(path), "proc/%u/io", m->pid);
	put(path, "rchar: 100\nwchar: 200\nsyscr: 1\nsyscw: 1\nread_bytes: 300\nwrite_bytes: 400\n"
		  "cancelled_write_bytes: 0\n");
	snprintf(path, sizeof(path), "proc/%u/statm", m->pid);
	put(path, "1000 25 5 1 0 10 0\n");
}

static void watch(unsigned pid, unsigned adopter)
{
	const struct fw_host_options options = {
		.root = root, .pid = pid, .adopter = adopter, .most_cpu = 1
	};

	assert_int_equal(fw_host_sampler_open(&sampler, &options, &keeper, NULL), FW_OK);
}

static void read_at(int64_t ms)
{
	assert_int_equal(fw_host_sampler_read(sampler, ms * MS), (ms + 10) * MS);
}

static double tick_ns(void)
{
	return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static void reads_every_value(void **state)
{
	(void)state;
	put("proc/loadavg", "0.5 0.2 0.1 1/99 100\n");
	put_thread(&(struct made){ 100, 100, 1, 5, 'R', 1000, 50 });
	put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
				 "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	put("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=8\n"
				"full avg10=0.00 avg60=0.00 avg300=0.00 total=6\n");
	put("proc/100/net/dev",
	    "Inter-| Receive | Transmit\n face |bytes packets|bytes\n"
	    "    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
	    "  eth0:1000 3 0 0 0 0 0 0 50 2 0 0 0 0 0 0\n ib0: 10 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n");
	put("proc/diskstats",
	    "   8  0 sda 1 0 10 0 1 0 20 0 0 0 0\n   8  1 sda1 1 0 10 0 1 0 20 0\n"
	    " 259  0 nvme0n1 1 0 2 0 1 0 4 0\n 259 1 nvme0n1p1 1 0 2 0 1 0 4 0\n"
	    " 253  0 dm-0 1 0 9 0 1 0 9 0\n   7  0 loop0 1 0 9 0 1 0 9 0\n");
	put("proc/100/cgroup", "0::/job\n");
	put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\n"
					  "throttled_usec 12\n");
	put("sys/fs/cgroup/job/memory.max", "1000\n");
	put("sys/fs/cgroup/job/memory.current", "600\n");
	watch(100, 0);
	read_at(1000);
	read_at(1110);
	assert_true(last_value(100, 100, FW_HOST_RUN) == 1000);
	assert_true(last_value(100, 100, FW_HOST_RUN_DELAY) == 50);
	assert_true(last_value(100, 100, FW_HOST_USER) == 30 * tick_ns());
	assert_true(last_value(100, 100, FW_HOST_SYSTEM) == 12 * tick_ns());
	assert_true(last_value(100, 100, FW_HOST_STATE) == 'R');
	assert_true(last_value(100, 100, FW_HOST_VOLUNTARY) == 11);
	assert_true(last_value(100, 100, FW_HOST_INVOLUNTARY) == 3);
	assert_true(last_value(100, 0, FW_HOST_PARENT) == 1);
	assert_true(last_value(100, 0, FW_HOST_MAJOR_FAULTS) == 7);
	assert_true(last_value(100, 0, FW_HOST_READ_CALLS) == 100);
	assert_true(last_value(100, 0, FW_HOST_WRITE_CALLS) == 200);
	assert_true(last_value(100, 0, FW_HOST_READ) == 300);
	assert_true(last_value(100, 0, FW_HOST_WRITE) == 400);
	assert_true(last_value(100, 0, FW_HOST_RESIDENT) == 25 * (double)sysconf(_SC_PAGESIZE));
	assert_true(last_value(100, 0, FW_HOST_SHARED) == 16384);
	assert_true(last_value(100, 0, FW_HOST_LOCKED) == 8192);
	assert_true(last_value(100, 0, FW_HOST_PINNED) == 4096);
	assert_true(last_value(0, 0, FW_HOST_CPU_PRESSURE) == 7000);
	assert_true(last_value(0, 0, FW_HOST_IO_PRESSURE) == 8000);
	assert_true(last_value(0, 0, FW_HOST_IO_STALL) == 6000);
	assert_true(last_value(0, 0, FW_HOST_NET_RECEIVED) == 1010);
	assert_true(last_value(0, 0, FW_HOST_NET_SENT) == 55);
	assert_true(last_value(0, 0, FW_HOST_DISK_READ) == 12 * 512);
	assert_true(last_value(0, 0, FW_HOST_DISK_WRITTEN) == 24 * 512);
	assert_true(last_value(0, 0, FW_HOST_QUOTA) == 1.5);
	assert_true(last_value(0, 0, FW_HOST_THROTTLED) == 12000);
	assert_true(last_value(0, 0, FW_HOST_THROTTLES) == 4);
	assert_true(last_value(0, 0, FW_HOST_MEMORY_LIMIT) == 1000);
	assert_true(last_value(0, 0, FW_HOST_MEMORY_FREE) == 400);
	assert_true(last_value(0, 0, FW_HOST_THREAD_PERIOD) == 10 * MS);
	assert_true(last_value(0, 0, FW_HOST_PROCESS_PERIOD) == 10 * MS);
	assert_string_equal(kept.cannot, "");
	assert_string_equal(kept.names[0].text, "t100");
}

/* Seen at 1000 (5), 1010 (5), 1020 (9): told at 1000, then at 1010 and 1020. */
static void tells_changes_and_until_when_nothing_changed(void **state)
{
	int64_t times[8];
	size_t count = 0;

	(void)state;
	put("proc/loadavg", "0.5 0.2 0.1 1/99 100\n");
	put_thread(&(struct made){ 100, 100, 1, 5, 'R', 5, 0 });
	watch(100, 0);
	read_at(1000);
	read_at(1010);
	put_thread(&(struct made){ 100, 100, 1, 5, 'R', 9, 0 });
	read_at(1020);
	for (size_t i = 0; i < kept.count && count < 8; i++)
		if (kept.readings[i].which == FW_HOST_RUN)
			times[count++] = kept.readings[i].time_ns / MS;
	assert_int_equal(count, 3);
	assert_int_equal(times[0], 1000);
	assert_int_equal(times[1], 1010);
	assert_int_equal(times[2], 1020);
}

/* The newest number says where to look: a thread, a worker, and a process of somebody else. */
static void finds_what_begins_by_its_number(void **state)
{
	(void)state;
	put("proc/loadavg", "0.5 0.2 0.1 1/99 1100\n");
	put_thread(&(struct made){ 1100, 1100, 1, 5, 'S', 5, 0 });
	watch(1100, 0);
	read_at(1000);
	read_at(1060);
	put("proc/loadavg", "0.5 0.2 0.1 1/99 1103\n");
	put_thread(&(struct made){ 1100, 1101, 1, 6, 'S', 6, 0 });
	put_thread(&(struct made){ 1102, 1102, 1100, 6, 'S', 7, 0 });
	put_thread(&(struct made){ 1103, 1103, 1, 6, 'S', 8, 0 });
	read_at(1120);
	read_at(1180);
	assert_true(last_value(1100, 1101, FW_HOST_RUN) == 6);
	assert_true(last_value(1102, 1102, FW_HOST_RUN) == 7);
	assert_true(last_value(1103, 1103, FW_HOST_RUN) == -1);
}

/* Without that number all of /proc is looked through, now and then. */
static void finds_what_begins_without_the_number(void **state)
{
	(void)state;
	put_thread(&(struct made){ 100, 100, 1, 5, 'S', 5, 0 });
	watch(100, 40);
	read_at(1000);
	put_thread(&(struct made){ 90, 90, 110, 6, 'S', 9, 0 }); /* before its parent in /proc */
	put_thread(&(struct made){ 110, 110, 100, 6, 'S', 7, 0 });
	put_thread(&(struct made){ 120, 120, 40, 6, 'S', 8, 0 }); /* adopted */
	read_at(1300);
	assert_true(last_value(90, 90, FW_HOST_RUN) == 9);
	assert_true(last_value(110, 110, FW_HOST_RUN) == 7);
	assert_true(last_value(120, 120, FW_HOST_RUN) == 8);
	assert_true(last_value(90, 0, FW_HOST_PARENT) == 110);
}

/* Read again after 2048 page faults, half a second later at the earliest, and of no process above 4 GiB. */
static void reads_shares_of_memory_where_pages_were_touched(void **state)
{
	static const char *const stats[] = { "0", "2047", "2048" };
	char text[256];

	(void)state;
	put_thread(&(struct made){ 100, 100, 1, 5, 'S', 5, 0 });
	put_thread(&(struct made){ 110, 110, 100, 6, 'S', 7, 0 });
	put_thread(&(struct made){ 120, 120, 100, 6, 'S', 7, 0 });
	put("proc/110/smaps_rollup", "1-2 ---p 0 0 0 [rollup]\nPss: 99 kB\nPss_Anon:  12 kB\n");
	put("proc/120/smaps_rollup", "1-2 ---p 0 0 0 [rollup]\nPss_Anon:  12 kB\n");
	snprintf(text, sizeof(text), "9999999 %ld 5 1 0 10 0\n",
		 4294967296 / sysconf(_SC_PAGESIZE) + 1);
	put("proc/120/statm", text);
	watch(100, 0);
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text),
			 "110 (t110) S 100 1 1 0 -1 4194304 %s 0 7 0 30 12 0 0 20 0 1 0 6 99999 25 "
			 "1\n",
			 stats[i]);
		put("proc/110/stat", text);
		fw_host_sampler_read(sampler, (int64_t)(1000 + 3000 * i) * MS);
		fw_host_sampler_read(sampler, (int64_t)(3000 + 3000 * i) * MS);
		assert_true(last_value(110, 0, FW_HOST_PSS_ANON) == (i < 2 ? 12288 : 16384));
		put("proc/110/smaps_rollup", "Pss_Anon:  16 kB\n");
	}
	assert_true(last_value(120, 0, FW_HOST_PSS_ANON) == -1);
}

static void a_number_used_again_is_another_process(void **state)
{
	(void)state;
	put_thread(&(struct made){ 100, 100, 1, 5, 'S', 5, 0 });
	put_thread(&(struct made){ 110, 110, 100, 6, 'S', 7, 0 });
	watch(100, 0);
	read_at(1000);
	put_thread(&(struct made){ 110, 110, 1, 77, 'S', 9999, 0 });
	read_at(1100); /* sees another start */
	assert_true(last_value(110, 0, FW_HOST_STATE) == 'X');
	put_thread(&(struct made){ 110, 110, 1, 77, 'S', 123456, 0 });
	read_at(1400);
	assert_true(last_value(110, 110, FW_HOST_RUN) != 123456);
	run("rm -r proc/100 proc/110"); /* all have ended: nothing that could not be seen */
	read_at(2000);
	assert_null(strstr(kept.cannot, "watched process"));
}

static void says_what_it_cannot_read(void **state)
{
	(void)state;
	put("proc/loadavg", "0.5 0.2 0.1 1/99 100\n"); /* hidepid: none is listed */
	watch(100, 0);
	read_at(1000);
	read_at(1010);
	assert_non_null(strstr(kept.cannot, "The watched process is not to be seen in /proc"));
	assert_non_null(strstr(kept.cannot, "Pressure"));
	assert_non_null(strstr(kept.cannot, "Network"));
	assert_non_null(strstr(kept.cannot, "Disk"));
	assert_non_null(strstr(kept.cannot, "Memory limit"));
	assert_null(strstr(strstr(kept.cannot, "watched process") + 1, "watched process"));
}

/* Whichever file goes first: no value is made up, nothing is read of others, and it ends. */
static void processes_vanish_at_any_reading(void **state)
{
	static const char *const gone[] = {
		"rm -r proc/110",
		"rm proc/110/stat",
		"rm -r proc/110/task",
		"rm proc/110/task/111/stat",
		"rm proc/110/task/*/schedstat",
		"rm proc/110/io",
		"rm proc/110/statm",
		"rm proc/110/status",
		"rm -r proc",
	};

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		begin(state);
		put_thread(&(struct made){ 100, 100, 1, 5, 'S', 5, 0 });
		put_thread(&(struct made){ 110, 110, 100, 6, 'S', 7, 0 });
		put_thread(&(struct made){ 110, 111, 100, 6, 'S', 7, 0 });
		watch(100, 0);
		if (i % 2)
			read_at(1000);
		run(gone[i]);
		read_at(1110);
		read_at(1500);
		end(state);
	}
}

static void finds_the_tightest_quota(void **state)
{
	struct fw_cpu_throttled throttled;
	struct fw_cpu_limit limit;
	int fd = open(root, O_RDONLY | O_DIRECTORY);

	(void)state;
	put("proc/7/cgroup", "5:devices:/\n4:cpuacct,cpu:/deep/below\n0::/\n");
	put("sys/fs/cgroup/cpu,cpuacct/deep/below/cpu.cfs_quota_us", "-1\n");
	put("sys/fs/cgroup/cpu,cpuacct/deep/cpu.cfs_quota_us", "50000\n");
	put("sys/fs/cgroup/cpu,cpuacct/deep/cpu.cfs_period_us", "100000\n");
	put("sys/fs/cgroup/cpu,cpuacct/deep/cpu.stat",
	    "nr_periods 10\nnr_throttled 3\nthrottled_time 5000\n");
	fw_cpu_limit_read(fd, 7, &limit);
	assert_true(limit.is_known && limit.cores == 0.5);
	assert_true(fw_cpu_throttled_read(fd, &limit, &throttled));
	assert_true(throttled.ns == 5000 && throttled.periods == 3);
	put("sys/fs/cgroup/cpu,cpuacct/deep/cpu.cfs_period_us", "0\n");
	fw_cpu_limit_read(fd, 7, &limit);
	assert_false(limit.is_known);
	put("proc/7/cgroup", "4:cpu:/../../etc\n");
	fw_cpu_limit_read(fd, 7, &limit);
	assert_false(limit.is_known);
	close(fd);
}

static void put_record(uint8_t *ring, uint64_t *head, uint32_t type, uint16_t misc, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time;
	} record = { { type, misc, sizeof(record) }, 7, 8, time };

	for (size_t i = 0; i < sizeof(record); i++)
		ring[(*head)++ & 127] = ((const uint8_t *)&record)[i];
}

/* Begun at 100 us asleep; back at 150; waits 200-300; preempted 400-450; 2 us are left out. */
static void reads_the_kernels_switch_records(void **state)
{
	struct fw_switches switches = { .fd = -1, .pid = 7, .tid = 8, .off_since_ns = 100000 };
	uint64_t head = 100; /* records wrap around the ring's end */
	struct fw_switch_ring ring = { .size = 128, .tail = 100 };
	uint8_t bytes[128];
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;

	(void)state;
	ring.bytes = bytes;
	put_record(bytes, &head, PERF_RECORD_SWITCH, 0, 150000);
	put_record(bytes, &head, PERF_RECORD_SWITCH, out, 200000);
	put_record(bytes, &head, PERF_RECORD_SWITCH, 0, 300000);
	put_record(bytes, &head, PERF_RECORD_SWITCH, out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		   400000);
	ring.head = head;
	fw_switches_parse(&switches, &ring, &keeper, 420000);
	assert_int_equal(kept.off_count, 2);
	assert_true(kept.off[0].start_ns == 100000 && kept.off[0].end_ns == 150000);
	assert_true(kept.off[1].start_ns == 200000 && kept.off[1].end_ns == 300000);
	assert_false(kept.off[1].is_runnable);
	ring.tail = head;
	put_record(bytes, &head, PERF_RECORD_SWITCH, 0, 450000);
	put_record(bytes, &head, PERF_RECORD_SWITCH, out, 500000);
	put_record(bytes, &head, PERF_RECORD_SWITCH, 0, 502000);
	ring.head = head;
	fw_switches_parse(&switches, &ring, &keeper, 600000);
	assert_int_equal(kept.off_count, 3);
	assert_true(kept.off[2].is_runnable && kept.off[2].end_ns == 450000);
	ring.tail = head;
	put_record(bytes, &head, PERF_RECORD_LOST, 0, 17); /* its second number is the count */
	ring.head = head;
	fw_switches_parse(&switches, &ring, &keeper, 700000);
	assert_int_equal(kept.lost, 17);
	/* Damaged: a size of 0, one past the head, a head that is too far. */
	memset(bytes, 0, sizeof(bytes));
	fw_switches_parse(&switches, &(struct fw_switch_ring){ bytes, 128, 0, 64 }, &keeper, 1);
	memset(bytes, 0xff, sizeof(bytes));
	fw_switches_parse(&switches, &(struct fw_switch_ring){ bytes, 128, 0, 64 }, &keeper, 1);
	fw_switches_parse(&switches, &(struct fw_switch_ring){ bytes, 128, 0, 1 << 20 }, &keeper,
			  1);
	assert_int_equal(kept.off_count, 3);
}

static void refuses_damaged_texts(void **state)
{
	struct fw_pressure pressure;
	struct fw_traffic bytes;

	(void)state;
	assert_false(fw_pressure_parse("", &pressure));
	assert_false(fw_pressure_parse("some avg10=0\ntotal=5", &pressure));
	assert_false(fw_pressure_parse("some total=99999999999999999999", &pressure));
	assert_false(fw_pressure_parse("some total=18446744073709551615", &pressure));
	assert_false(fw_pressure_parse("some total=1\nfull total=x", &pressure));
	assert_false(fw_net_parse("eth0: 1 2 3", &bytes));
	assert_false(fw_net_parse("eth0 1 2 3 4 5 6 7 8 9 10", &bytes));
	assert_false(fw_disks_parse("8 0 sda", &bytes));
	assert_false(fw_disks_parse("8 0", &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_every_value, begin, end),
		cmocka_unit_test_setup_teardown(tells_changes_and_until_when_nothing_changed, begin,
						end),
		cmocka_unit_test_setup_teardown(finds_what_begins_by_its_number, begin, end),
		cmocka_unit_test_setup_teardown(finds_what_begins_without_the_number, begin, end),
		cmocka_unit_test_setup_teardown(reads_shares_of_memory_where_pages_were_touched,
						begin, end),
		cmocka_unit_test_setup_teardown(a_number_used_again_is_another_process, begin, end),
		cmocka_unit_test_setup_teardown(says_what_it_cannot_read, begin, end),
		cmocka_unit_test(processes_vanish_at_any_reading),
		cmocka_unit_test_setup_teardown(finds_the_tightest_quota, begin, end),
		cmocka_unit_test_setup_teardown(reads_the_kernels_switch_records, begin, end),
		cmocka_unit_test_setup_teardown(refuses_damaged_texts, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
