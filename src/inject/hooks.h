#ifndef FW_INJECT_HOOKS_H
#define FW_INJECT_HOOKS_H
/*
 * Puts functions of ours between the program and a library that is loaded, whichever way it calls: slots that
 * the dynamic linker has bound already are changed, and so is the library's symbol table in memory, from which
 * it binds later ones and answers dlsym. No code is changed. Addresses that the program has copied before stay.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fw_hook {
	const char *name;
	uintptr_t real; /* 0: the library has none, nothing is done */
	uintptr_t wrapper;
};

/* How many entries of the library's symbol table now lead to a wrapper. Once in a process. */
size_t fw_hooks_install(const struct fw_hook *hooks, size_t count);

/* Whether the address lies in a loaded object, of those that dl_iterate_phdr() tells. */
bool fw_object_contains(const struct dl_phdr_info *info, uintptr_t at);

#endif
