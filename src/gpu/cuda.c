#include "gpu/cuda.h"

#include "gpu/loader.h"

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, field, args) { symbol, offsetof(struct fw_cuda, field), required },
#include "gpu/cuda.def"
#undef FW_SYM
};

fw_status fw_cuda_open(struct fw_cuda *cuda, struct fw_error *err)
{
	*cuda = (struct fw_cuda){ 0 };
	return fw_symbols_load("libcuda.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]), cuda,
			       &cuda->handle, err);
}

void fw_cuda_close(struct fw_cuda *cuda)
{
	fw_symbols_unload(cuda->handle);
	*cuda = (struct fw_cuda){ 0 };
}

fw_status fw_cuda_fail(const struct fw_cuda *cuda, int result, const char *call,
		       struct fw_error *err)
{
	const char *name = NULL;

	if (cuda->get_error_name(result, &name) || !name)
		name = "an error without a name";
	return fw_fail(err, FW_ERR_IO, "%s: %s (%d)", call, name, result);
}

bool fw_cuda_uuid(const struct fw_cuda *cuda, int number, char text[FW_CUDA_UUID_BYTES])
{
	unsigned char u[16];
	int handle;

	if (!cuda->device_get_uuid || cuda->device_get(&handle, number) ||
	    cuda->device_get_uuid(u, handle))
		return false;
	snprintf(text, FW_CUDA_UUID_BYTES,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		 u[14], u[15]);
	return true;
}
