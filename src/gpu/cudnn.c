#include "gpu/cudnn.h"

#include "gpu/loader.h"
#include "gpu/places.h"

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, result, field, args)                                              \
	{ symbol, offsetof(struct fw_cudnn, field), required },
#include "gpu/cudnn.def"
#undef FW_SYM
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static fw_status load(const char *path, void *user, struct fw_error *err)
{
	struct fw_cudnn *cudnn = user;

	return fw_symbols_load(path, symbols, N_SYMBOLS, cudnn, &cudnn->handle, err);
}

fw_status fw_cudnn_open(struct fw_cudnn *cudnn, const char *library, struct fw_error *err)
{
	static const char *const names[] = { "libcudnn_graph.so.9", "libcudnn.so.9", NULL };
	static const char *const wheels[] = { "nvidia/cudnn/lib", NULL };
	fw_status status;

	*cudnn = (struct fw_cudnn){ 0 };
	if (library)
		status = load(library, cudnn, err);
	else
		status = fw_library_open(&(struct fw_library){ names, wheels }, load, cudnn, err);
	if (status) {
		fw_error_prefix(err, "cuDNN 9 was not found");
		return status;
	}
	cudnn->version = cudnn->get_version();
	if (cudnn->version / 10000 == 9)
		return FW_OK;
	status = fw_fail(err, FW_ERR_UNSUPPORTED,
			 "cuDNN %zu is installed: the engine needs version 9 (90000 to 99999)",
			 cudnn->version);
	fw_cudnn_close(cudnn);
	return status;
}

void fw_cudnn_close(struct fw_cudnn *cudnn)
{
	fw_symbols_unload(cudnn->handle);
	*cudnn = (struct fw_cudnn){ 0 };
}

fw_status fw_cudnn_fail(const struct fw_cudnn *cudnn, int result, const char *call,
			struct fw_error *err)
{
	char message[256] = "";

	if (cudnn->get_last_error_string)
		cudnn->get_last_error_string(message, sizeof(message));
	return fw_fail(err, FW_ERR_IO, "%s: %s (%d)%s%s", call, cudnn->get_error_string(result),
		       result, message[0] ? ": " : "", message);
}
