#include "gpu/loader.h"

#include <dlfcn.h>
#include <string.h>

fw_status fw_symbols_load(const char *library, const struct fw_symbol *symbols, size_t count,
			  void *table, void **handle, struct fw_error *err)
{
	*handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	if (!*handle)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s", dlerror());
	for (size_t i = 0; i < count; i++) {
		void *p = dlsym(*handle, symbols[i].name);

		if (!p && symbols[i].required) {
			fw_symbols_unload(*handle);
			*handle = NULL;
			return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: symbol %s is missing", library,
				       symbols[i].name);
		}
		memcpy((char *)table + symbols[i].offset, &p, sizeof(p));
	}
	return FW_OK;
}

void fw_symbols_find(void *handle, const struct fw_symbol *symbols, size_t count, void *table)
{
	for (size_t i = 0; i < count; i++) {
		void *p = dlsym(handle, symbols[i].name);

		memcpy((char *)table + symbols[i].offset, &p, sizeof(p));
	}
}

void fw_symbols_unload(void *handle)
{
	if (handle)
		dlclose(handle);
}
