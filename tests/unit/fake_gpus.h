#ifndef FW_TESTS_FAKE_GPUS_H
#define FW_TESTS_FAKE_GPUS_H
/* States for the stand-in libnvidia-ml (tests/fake/nvml.c), written to a file that it reads. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fake_gpus_path[64];

static int fake_gpus_begin(void **state)
{
	int fd;

	(void)state;
	snprintf(fake_gpus_path, sizeof(fake_gpus_path), "/tmp/fw-gpus-XXXXXX");
	fd = mkstemp(fake_gpus_path);
	if (fd < 0)
		return -1;
	close(fd);
	return setenv("FW_FAKE_NVML", fake_gpus_path, 1);
}

static int fake_gpus_end(void **state)
{
	(void)state;
	return unlink(fake_gpus_path);
}

static inline void fake_gpus_are(const char *states)
{
	FILE *file = fopen(fake_gpus_path, "w");

	if (!file || fputs(states, file) < 0 || fclose(file))
		abort();
}

#endif
