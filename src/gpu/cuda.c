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
