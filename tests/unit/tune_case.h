#ifndef FW_TESTS_TUNE_CASE_H
#define FW_TESTS_TUNE_CASE_H
/* A specification, its compile pool and its runner on stand-ins for NVIDIA's libraries; for tests only. */
#include "tune/runner.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct tune_case {
	struct fw_tune_spec spec;
	struct fw_tune_compiler *compiler;
	struct fw_tune_runner_options options;
	struct fw_tune_runner *runner;
	struct fw_tune_gpu gpu;
};

static inline void case_read(struct tune_case *c, const char *text)
{
	struct fw_error err = { 0 };

	*c = (struct tune_case){
		.options = { .hang_s = 5, .seed = 7, .nvrtc_path = FW_FAKE_TUNE_NVRTC }
	};
	if (fw_tune_spec_parse("k.cu", text, strlen(text), &c->spec, &err))
		fail_msg("%s", err.message);
}

static inline struct fw_tune_object case_compile(struct tune_case *c, uint16_t value,
						 const int64_t *sizes)
{
	const struct fw_tune_compile_options options = { .cc = 90,
							 .workers = 1,
							 .nvrtc_path = FW_FAKE_TUNE_NVRTC };
	struct fw_tune_config config = { .value = { value } };
	struct fw_tune_object object;
	struct fw_error err = { 0 };

	if (!c->compiler && fw_tune_compiler_open(&c->spec, &options, &c->compiler, &err))
		fail_msg("%s", err.message);
	if (fw_tune_compiler_submit(c->compiler, &config, sizes, &err) ||
	    fw_tune_compiler_next(c->compiler, &object, &err))
		fail_msg("%s", err.message);
	if (object.result.status)
		fail_msg("%s", object.result.reason);
	return object;
}

/* Value 0 of the first parameter is the reference. */
static inline fw_status case_set_reference(struct tune_case *c, const int64_t *sizes,
					   struct fw_error *err)
{
	struct fw_tune_object object = case_compile(c, 0, sizes);
	fw_status status = fw_tune_runner_set_reference(c->runner, &object, sizes, err);

	fw_tune_object_release(&object);
	return status;
}

static inline void case_start(struct tune_case *c)
{
	struct fw_error err = { 0 };

	if (fw_tune_runner_open(&c->spec, &c->options, &c->runner, &c->gpu, &err) ||
	    case_set_reference(c, NULL, &err))
		fail_msg("%s", err.message);
}

static inline void case_open(struct tune_case *c, const char *text)
{
	case_read(c, text);
	case_start(c);
}

static inline void case_close(struct tune_case *c)
{
	fw_tune_runner_close(c->runner);
	fw_tune_compiler_close(c->compiler);
	fw_tune_spec_free(&c->spec);
}

/* Checks the configuration with that value of the first parameter, into the slot of that number. */
static inline struct fw_tune_result case_check(struct tune_case *c, uint16_t value)
{
	struct fw_tune_object object = case_compile(c, value, NULL);
	struct fw_tune_result result;
	struct fw_error err = { 0 };

	if (fw_tune_runner_check(c->runner, &object, value, &result, &err))
		fail_msg("%s", err.message);
	fw_tune_object_release(&object);
	return result;
}

static inline void expect(struct tune_case *c, uint16_t value, enum fw_tune_status status,
			  const char *reason)
{
	struct fw_tune_result result = case_check(c, value);

	if (result.status != status || !strstr(result.reason, reason))
		fail_msg("%s: %s; expected %s: %s", fw_tune_status_name(result.status),
			 result.reason, fw_tune_status_name(status), reason);
}

/* The processes whose parent is pid. */
static inline unsigned children_of(pid_t pid, pid_t *children, unsigned room)
{
	unsigned count = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	while (file && count < room && fscanf(file, "%d", &children[count]) == 1)
		count++;
	if (file)
		fclose(file);
	return count;
}

/* Gone, or nobody has waited for it yet. */
static inline bool is_gone(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fscanf(file, "%*d %*s %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state == 'Z' || state == 'X';
}

/* Kills parent once it has n children; none of them lives on. */
static inline void kill_with_children(pid_t parent, unsigned n)
{
	pid_t children[8];
	unsigned count = 0;

	for (unsigned i = 0; i < 1000 && count < n; i++) {
		usleep(10000);
		count = children_of(parent, children, 8);
	}
	assert_int_equal(count, n);
	usleep(50000);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	for (unsigned i = 0; i < n; i++)
		for (unsigned wait = 0; !is_gone(children[i]) && wait < 500; wait++)
			usleep(10000);
	for (unsigned i = 0; i < n; i++)
		assert_true(is_gone(children[i]));
}

#endif
