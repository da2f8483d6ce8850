/*
 * A program that profiles itself with CUPTI, as PyTorch's Kineto does: its own buffers and callbacks, kinds
 * switched on and off, and cuptiFinalize at the end. It counts its kernels and copies; the count is its result.
 */
#include "program.h"

#include <cupti.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)

static atomic_ulong kernels, calls, others, foreign;
static void *_Atomic given[1024];
static atomic_uint given_count;

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
	given[atomic_fetch_add(&given_count, 1) % 1024] = *buffer;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid)
{
	CUpti_Activity *record = NULL;
	bool is_ours = false;

	(void)context, (void)stream, (void)bytes;
	for (unsigned i = 0; i < 1024; i++)
		is_ours |= given[i] == buffer;
	if (!is_ours) {
		foreign++;
		return;
	}
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			kernels++;
		else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			calls++;
		else
			others++;
	}
	free(buffer);
}

static void profile(unsigned long count)
{
	if (cuptiActivityRegisterCallbacks(request, take) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME))
		exit(8);
	launches(count);
	if (cuptiActivityFlushAll(0) || cuptiActivityFlushAll(1) ||
	    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
	    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME) || cuptiFinalize())
		exit(8);
	printf("own profile: %lu kernels, %lu calls, %lu foreign buffers\n", kernels, calls,
	       foreign);
}

void run_own_profiler(unsigned long count)
{
	launches(count);
	profile(count);
	launches(count);
}

/* As the Python shim does around torch.profiler; see src/trace/recording_control.h. */
static void ask(int fd, uint32_t asked)
{
	struct timespec moment = { 0, 1000000 };
	uint32_t granted = 2;

	if (fd < 0)
		return;
	if (pwrite(fd, &asked, sizeof(asked), 0) != sizeof(asked))
		exit(8);
	for (int i = 0; i < 3000 && granted != asked; i++) {
		if (pread(fd, &granted, sizeof(granted), 4) != sizeof(granted))
			exit(8);
		nanosleep(&moment, NULL);
	}
}

void run_yielding_profiler(unsigned long count)
{
	const char *folder = getenv("FULLWARP_RECORD_DIR");
	char path[512];
	int fd = -1;

	if (folder) {
		snprintf(path, sizeof(path), "%s/yield-%d", folder, getpid());
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || pwrite(fd, (char[8]){ 0 }, 8, 0) != 8)
			exit(8);
	}
	launches(count);
	ask(fd, 1);
	profile(count);
	ask(fd, 0);
	launches(count);
	printf("%lu records that were not asked for\n", others);
	if (fd >= 0)
		close(fd);
}
