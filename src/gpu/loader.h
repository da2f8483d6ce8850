#ifndef FW_GPU_LOADER_H
#define FW_GPU_LOADER_H
/* NVIDIA's libraries at run time: a table of symbols, one loop, one error that names what is missing. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fw_symbol {
	const char *name;
	size_t offset; /* of the function pointer in the table */
	bool required;
};

/*
 * Opens a library and fills the function pointers of table. *handle is NULL after a failure
 * (FW_ERR_UNSUPPORTED); optional symbols that are missing stay NULL. Thread-safe.
 */
fw_status fw_symbols_load(const char *library, const struct fw_symbol *symbols, size_t count,
			  void *table, void **handle, struct fw_error *err);

/* More of a library that is open; what it lacks becomes NULL. */
void fw_symbols_find(void *handle, const struct fw_symbol *symbols, size_t count, void *table);

/* NULL is accepted. */
void fw_symbols_unload(void *handle);

#endif
