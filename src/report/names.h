#ifndef FW_REPORT_NAMES_H
#define FW_REPORT_NAMES_H

#include "base/arena.h"

/*
 * A kernel's name for reading: demangled, without return type, parameters, namespaces and the insides
 * of lambdas: `void at::native::fill<4, at::native::Op<float> >(int)` -> `fill<4, Op<float>>`. A name
 * that does not read as C++ stays as it is. Lives in arena (or is name); never NULL.
 */
const char *fw_short_name(struct fw_arena *arena, const char *name);

#endif
