#include "doctor/loader_cache.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* glibc's dl-cache.h: the format since 2.2, which may follow the old one. */
#define MAGIC     "glibc-ld.so.cache1.1"
#define OLD_MAGIC "ld.so-1.7.0"

/* Its flags: libraries of glibc (3) and of that machine. */
#define FLAGS_X86_64  0x0303
#define FLAGS_AARCH64 0x0a03

struct header {
	char magic[20];
	uint32_t count, text_bytes;
	uint8_t flags, padding[3];
	uint32_t extensions, unused[3];
};

struct entry {
	int32_t flags;
	uint32_t name, path; /* from the header on */
	uint32_t os;
	uint64_t hwcap; /* not 0: for some processors only */
};

/* Where the format begins: past the old one's 16 bytes and 12 an entry, at a multiple of 8. */
static bool find_start(const uint8_t *bytes, size_t size, uint64_t *at)
{
	uint32_t count;

	*at = 0;
	if (size < 16 || memcmp(bytes, OLD_MAGIC, strlen(OLD_MAGIC)))
		return true;
	memcpy(&count, bytes + 12, sizeof(count));
	*at = (16 + (uint64_t)count * 12 + 7) & ~UINT64_C(7);
	return *at < size;
}

static const char *text_at(const uint8_t *bytes, size_t size, uint32_t offset)
{
	if (offset >= size || !memchr(bytes + offset, 0, size - offset))
		return NULL;
	return (const char *)bytes + offset;
}

const char *fw_loader_cache_find(const void *cache, size_t size, unsigned machine, const char *name)
{
	int32_t flags = machine == EM_AARCH64 ? FLAGS_AARCH64 : FLAGS_X86_64;
	const uint8_t *bytes = cache;
	struct header header;
	uint64_t at;

	if (!find_start(bytes, size, &at) || size - at < sizeof(header))
		return NULL;
	bytes += at;
	size -= at;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, MAGIC, sizeof(header.magic)))
		return NULL;
	for (uint32_t i = 0; i < header.count; i++) {
		struct entry entry;
		const char *text;

		at = sizeof(header) + (uint64_t)i * sizeof(entry);
		if (at > size || sizeof(entry) > size - at)
			return NULL;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.flags != flags || entry.hwcap)
			continue;
		text = text_at(bytes, size, entry.name);
		if (text && !strcmp(text, name))
			return text_at(bytes, size, entry.path);
	}
	return NULL;
}
