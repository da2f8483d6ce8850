#include "gpu/cublaslt.h"

#include "gpu/loader.h"
#include "gpu/places.h"

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, result, field, args)                                              \
	{ symbol, offsetof(struct fw_cublaslt, field), required },
#include "gpu/cublaslt.def"
#undef FW_SYM
};

static fw_status load(const char *path, void *user, struct fw_error *err)
{
	struct fw_cublaslt *lt = user;

	return fw_symbols_load(path, symbols, sizeof(symbols) / sizeof(symbols[0]), lt, &lt->handle,
			       err);
}

fw_status fw_cublaslt_open(struct fw_cublaslt *lt, const char *library, struct fw_error *err)
{
	static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", NULL };
	static const char *const wheels[] = { "nvidia/cu13/lib", NULL };
	fw_status status;

	*lt = (struct fw_cublaslt){ 0 };
	if (library)
		status = load(library, lt, err);
	else
		status = fw_library_open(&(struct fw_library){ names, wheels }, load, lt, err);
	if (status) {
		fw_error_prefix(err, "cuBLASLt 13 or 12 was not found");
		return status;
	}
	lt->version = lt->get_version();
	return FW_OK;
}

void fw_cublaslt_close(struct fw_cublaslt *lt)
{
	fw_symbols_unload(lt->handle);
	*lt = (struct fw_cublaslt){ 0 };
}

fw_status fw_cublaslt_fail(const struct fw_cublaslt *lt, int result, const char *call,
			   struct fw_error *err)
{
	return fw_fail(err, FW_ERR_IO, "%s: %s (%d)", call, lt->get_status_name(result), result);
}
