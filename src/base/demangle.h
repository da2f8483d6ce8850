#ifndef FW_BASE_DEMANGLE_H
#define FW_BASE_DEMANGLE_H

#include "base/arena.h"

/*
 * The readable form of a kernel's linker name (Itanium C++ mangling, read by libstdc++), or the name
 * itself where it is not mangled. The prefix `__nv_static_N__<N characters>_` that nvcc puts before
 * internal kernels of relocatable code is dropped first. The result lives in arena (or is name);
 * never NULL. Thread-safe for different arenas.
 */
const char *fw_demangle(struct fw_arena *arena, const char *name);

#endif
