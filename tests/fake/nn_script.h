/* Which call fails, and what was called: one copy in each of the three libraries. */
#include "nn.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct fake_nn_counts counts;
static const char *failing;
static int calls_before, failing_result;

#define EXPORT __attribute__((visibility("default")))

EXPORT void fake_nn_fail(const char *call, int after, int result)
{
	failing = call;
	calls_before = after;
	failing_result = result;
}

EXPORT const struct fake_nn_counts *fake_nn_counts(void)
{
	return &counts;
}

static int result_of(const char *call)
{
	if (!failing || strcmp(call, failing) || calls_before-- > 0)
		return 0;
	return failing_result;
}

/* A new object behind *to. */
static int make(const char *call, void **to)
{
	int result = result_of(call);

	*to = result ? NULL : calloc(1, 8);
	return result;
}

static int drop(void *object)
{
	free(object);
	return 0;
}
