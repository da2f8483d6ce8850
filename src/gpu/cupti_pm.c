#include "gpu/cupti_pm.h"

#include "gpu/loader.h"

#include <stdio.h>
#include <string.h>

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, field, args)                                                      \
	{ symbol, offsetof(struct fw_cupti_pm, field), required },
#include "gpu/cupti_pm.def"
#undef FW_SYM
};

/* libnvperf_host.so in the library's folder; none there: the loader may know one. */
static void *open_host(const char *library)
{
	char path[4096];
	const char *slash = strrchr(library, '/');
	int length = slash ? (int)(slash - library) + 1 : 0;
	struct fw_error ignored = { 0 };
	void *handle = NULL;

	if (snprintf(path, sizeof(path), "%.*slibnvperf_host.so", length, library) <
	    (int)sizeof(path))
		fw_symbols_load(path, NULL, 0, NULL, &handle, &ignored);
	return handle;
}

fw_status fw_cupti_pm_open(struct fw_cupti_pm *cupti, const char *library, struct fw_error *err)
{
	fw_status status;

	*cupti = (struct fw_cupti_pm){ 0 };
	status = fw_symbols_load(library, symbols, sizeof(symbols) / sizeof(symbols[0]), cupti,
				 &cupti->handle, err);
	if (status) {
		*cupti = (struct fw_cupti_pm){ 0 };
		return status;
	}
	cupti->host_handle = open_host(library); /* before the first call, which looks for it */
	return FW_OK;
}

const char *fw_cupti_result_text(int result)
{
	static const struct {
		int result;
		const char *text;
	} texts[] = {
		{ FW_CUPTI_SUCCESS, "done" },
		{ FW_CUPTI_INVALID_PARAMETER, "invalid parameter" },
		{ FW_CUPTI_INVALID_DEVICE, "no such device" },
		{ FW_CUPTI_INVALID_OPERATION, "not possible now" },
		{ FW_CUPTI_OUT_OF_MEMORY, "out of memory, or its buffer ran over" },
		{ FW_CUPTI_HARDWARE, "the hardware failed" },
		{ FW_CUPTI_NOT_COMPATIBLE, "this libcupti does not fit the driver" },
		{ FW_CUPTI_NOT_INITIALIZED, "CUPTI could not start" },
		{ FW_CUPTI_INVALID_METRIC_NAME, "unknown metric" },
		{ FW_CUPTI_HARDWARE_BUSY, "another program holds the counters" },
		{ FW_CUPTI_NOT_SUPPORTED, "not supported on this GPU" },
		{ FW_CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "not supported on a virtual GPU" },
		{ FW_CUPTI_INSUFFICIENT_PRIVILEGES, "no permission for the GPU's counters" },
		{ FW_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
		  "the virtual GPU's host does not permit the counters" },
		{ FW_CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
		  "not supported with confidential computing" },
		{ FW_CUPTI_MIG_DEVICE_NOT_SUPPORTED, "not supported on a MIG device" },
		{ FW_CUPTI_INVALID_CHIP_NAME, "this libcupti does not know the chip" },
		{ FW_CUPTI_UNKNOWN, "an internal error of CUPTI or the driver" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].result == result)
			return texts[i].text;
	return "CUPTI failed";
}
