#include "base/arena.h"

#include "base/spill.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGN       (_Alignof(max_align_t))

/* Below this a file of its own is not worth while. */
#define SPILL_BYTES ((size_t)1 << 20)

struct fw_arena_block {
	struct fw_arena_block *next;
	size_t used, cap;
	bool is_spilled; /* fresh zeros of a file, to be unmapped */
	_Alignas(max_align_t) unsigned char data[];
};

static struct fw_arena_block *add_block(struct fw_arena *arena, size_t need)
{
	size_t cap = need > BLOCK_BYTES ? need : BLOCK_BYTES;
	struct fw_arena_block *block;
	bool spills = arena->spill_after && cap >= SPILL_BYTES &&
		      (cap > arena->spill_after || arena->bytes > arena->spill_after - cap);

	if (cap > SIZE_MAX - sizeof(*block))
		return NULL;
	block = spills ? fw_spill_map(sizeof(*block) + cap) : malloc(sizeof(*block) + cap);
	if (!block)
		return NULL;
	block->is_spilled = spills;
	block->used = 0;
	block->cap = cap;
	block->next = arena->head;
	arena->head = block;
	arena->bytes += spills ? 0 : sizeof(*block) + cap;
	return block;
}

void *fw_arena_alloc(struct fw_arena *arena, size_t size)
{
	struct fw_arena_block *block = arena->head;
	void *p;

	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (!block || block->cap - block->used < size) {
		block = add_block(arena, size);
		if (!block)
			return NULL;
	}
	p = block->data + block->used;
	block->used += size;
	return block->is_spilled ? p : memset(p, 0, size);
}

void *fw_arena_array(struct fw_arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return fw_arena_alloc(arena, count * size);
}

char *fw_arena_strndup(struct fw_arena *arena, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? fw_arena_alloc(arena, len + 1) : NULL;

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *fw_arena_printf(struct fw_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = fw_arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void fw_arena_release(struct fw_arena *arena)
{
	struct fw_arena_block *block = arena->head;

	while (block) {
		struct fw_arena_block *next = block->next;

		if (block->is_spilled)
			munmap(block, sizeof(*block) + block->cap);
		else
			free(block);
		block = next;
	}
	arena->head = NULL;
	arena->bytes = 0;
}
