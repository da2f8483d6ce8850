/* The string pool of a trace: every name is kept once and known by a number. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static const struct fw_string *entry(const struct fw_strings *pool, uint32_t id)
{
	return (const struct fw_string *)pool->entries.data + id;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t find_slot(const struct fw_strings *pool, const char *text, size_t len, uint32_t hash)
{
	size_t mask = pool->slot_cap - 1, i = hash & mask;

	for (; pool->slots[i]; i = (i + 1) & mask) {
		const struct fw_string *s = entry(pool, pool->slots[i] - 1);

		if (s->hash == hash && s->len == len && !memcmp(s->text, text, len))
			break;
	}
	return i;
}

static bool grow_slots(struct fw_strings *pool)
{
	size_t cap = pool->slot_cap ? pool->slot_cap * 2 : 1024;
	uint32_t *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t id = 0; id < pool->entries.len; id++) {
		size_t i = entry(pool, (uint32_t)id)->hash & (cap - 1);

		while (slots[i])
			i = (i + 1) & (cap - 1);
		slots[i] = (uint32_t)id + 1;
	}
	free(pool->slots);
	pool->slots = slots;
	pool->slot_cap = cap;
	return true;
}

static bool add(struct fw_strings *pool, size_t slot, const char *text, size_t len, uint32_t hash)
{
	char *copy = fw_arena_strndup(&pool->arena, text, len);
	struct fw_string *s = copy ? fw_vec_push(&pool->entries) : NULL;

	if (!s)
		return false;
	*s = (struct fw_string){ .text = copy, .len = (uint32_t)len, .hash = hash };
	pool->slots[slot] = (uint32_t)pool->entries.len;
	return true;
}

/*
 * Where a string is remembered that came lately: names repeat, and to compare one with the string
 * that it probably is costs a tenth of hashing it whole.
 */
static uint32_t *recent_slot(struct fw_strings *pool, const char *text, size_t len)
{
	uint64_t first = 0, middle = 0, last = 0;

	if (len >= 8) {
		memcpy(&first, text, 8);
		memcpy(&middle, text + len / 2 - 4, 8);
		memcpy(&last, text + len - 8, 8);
	} else {
		memcpy(&first, text, len);
	}
	first = (first ^ len) * UINT64_C(0x9e3779b97f4a7c15);
	first = (first ^ (first >> 29) ^ middle) * UINT64_C(0xd6e8feb86659fd93);
	first = (first ^ (first >> 29) ^ last) * UINT64_C(0x9e3779b97f4a7c15);
	return &pool->recent[first >> 54];
}

static uint32_t intern(struct fw_strings *pool, const char *text, size_t len, bool *failed)
{
	uint32_t hash = (uint32_t)fw_hash_bytes(text, len);
	size_t i;

	if (len >= UINT32_MAX || pool->entries.len >= FW_NONE - 1 ||
	    (pool->entries.len * 2 >= pool->slot_cap && !grow_slots(pool))) {
		*failed = true;
		return 0;
	}
	i = find_slot(pool, text, len, hash);
	if (!pool->slots[i] && !add(pool, i, text, len, hash)) {
		*failed = true;
		return 0;
	}
	return pool->slots[i] - 1;
}

uint32_t fw_trace_intern(struct fw_trace *trace, const char *text, size_t len, bool *failed)
{
	struct fw_strings *pool = &trace->strings;
	uint32_t *recent = recent_slot(pool, text, len);
	const struct fw_string *s;
	bool ignored = false;

	if (*recent) {
		s = entry(pool, *recent);
		if (s->len == len && !memcmp(s->text, text, len))
			return *recent;
	}
	*recent = intern(pool, text, len, failed ? failed : &ignored);
	return *recent;
}

const char *fw_trace_text(const struct fw_trace *trace, uint32_t id)
{
	return entry(&trace->strings, id)->text;
}
