/* Where a library of CUDA is looked for, and in which order. */
#include "gpu/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/fw-places-XXXXXX";
static char tried[64][512];
static unsigned count;
static const char *wanted;

static fw_status note(const char *path, void *user, struct fw_error *err)
{
	(void)user;
	assert_true(count < 64);
	snprintf(tried[count++], sizeof(tried[0]), "%s", path);
	if (wanted && strstr(path, wanted))
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED, "no %s", path);
}

static void make(const char *below)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, below);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(path, 0700);
	}
	assert_int_equal(mkdir(path, 0700), 0);
}

/* Where among the candidates a path below the root was. */
static unsigned place_of(const char *below)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, below);
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(tried[i], path))
			return i;
	fail_msg("%s was not tried", path);
	return 0;
}

static fw_status look(const char *want, struct fw_error *err)
{
	static const char *const names[] = { "libx.so.13", "libx.so.12", NULL };
	static const char *const wheels[] = { "nvidia/cu13/lib", "nvidia/x/lib", NULL };

	count = 0;
	wanted = want;
	return fw_library_open(&(struct fw_library){ names, wheels }, note, NULL, err);
}

static void set_below(const char *variable, const char *below)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, below);
	setenv(variable, path, 1);
}

static void looks_in_all_places_in_order(void **state)
{
	struct fw_error err = { 0 };

	(void)state;
	assert_int_equal(look(NULL, &err), FW_ERR_UNSUPPORTED);
	assert_string_equal(err.message, "no libx.so.13");
	assert_string_equal(tried[0], "libx.so.13");
	assert_string_equal(tried[1], "libx.so.12");
	assert_int_equal(place_of("/kit/lib64/libx.so.13"), 2);
	assert_int_equal(place_of("/kit/lib64/libx.so.12"), 3);
	assert_int_equal(place_of("/path/lib64/libx.so.13"), 4);
	assert_string_equal(tried[6], "/usr/local/cuda/lib64/libx.so.13");
	/* The newer Python's, of each the newer CUDA's. */
	assert_int_equal(place_of("/env/lib/python3.9/site-packages/nvidia/cu13/lib/libx.so.13"),
			 8);
	assert_int_equal(place_of("/env/lib/python3.11/site-packages/nvidia/cu13/lib/libx.so.13"),
			 10);
	assert_int_equal(place_of("/env/lib/python3.9/site-packages/nvidia/x/lib/libx.so.12"), 13);
	/* PATH's python3, which is Debian's. */
	assert_int_equal(place_of("/usr/lib/python3/dist-packages/nvidia/x/lib/libx.so.13"), 14);
}

static void stops_where_it_is_found(void **state)
{
	(void)state;
	assert_int_equal(look("/path/lib64/libx.so.12", NULL), FW_OK);
	assert_int_equal(count, 6);
}

static void leaves_out_paths_that_are_patterns(void **state)
{
	(void)state;
	set_below("CUDA_HOME", "/*");
	assert_int_equal(look("/path/lib64/libx.so.13", NULL), FW_OK);
	assert_int_equal(count, 3);
	set_below("CUDA_HOME", "/kit");
}

static int begin(void **state)
{
	char path[512];

	(void)state;
	if (!mkdtemp(root))
		return 1;
	make("/env/lib/python3.9/site-packages/nvidia/cu13/lib");
	make("/env/lib/python3.9/site-packages/nvidia/x/lib");
	make("/env/lib/python3.11/site-packages/nvidia/cu13/lib");
	make("/usr/lib/python3/dist-packages/nvidia/x/lib");
	make("/usr/bin");
	snprintf(path, sizeof(path), "%s/usr/bin/python3", root);
	set_below("CUDA_HOME", "/kit");
	set_below("CUDA_PATH", "/path");
	set_below("VIRTUAL_ENV", "/env");
	set_below("PATH", "/usr/bin");
	set_below("HOME", "/nobody");
	unsetenv("CONDA_PREFIX");
	return symlink("/bin/true", path);
}

static int end(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		execl("/bin/rm", "rm", "-rf", root, (char *)NULL);
		_exit(1);
	}
	return waitpid(pid, NULL, 0) != pid;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_in_all_places_in_order),
		cmocka_unit_test(stops_where_it_is_found),
		cmocka_unit_test(leaves_out_paths_that_are_patterns),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
