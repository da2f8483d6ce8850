/*
 * NVIDIA's own CUPTI, without a GPU: whether somebody has registered callbacks for buffers is told right, before and after
 * somebody has, and what was registered stays. Exit status 77 where there is no libcupti.
 */
#include "inject/registered.h"

#include <stdio.h>

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = NULL;
	*bytes = *max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	(void)context, (void)stream, (void)buffer, (void)bytes, (void)valid_bytes;
}

int main(void)
{
	static const char *const names[] = { "unknown", "none", "some" };
	struct fw_cupti cupti = { .handle = NULL };
	struct fw_error err;
	enum fw_registered first, second, third;

	if (fw_cupti_open(&cupti, &err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	first = fw_registered_look(&cupti);
	if (cupti.activity_register_callbacks(request, complete)) {
		printf("skipped: %s does not register callbacks without a GPU\n", cupti.path);
		return 77;
	}
	second = fw_registered_look(&cupti);
	third = fw_registered_look(&cupti);
	printf("%s: %s, then %s, then %s\n", cupti.path, names[first], names[second], names[third]);
	return first != FW_REGISTERED_NONE || second != FW_REGISTERED_SOME ||
	       third != FW_REGISTERED_SOME;
}
