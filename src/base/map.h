#ifndef FW_BASE_MAP_H
#define FW_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hash map from a 128-bit key (two words) to a 64-bit value; open addressing, no deletion.
 * One thread. Initialise with {0}.
 */
struct fw_map {
	struct fw_map_slot *slots;
	size_t len, cap;
};

/* A scrambled form of x, for tables of one's own (a fixed 64-bit finaliser; not for secrets). */
uint64_t fw_hash_u64(uint64_t x);

/* Hash of bytes; equal bytes give equal values on every machine of one byte order. */
uint64_t fw_hash_bytes(const void *bytes, size_t len);

/*
 * The place of key's value; inserted with value 0 when absent, and *inserted (may be NULL) says so.
 * NULL when memory is out. Dies on the next insertion.
 */
uint64_t *fw_map_at(struct fw_map *map, uint64_t k0, uint64_t k1, bool *inserted);

/* The place of key's value, or NULL. */
uint64_t *fw_map_find(const struct fw_map *map, uint64_t k0, uint64_t k1);

void fw_map_release(struct fw_map *map);

#endif
