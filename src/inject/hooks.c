#include "inject/hooks.h"

#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { BOUND_LAZILY = R_X86_64_JUMP_SLOT, BOUND = R_X86_64_GLOB_DAT, POINTER = R_X86_64_64 };
#elif defined(__aarch64__)
enum { BOUND_LAZILY = R_AARCH64_JUMP_SLOT, BOUND = R_AARCH64_GLOB_DAT, POINTER = R_AARCH64_ABS64 };
#endif

#define PREFIX_BYTES 5 /* "cupti" */

/* The tables of a loaded object. */
struct object {
	uintptr_t base;
	ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
	const ElfW(Rela) * relocations, *jumps;
	size_t relocation_bytes, jump_bytes, relative_count;
};

struct work {
	const struct fw_hook *hooks;
	size_t count, patched;
	uintptr_t library;          /* an address within it */
	uintptr_t page, page_bytes; /* the one asked for last, and how large pages are */
	int protection;             /* its */
};

/* Up to `end`; what is not hexadecimal, as in the rest of a line that was cut, is no number. */
static bool read_hex(const char **text, char end, uintptr_t *value)
{
	for (*value = 0; **text != end; ++*text) {
		char c = **text;

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return false;
	}
	++*text;
	return true;
}

/* One line of /proc/self/maps, "start-end rwxp ...": the protection if `at` lies within, else -1. */
static int protection_in(const char *line, uintptr_t at)
{
	uintptr_t start, end;

	if (!read_hex(&line, '-', &start) || !read_hex(&line, ' ', &end) || at < start ||
	    at >= end || strlen(line) < 3)
		return -1;
	return (line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0) |
	       (line[2] == 'x' ? PROT_EXEC : 0);
}

/* -1: not known. Read, not derived from the object's headers: the linker may still be at work on it. */
static int protection_at(uintptr_t at)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), found = -1;
	char text[4096];
	size_t used = 0;
	ssize_t got;

	while (fd >= 0 && found < 0 && (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		char *line = text, *end;

		used += (size_t)got;
		text[used] = 0;
		for (; found < 0 && (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			found = protection_in(line, at);
		}
		used -= (size_t)(line - text);
		/* A line that does not fit has a path that long; its beginning was all that counts. */
		if (used == sizeof(text) - 1)
			used = 0;
		memmove(text, line, used);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Changes a word of a page that may be read-only, and leaves the page as it was. */
static bool change(struct work *w, uintptr_t at, uintptr_t value)
{
	uintptr_t page = at & ~(w->page_bytes - 1);
	void *start = (void *)page; // NOLINT

	if (page != w->page) {
		w->protection = protection_at(page);
		w->page = page;
	}
	if (w->protection < 0)
		return false;
	if (!(w->protection & PROT_WRITE) &&
	    mprotect(start, w->page_bytes, w->protection | PROT_WRITE))
		return false;
	atomic_store((_Atomic uintptr_t *)at, value);
	if (!(w->protection & PROT_WRITE))
		mprotect(start, w->page_bytes, w->protection);
	return true;
}

/* glibc has made most of these pointers absolute, but not those of the vDSO. */
static const void *pointer(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

static void read_entry(struct object *o, const ElfW(Dyn) * d)
{
	uintptr_t value = d->d_un.d_ptr;

	switch (d->d_tag) {
	case DT_SYMTAB: o->symbols = (ElfW(Sym) *)pointer(o->base, value); break;
	case DT_STRTAB: o->names = pointer(o->base, value); break;
	case DT_GNU_HASH: o->hash = pointer(o->base, value); break;
	case DT_RELA: o->relocations = pointer(o->base, value); break;
	case DT_RELASZ: o->relocation_bytes = value; break;
	case DT_RELACOUNT: o->relative_count = value; break;
	case DT_JMPREL: o->jumps = pointer(o->base, value); break;
	case DT_PLTRELSZ: o->jump_bytes = value; break;
	}
}

static bool read_object(struct object *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *d = NULL;

	*o = (struct object){ .base = info->dlpi_addr };
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(o->base + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		read_entry(o, d);
	return o->symbols && o->names;
}

/* All names begin alike; most symbols of a program do not. */
static const struct fw_hook *hook_of(const struct work *w, const char *name)
{
	if (strncmp(name, w->hooks[0].name, PREFIX_BYTES) != 0)
		return NULL;
	for (size_t i = 0; i < w->count; i++)
		if (w->hooks[i].real && !strcmp(w->hooks[i].name, name))
			return &w->hooks[i];
	return NULL;
}

/*
 * Whether any of the names is among the object's undefined symbols: those come before what is hashed. Where
 * nothing is hashed, as in programs that export nothing, the table does not tell how many there are.
 */
static bool imports(const struct work *w, const struct object *o)
{
	for (uint32_t i = 1; o->hash && i < o->hash[1]; i++)
		if (hook_of(w, o->names + o->symbols[i].st_name))
			return true;
	return !o->hash || o->hash[1] <= 1;
}

static void rebind(struct work *w, const struct object *o, const ElfW(Rela) * r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned long type = ELF64_R_TYPE(r[i].r_info), symbol = ELF64_R_SYM(r[i].r_info);
		uintptr_t at = o->base + r[i].r_offset;
		const struct fw_hook *hook;

		if (!symbol || r[i].r_addend || at % sizeof(uintptr_t) ||
		    (type != BOUND_LAZILY && type != BOUND && type != POINTER))
			continue;
		hook = hook_of(w, o->names + o->symbols[symbol].st_name);
		/* What is bound elsewhere, or not yet, is left alone. */
		if (hook && *(const uintptr_t *)at == hook->real)
			change(w, at, hook->wrapper);
	}
}

static int visit_importer(struct dl_phdr_info *info, size_t size, void *work)
{
	struct work *w = work;
	struct object o;

	(void)size;
	if (!read_object(&o, info) || !imports(w, &o))
		return 0;
	if (o.relocations && o.relocation_bytes / sizeof(*o.relocations) >= o.relative_count)
		rebind(w, &o, o.relocations + o.relative_count,
		       o.relocation_bytes / sizeof(*o.relocations) - o.relative_count);
	if (o.jumps)
		rebind(w, &o, o.jumps, o.jump_bytes / sizeof(*o.jumps));
	return 0;
}

static void redirect(struct work *w, const struct object *o, ElfW(Sym) * symbol)
{
	const struct fw_hook *hook = hook_of(w, o->names + symbol->st_name);

	if (hook && symbol->st_value && o->base + symbol->st_value == hook->real &&
	    change(w, (uintptr_t)&symbol->st_value, hook->wrapper - o->base))
		w->patched++;
}

bool fw_object_contains(const struct dl_phdr_info *info, uintptr_t at)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

/* All symbols that the library defines, in the order of its hash table. */
static int visit_library(struct dl_phdr_info *info, size_t size, void *work)
{
	const struct work *w = work;
	const uint32_t *buckets, *chain;
	struct object o;

	(void)size;
	if (!fw_object_contains(info, w->library) || !read_object(&o, info) || !o.hash)
		return 0;
	buckets = o.hash + 4 + o.hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	chain = buckets + o.hash[0];
	for (uint32_t b = 0; b < o.hash[0]; b++) {
		uint32_t i = buckets[b];

		while (i >= o.hash[1]) {
			redirect(work, &o, &o.symbols[i]);
			if (chain[i - o.hash[1]] & 1)
				break;
			i++;
		}
	}
	return 1;
}

size_t fw_hooks_install(const struct fw_hook *hooks, size_t count)
{
	struct work w = { .hooks = hooks, .count = count, .page = UINTPTR_MAX };
	long page_bytes = sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < count && !w.library; i++)
		w.library = hooks[i].real;
	if (!w.library || page_bytes <= 0)
		return 0;
	w.page_bytes = (uintptr_t)page_bytes;
	/* The table first: what is bound between the two goes to the wrappers as well. */
	dl_iterate_phdr(visit_library, &w);
	if (w.patched)
		dl_iterate_phdr(visit_importer, &w);
	return w.patched;
}
