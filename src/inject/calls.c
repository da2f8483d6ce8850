#include "inject/calls.h"

#include <string.h>

enum { DOMAIN_RUNTIME, DOMAIN_DRIVER };

static const struct fw_call_api apis[] = {
#define FW_CALL(domain, cbid, name) { DOMAIN_##domain == DOMAIN_DRIVER, cbid, #name },
#include "inject/apis.def"
#undef FW_CALL
};
#define APIS (sizeof(apis) / sizeof(apis[0]))

const struct fw_call_api *fw_calls_at(size_t i)
{
	return i < APIS ? &apis[i] : NULL;
}

/* The callers keep what they find by number, so this is asked once per call's name. */
const struct fw_call_api *fw_calls_find(bool is_driver, uint32_t cbid)
{
	for (size_t i = 0; i < APIS; i++)
		if (apis[i].is_driver == is_driver && apis[i].cbid == cbid)
			return &apis[i];
	return NULL;
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t n = strlen(end);

	return bytes > n && memcmp(text + bytes - n, end, n) == 0;
}

/* "_v7000" at the end: how long it is; 0 where there is none. */
static size_t version_bytes(const char *text, size_t bytes)
{
	size_t digits = 0;

	while (digits < bytes && text[bytes - digits - 1] >= '0' && text[bytes - digits - 1] <= '9')
		digits++;
	if (!digits || bytes < digits + 3 || text[bytes - digits - 1] != 'v' ||
	    text[bytes - digits - 2] != '_')
		return 0;
	return digits + 2;
}

void fw_calls_plain_name(const char *name, char plain[FW_CALLS_NAME_BYTES])
{
	size_t bytes = strlen(name), cut = 1;

	while (cut) {
		cut = version_bytes(name, bytes);
		if (ends_with(name, bytes, "_ptsz") || ends_with(name, bytes, "_ptds"))
			cut = strlen("_ptsz");
		bytes -= cut;
	}
	if (bytes >= FW_CALLS_NAME_BYTES)
		bytes = FW_CALLS_NAME_BYTES - 1;
	memcpy(plain, name, bytes);
	plain[bytes] = 0;
}
