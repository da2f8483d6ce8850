#ifndef FW_DOCTOR_LOADER_CACHE_H
#define FW_DOCTOR_LOADER_CACHE_H
/* /etc/ld.so.cache: where ldconfig found libraries, by name. The bytes are foreign. */
#include <stddef.h>

/*
 * The path of a library for a machine (EM_X86_64, EM_AARCH64); NULL: not there, or no such cache. It
 * points into the bytes, which end it with a NUL.
 */
const char *fw_loader_cache_find(const void *bytes, size_t size, unsigned machine,
				 const char *name);

#endif
