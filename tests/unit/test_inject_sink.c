/* The file of a process: names, limits, a disk that is full, descriptors that the program closes. */
#include "inject/names.h"
#include "inject_case.h"

#include <signal.h>
#include <sys/resource.h>

static struct inject_case test;
static struct fw_names names;

static void put_infos(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fw_sink_add(&test.sink, FW_REC_INFO, sizeof(struct fw_rec_info), FW_REC_INFO_RANK);
}

static unsigned ended(void)
{
	unsigned count = 0;
	const struct fw_rec *record = NULL;

	while ((record = next_record(&test, record)))
		count += record->kind == FW_REC_INFO && record->extra == FW_REC_INFO_ENDED;
	return count;
}

static void numbers_files_of_one_process(void **state)
{
	struct fw_sink second = { .state = FW_SINK_CLOSED };

	(void)state;
	open_case(&test, 0);
	assert_true(fw_sink_open(&second, test.dir, (uint32_t)getpid(), 0));
	assert_string_not_equal(second.path, test.sink.path);
	assert_non_null(strstr(test.sink.path, "-0.fwr"));
	assert_non_null(strstr(second.path, "-1.fwr"));
	assert_true(fcntl(test.sink.fd, F_GETFD) & FD_CLOEXEC);
	fw_sink_end(&second);
	unlink(second.path);
	close_case(&test);
	assert_false(fw_sink_open(&test.sink, "/nowhere/at/all", 1, 0));
	assert_false(fw_sink_open(&test.sink, "/proc", 1, 0));
}

static void writes_whole_chunks(void **state)
{
	(void)state;
	open_case(&test, 0);
	put_infos(100000); /* 2.4 MB: several chunks by themselves */
	fw_sink_flush(&test.sink);
	read_case(&test);
	assert_int_equal(count_of(&test, FW_REC_INFO), 100000);
	fw_sink_end(&test.sink);
	read_case(&test);
	assert_int_equal(ended(), 1);
	close_case(&test);
}

static void stops_at_its_size(void **state)
{
	const struct fw_rec_loss *loss;

	(void)state;
	open_case(&test, 20000);
	for (int i = 0; i < 100; i++) {
		put_infos(20); /* 480 bytes */
		fw_sink_flush(&test.sink);
	}
	assert_int_equal(test.sink.state, FW_SINK_FULL);
	assert_true(test.sink.lost > 0);
	assert_null(fw_sink_add(&test.sink, FW_REC_INFO, sizeof(struct fw_rec_info), 0));
	fw_sink_end(&test.sink);
	read_case(&test);
	assert_true(test.size <= 20000);
	loss = record_of(&test, FW_REC_LOSS, 0);
	assert_non_null(loss);
	assert_int_equal(loss->head.extra, FW_REC_LOSS_SIZE);
	assert_true(loss->end_mono >= loss->start_mono && loss->start_mono > 0);
	assert_int_equal(ended(), 0);
	close_case(&test);
}

/* A write past the limit answers EFBIG, and what was half written is taken back. */
static void stops_at_a_full_disk(void **state)
{
	struct rlimit before, small = { 100000, RLIM_INFINITY };
	sigset_t xfsz, old;
	const struct fw_rec_loss *loss;

	(void)state;
	open_case(&test, 0);
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &xfsz, &old); /* as the writer thread has it */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put_infos(3000); /* 72,000 bytes fit */
	fw_sink_flush(&test.sink);
	assert_int_equal(test.sink.state, FW_SINK_OPEN);
	put_infos(3000);
	fw_sink_flush(&test.sink);
	assert_int_equal(test.sink.state, FW_SINK_FAILED);
	fw_sink_end(&test.sink);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_SETMASK, &old, NULL);
	read_case(&test);
	assert_int_equal(count_of(&test, FW_REC_INFO), 3000);
	loss = record_of(&test, FW_REC_LOSS, 0);
	assert_non_null(loss);
	assert_int_equal(loss->head.extra, FW_REC_LOSS_DISK);
	close_case(&test);
}

static void survives_closed_descriptors(void **state)
{
	char path[128], byte = 0;
	int fd, other;

	(void)state;
	open_case(&test, 0);
	put_infos(10);
	fd = test.sink.fd;
	close(fd);
	fw_sink_flush(&test.sink);
	assert_int_equal(test.sink.state, FW_SINK_OPEN);
	/* The program opens a file of its own, which gets the number. */
	snprintf(path, sizeof(path), "%s/other", test.dir);
	other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(other >= 0);
	assert_int_equal(dup2(other, test.sink.fd), test.sink.fd);
	put_infos(10);
	fw_sink_flush(&test.sink);
	assert_int_equal(read(other, &byte, 1), 0);
	read_case(&test);
	assert_int_equal(count_of(&test, FW_REC_INFO), 20);
	close(other);
	unlink(path);
	/* The file is gone: nothing more is written, to nobody else's either. */
	close(test.sink.fd);
	unlink(test.sink.path);
	put_infos(10);
	fw_sink_flush(&test.sink);
	assert_int_equal(test.sink.state, FW_SINK_FAILED);
	close_case(&test);
}

static void names_are_written_once(void **state)
{
	uint32_t a, b;

	(void)state;
	open_case(&test, 0);
	assert_true(fw_names_open(&names));
	assert_int_equal(fw_names_id(&names, &test.sink, NULL), 0);
	a = fw_names_id(&names, &test.sink, "a");
	b = fw_names_id(&names, &test.sink, "b");
	assert_true(a == 1 && b == 2);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(fw_names_id(&names, &test.sink, "a"), a);
		assert_int_equal(fw_names_id_at(&names, &test.sink, "b"), b);
	}
	fw_sink_flush(&test.sink);
	read_case(&test);
	assert_int_equal(count_of(&test, FW_REC_STRING), 2);
	/* A new file begins anew. */
	assert_true(fw_names_open(&names));
	assert_int_equal(fw_names_id_at(&names, &test.sink, "b"), 1);
	close_case(&test);
}

static void too_many_names_are_unknown(void **state)
{
	char name[32];
	uint32_t last = 0;

	(void)state;
	open_case(&test, 0);
	assert_true(fw_names_open(&names));
	for (unsigned i = 0; i < FW_NAMES_MOST + 10; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		last = fw_names_id(&names, &test.sink, name);
	}
	assert_int_equal(last, 0);
	assert_int_equal(names.left_out, 11); /* ids begin with 1 */
	assert_int_equal(fw_names_id(&names, &test.sink, "name 5"), 6);
	close_case(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_files_of_one_process),
		cmocka_unit_test(writes_whole_chunks),
		cmocka_unit_test(stops_at_its_size),
		cmocka_unit_test(stops_at_a_full_disk),
		cmocka_unit_test(survives_closed_descriptors),
		cmocka_unit_test(names_are_written_once),
		cmocka_unit_test(too_many_names_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
