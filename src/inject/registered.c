#include "inject/registered.h"

#include "inject/hooks.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* CUPTI's data has 1.1 to 1.5 MB. */
#define MOST_BYTES ((size_t)64 << 20)

struct pair {
	uintptr_t request, complete;
};

/* The writable part of the library, in words. */
struct data {
	uintptr_t library; /* an address within it */
	const uintptr_t *words;
	size_t count;
};

static void give_none(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = NULL;
	*bytes = *max_records = 0;
}

static void take_nothing(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			 size_t valid_bytes)
{
	(void)context, (void)stream, (void)buffer, (void)bytes, (void)valid_bytes;
}

static int find_data(struct dl_phdr_info *info, size_t size, void *found)
{
	struct data *d = found;

	(void)size;
	if (!fw_object_contains(info, d->library))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;
		size_t skipped = -start % sizeof(uintptr_t);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W) || p->p_memsz <= skipped ||
		    (p->p_memsz - skipped) / sizeof(uintptr_t) <= d->count)
			continue;
		d->words = (const uintptr_t *)(start + skipped); // NOLINT
		d->count = (p->p_memsz - skipped) / sizeof(uintptr_t);
	}
	return 1;
}

/* All of another library's data: what lies between its variables too, and what its threads may be writing. */
__attribute__((no_sanitize("address", "thread"))) static uintptr_t word(const struct data *d,
									size_t i)
{
	return ((const volatile uintptr_t *)d->words)[i];
}

static void copy_words(const struct data *d, uintptr_t *copy)
{
	for (size_t i = 0; i < d->count; i++)
		copy[i] = word(d, i);
}

/* Where the pair stands, if in one place alone; else d->count. */
static size_t find_pair(const struct data *d, const struct pair *pair)
{
	size_t found = d->count;

	for (size_t i = 0; i + 1 < d->count; i++) {
		if (word(d, i) != pair->request || word(d, i + 1) != pair->complete)
			continue;
		if (found != d->count)
			return d->count;
		found = i;
	}
	return found;
}

static enum fw_registered look(const struct fw_cupti *cupti, const struct data *d,
			       const uintptr_t *copy)
{
	const struct pair ours = { (uintptr_t)give_none, (uintptr_t)take_nothing };
	struct pair before;
	size_t at;

	if (cupti->activity_register_callbacks(give_none, take_nothing))
		return FW_REGISTERED_UNKNOWN;
	at = find_pair(d, &ours);
	if (at == d->count)
		return FW_REGISTERED_UNKNOWN;
	before = (struct pair){ copy[at], copy[at + 1] };
	if (!before.request || !before.complete)
		return FW_REGISTERED_NONE;
	cupti->activity_register_callbacks((fw_cupti_buffer_request *)before.request,
					   (fw_cupti_buffer_complete *)before.complete);
	return FW_REGISTERED_SOME;
}

enum fw_registered fw_registered_look(const struct fw_cupti *cupti)
{
	struct data d = { .library = (uintptr_t)cupti->activity_register_callbacks };
	enum fw_registered found;
	uintptr_t *copy;

	dl_iterate_phdr(find_data, &d);
	if (!d.count || d.count > MOST_BYTES / sizeof(*copy))
		return FW_REGISTERED_UNKNOWN;
	copy = mmap(NULL, d.count * sizeof(*copy), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return FW_REGISTERED_UNKNOWN;
	copy_words(&d, copy);
	found = look(cupti, &d, copy);
	munmap(copy, d.count * sizeof(*copy));
	return found;
}
