/*
 * The script that says how the stand-ins behave: $FW_FAKE_CUDA names a text file, read once. A line is
 * KEY VALUE; "#" starts a comment; the last line of a key counts, unless it is a list.
 *
 *   version 13.0            of CUPTI: 11.8, 12.0, 12.2, 12.8 or 13.0; it decides the layout of records
 *   driver 13000            what cuDriverGetVersion answers
 *   devices 1
 *   kernel_ns 2000          how long a kernel takes; copy_ns, memset_ns likewise
 *   error FUNCTION CODE [N] that function of libcupti answers CODE at its N-th call (default: at each); a list
 *   hang FUNCTION           that function of libcupti never returns; a list
 *   late_ms N               a buffer is handed over N ms after it was full or flushed
 *   order reverse           buffers are handed over newest first
 *   deliver caller          cuptiActivityFlushAll hands over on its caller's thread, not on CUPTI's
 *   buffer_records N        a buffer is full after N records
 *   forced keep             a forced flush keeps what is not complete; default: hands it over without times
 *   uninvited KIND          with every kernel, a record of a kind that nobody may have asked for; a list
 *   nested 1                driver calls that the runtime makes are calls too; default: only the program's own
 *   register mixed          buffers of the client before go to the callbacks of the one after it
 *   clock OFFSET_NS PPM     CUPTI's clock against CLOCK_MONOTONIC
 *   clock_step AFTER_NS STEP_NS   and a jump, that long after the library was loaded
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES      64u
#define LINE_BYTES 128

static char lines[LINES][LINE_BYTES];
static unsigned count;

__attribute__((constructor)) static void read_script(void)
{
	const char *path = getenv("FW_FAKE_CUDA");
	FILE *file = path ? fopen(path, "re") : NULL;

	if (!file)
		return;
	while (count < LINES && fgets(lines[count], LINE_BYTES, file)) {
		lines[count][strcspn(lines[count], "#\n")] = 0;
		if (lines[count][0])
			count++;
	}
	fclose(file);
}

static const char *value_of(unsigned i, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(lines[i], key, length) || lines[i][length] != ' ')
		return NULL;
	return lines[i] + length + strspn(lines[i] + length, " ");
}

const char *fake_script(const char *key)
{
	const char *found = NULL;

	for (unsigned i = 0; i < count; i++) {
		const char *value = value_of(i, key);

		if (value)
			found = value;
	}
	return found;
}

const char *fake_script_line(const char *key, unsigned nth)
{
	for (unsigned i = 0; i < count; i++) {
		const char *value = value_of(i, key);

		if (value && !nth--)
			return value;
	}
	return NULL;
}

long long fake_script_number(const char *key, long long otherwise)
{
	const char *value = fake_script(key);

	return value ? strtoll(value, NULL, 0) : otherwise;
}

int64_t fake_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
