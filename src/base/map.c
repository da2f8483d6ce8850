#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct fw_map_slot {
	uint64_t k0, k1, value;
	bool used;
};

uint64_t fw_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

uint64_t fw_hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = fw_hash_u64(h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	}
	word = 0;
	if (len)
		memcpy(&word, p, len);
	return fw_hash_u64(h ^ word);
}

static size_t slot_of(const struct fw_map *map, uint64_t k0, uint64_t k1)
{
	size_t i = (size_t)fw_hash_u64(k0 ^ fw_hash_u64(k1)) & (map->cap - 1);

	while (map->slots[i].used && (map->slots[i].k0 != k0 || map->slots[i].k1 != k1))
		i = (i + 1) & (map->cap - 1);
	return i;
}

static bool grow(struct fw_map *map)
{
	struct fw_map bigger = { .len = map->len, .cap = map->cap ? map->cap * 2 : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].used)
			bigger.slots[slot_of(&bigger, map->slots[i].k0, map->slots[i].k1)] =
				map->slots[i];
	free(map->slots);
	*map = bigger;
	return true;
}

uint64_t *fw_map_at(struct fw_map *map, uint64_t k0, uint64_t k1, bool *inserted)
{
	size_t i;

	if (map->len >= map->cap - map->cap / 4 && !grow(map))
		return NULL;
	i = slot_of(map, k0, k1);
	if (inserted)
		*inserted = !map->slots[i].used;
	if (!map->slots[i].used) {
		map->slots[i] = (struct fw_map_slot){ .k0 = k0, .k1 = k1, .used = true };
		map->len++;
	}
	return &map->slots[i].value;
}

uint64_t *fw_map_find(const struct fw_map *map, uint64_t k0, uint64_t k1)
{
	size_t i;

	if (!map->cap)
		return NULL;
	i = slot_of(map, k0, k1);
	return map->slots[i].used ? &map->slots[i].value : NULL;
}

void fw_map_release(struct fw_map *map)
{
	free(map->slots);
	*map = (struct fw_map){ 0 };
}
