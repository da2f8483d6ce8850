#ifndef FW_TUNE_SOURCE_CODE_H
#define FW_TUNE_SOURCE_CODE_H
/* C++ source as the compiler's reader sees it: without comments and the insides of literals. */
#include "base/arena.h"

#include <stdbool.h>

/*
 * A copy of the same length, with blanks for comments and for what stands in string and character literals, and, if
 * no_directives, for preprocessor lines. Line ends stay. NULL: out of memory.
 */
char *fw_tune_source_code(struct fw_arena *arena, const char *text, size_t bytes,
			  bool no_directives);

/* Whether an identifier of that name stands in code. */
bool fw_tune_source_mentions(const char *code, const char *name);

/* Whether code includes a file of the user's own (#include "..."). */
bool fw_tune_source_has_own_includes(const char *code);

#endif
