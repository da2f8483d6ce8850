#ifndef FW_TESTS_FAKE_PM_H
#define FW_TESTS_FAKE_PM_H
/* Scripts for the stand-ins of libcuda and of CUPTI's PM sampling (tests/fake/pm_cupti.c). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fake_pm_path[64];

static int fake_pm_begin(void **state)
{
	int fd;

	(void)state;
	snprintf(fake_pm_path, sizeof(fake_pm_path), "/tmp/fw-pm-XXXXXX");
	fd = mkstemp(fake_pm_path);
	if (fd < 0)
		return -1;
	close(fd);
	/* The loader then finds it for whoever asks for libcuda.so.1. */
	if (!dlopen(FW_FAKE_PM_CUDA, RTLD_NOW | RTLD_LOCAL))
		return -1;
	return setenv("FW_FAKE_PM", fake_pm_path, 1);
}

static int fake_pm_end(void **state)
{
	(void)state;
	return unlink(fake_pm_path);
}

static inline void fake_pm_is(const char *script)
{
	FILE *file = fopen(fake_pm_path, "w");

	if (!file || fputs(script, file) < 0 || fclose(file))
		abort();
}

#endif
