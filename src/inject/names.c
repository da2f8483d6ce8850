#include "inject/names.h"

#include <string.h>
#include <sys/mman.h>

#define TABLE    (2 * FW_NAMES_MOST)
#define POINTERS 4096u

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool fw_names_open(struct fw_names *names)
{
	if (!names->names)
		names->names = map(FW_NAMES_MOST * sizeof(*names->names));
	if (!names->table)
		names->table = map(TABLE * sizeof(*names->table));
	if (!names->pointers)
		names->pointers = map(POINTERS * sizeof(*names->pointers));
	if (!names->pointer_ids)
		names->pointer_ids = map(POINTERS * sizeof(*names->pointer_ids));
	if (!names->texts)
		names->texts = map(FW_NAMES_BYTES);
	if (!names->names || !names->table || !names->pointers || !names->pointer_ids ||
	    !names->texts)
		return false;
	if (names->count) {
		memset(names->table, 0, TABLE * sizeof(*names->table));
		memset(names->pointers, 0, POINTERS * sizeof(*names->pointers));
	}
	names->count = 1;
	names->text_bytes = 0;
	names->left_out = 0;
	return true;
}

static uint32_t hash_of(const char *text, size_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

/* Where the text is, or would be, in the table. */
static uint32_t *find(struct fw_names *names, const char *text, uint32_t bytes, uint32_t hash)
{
	uint32_t at = hash % TABLE;

	for (; names->table[at]; at = (at + 1) % TABLE) {
		const struct fw_name *name = &names->names[names->table[at]];

		if (name->hash == hash && name->bytes == bytes &&
		    memcmp(names->texts + name->text, text, bytes) == 0)
			break;
	}
	return &names->table[at];
}

static void write_name(struct fw_sink *sink, uint32_t id, const char *text, uint32_t bytes)
{
	size_t size = sizeof(struct fw_rec_string) + ((bytes + 7u) & ~7u);
	struct fw_rec_string *record = fw_sink_add(sink, FW_REC_STRING, size, id);

	if (!record)
		return;
	record->length = bytes;
	memcpy(record + 1, text, bytes);
}

uint32_t fw_names_id(struct fw_names *names, struct fw_sink *sink, const char *text)
{
	uint32_t bytes, hash, id;
	uint32_t *place;

	if (!text)
		return 0;
	bytes = (uint32_t)strnlen(text, FW_NAME_BYTES);
	hash = hash_of(text, bytes);
	place = find(names, text, bytes, hash);
	if (*place)
		return *place;
	if (names->count == FW_NAMES_MOST || FW_NAMES_BYTES - names->text_bytes < bytes + 1) {
		names->left_out++;
		return 0;
	}
	id = names->count++;
	names->names[id] = (struct fw_name){ names->text_bytes, bytes, hash, 0 };
	memcpy(names->texts + names->text_bytes, text, bytes);
	names->texts[names->text_bytes + bytes] = 0;
	names->text_bytes += bytes + 1;
	*place = id;
	write_name(sink, id, text, bytes);
	return id;
}

uint32_t fw_names_id_at(struct fw_names *names, struct fw_sink *sink, const char *text)
{
	uint32_t at = (uint32_t)(((uintptr_t)text >> 4) ^ ((uintptr_t)text >> 16)) % POINTERS;
	uint32_t id;

	if (!text)
		return 0;
	/* The memory may have got another text since. */
	if (names->pointers[at] == text) {
		const struct fw_name *name = &names->names[names->pointer_ids[at]];

		if (strncmp(names->texts + name->text, text, FW_NAME_BYTES) == 0)
			return names->pointer_ids[at];
	}
	id = fw_names_id(names, sink, text);
	if (id) {
		names->pointers[at] = text;
		names->pointer_ids[at] = id;
	}
	return id;
}
