#include "gpu/nvjpeg.h"

#include "gpu/loader.h"
#include "gpu/places.h"

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, field, args)                                                      \
	{ symbol, offsetof(struct fw_nvjpeg, field), required },
#include "gpu/nvjpeg.def"
#undef FW_SYM
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static fw_status load(const char *path, void *user, struct fw_error *err)
{
	struct fw_nvjpeg *nvjpeg = user;

	return fw_symbols_load(path, symbols, N_SYMBOLS, nvjpeg, &nvjpeg->handle, err);
}

static fw_status find(struct fw_nvjpeg *nvjpeg, struct fw_error *err)
{
	static const char *const names[] = { "libnvjpeg.so.13", "libnvjpeg.so.12",
					     "libnvjpeg.so.11", NULL };
	/* The wheels of CUDA 13, and those before it. */
	static const char *const wheels[] = { "nvidia/cu13/lib", "nvidia/nvjpeg/lib", NULL };

	return fw_library_open(&(struct fw_library){ names, wheels }, load, nvjpeg, err);
}

fw_status fw_nvjpeg_open(struct fw_nvjpeg *nvjpeg, const char *library, struct fw_error *err)
{
	fw_status status;

	*nvjpeg = (struct fw_nvjpeg){ 0 };
	status = library ? load(library, nvjpeg, err) : find(nvjpeg, err);
	if (status) {
		fw_error_prefix(err, "nvJPEG was not found");
		return status;
	}
	nvjpeg->get_property(0, &nvjpeg->major);
	nvjpeg->get_property(1, &nvjpeg->minor);
	return FW_OK;
}

void fw_nvjpeg_close(struct fw_nvjpeg *nvjpeg)
{
	fw_symbols_unload(nvjpeg->handle);
	*nvjpeg = (struct fw_nvjpeg){ 0 };
}

fw_status fw_nvjpeg_fail(int status, const char *call, struct fw_error *err)
{
	static const char *const names[] = { "success",
					     "not initialised",
					     "invalid parameter",
					     "bad JPEG",
					     "JPEG not supported",
					     "allocator failure",
					     "execution failed",
					     "architecture mismatch",
					     "internal error",
					     "implementation not supported",
					     "incomplete bit stream" };
	int is_known = status >= 0 && status < (int)(sizeof(names) / sizeof(names[0]));

	return fw_fail(err, FW_ERR_IO, "%s: %s (%d)", call,
		       is_known ? names[status] : "a status without a name", status);
}
