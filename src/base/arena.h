#ifndef FW_BASE_ARENA_H
#define FW_BASE_ARENA_H

#include <stddef.h>

/*
 * Memory that dies together: blocks are handed out and never freed alone.
 * One thread. Initialise with {0}; fw_arena_release frees all and leaves it usable again.
 */
struct fw_arena {
	struct fw_arena_block *head;
	size_t bytes; /* taken from malloc so far */
	/*
	 * When so many bytes are taken, large blocks lie in temporary files (base/spill.h); 0: never.
	 */
	size_t spill_after;
};

/* size bytes, zeroed, aligned for any type; NULL when memory is out. size 0 gives a valid pointer. */
void *fw_arena_alloc(struct fw_arena *arena, size_t size);

/* The same for count elements of size bytes; NULL on overflow too. */
void *fw_arena_array(struct fw_arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of len bytes. */
char *fw_arena_strndup(struct fw_arena *arena, const char *text, size_t len);

/* A formatted string; NULL when memory is out. */
char *fw_arena_printf(struct fw_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void fw_arena_release(struct fw_arena *arena);

#endif
