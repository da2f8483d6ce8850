#include "doctor/dynamic.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

/* Longest name, longest path list that is taken; entries of the section that are looked at. */
#define NAME_MOST    256u
#define LIST_MOST    16384u
#define ENTRIES_MOST 65536u

struct image {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	uint64_t text_at, text_size; /* of the string table, in the file */
};

static bool take(const struct image *image, uint64_t at, void *to, size_t size)
{
	if (at > image->size || size > image->size - at)
		return false;
	memcpy(to, image->bytes + at, size);
	return true;
}

static bool segment(const struct image *image, unsigned i, Elf64_Phdr *header)
{
	uint64_t at;

	return !__builtin_add_overflow(image->header.e_phoff, (uint64_t)i * sizeof(*header), &at) &&
	       take(image, at, header, sizeof(*header));
}

/* Where the file holds what is loaded at an address. */
static bool locate(const struct image *image, uint64_t address, uint64_t *at)
{
	Elf64_Phdr load;

	for (unsigned i = 0; i < image->header.e_phnum && segment(image, i, &load); i++)
		if (load.p_type == PT_LOAD && address >= load.p_vaddr &&
		    address - load.p_vaddr < load.p_filesz)
			return !__builtin_add_overflow(load.p_offset, address - load.p_vaddr, at);
	return false;
}

/* NULL: it does not end within the table, or memory is out. */
static const char *text_at(const struct image *image, struct fw_arena *arena, uint64_t offset,
			   size_t longest)
{
	const char *start;
	uint64_t most;
	size_t len;

	if (offset >= image->text_size)
		return NULL;
	start = (const char *)image->bytes + image->text_at + offset;
	most = image->text_size - offset;
	len = strnlen(start, most < longest ? most : longest);
	return len == most || len == longest ? NULL : fw_arena_strndup(arena, start, len);
}

/* The string table's place, which other entries count from. */
static bool find_text(struct image *image, uint64_t at, uint64_t count)
{
	uint64_t address = 0;
	Elf64_Dyn entry;

	for (uint64_t i = 0;
	     i < count && take(image, at + i * sizeof(entry), &entry, sizeof(entry)); i++) {
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			address = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			image->text_size = entry.d_un.d_val;
	}
	return address && locate(image, address, &image->text_at) &&
	       image->text_at <= image->size && image->text_size <= image->size - image->text_at;
}

static void take_entry(struct fw_dynamic *dynamic, int64_t tag, const char *text)
{
	switch (tag) {
	case DT_NEEDED:
		if (dynamic->needed_count < FW_DYNAMIC_NEEDED)
			dynamic->needed[dynamic->needed_count++] = text;
		break;
	case DT_RPATH: dynamic->rpath = text; break;
	case DT_RUNPATH: dynamic->runpath = text; break;
	case DT_SONAME: dynamic->soname = text; break;
	default: break;
	}
}

static bool is_text(int64_t tag)
{
	return tag == DT_NEEDED || tag == DT_RPATH || tag == DT_RUNPATH || tag == DT_SONAME;
}

static fw_status read_section(struct fw_dynamic *dynamic, struct fw_arena *arena,
			      struct image *image, const Elf64_Phdr *section, struct fw_error *err)
{
	uint64_t count = section->p_filesz / sizeof(Elf64_Dyn), at = section->p_offset;
	Elf64_Dyn entry;

	if (count > ENTRIES_MOST || at > image->size)
		return fw_fail(err, FW_ERR_FORMAT, "the dynamic section has %llu bytes at %llu",
			       (unsigned long long)section->p_filesz, (unsigned long long)at);
	if (!find_text(image, at, count))
		return fw_fail(err, FW_ERR_FORMAT, "the dynamic section names no string table");
	for (uint64_t i = 0;
	     i < count && take(image, at + i * sizeof(entry), &entry, sizeof(entry)); i++) {
		const char *text;

		if (entry.d_tag == DT_NULL)
			break;
		if (!is_text(entry.d_tag))
			continue;
		text = text_at(image, arena, entry.d_un.d_val,
			       entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH ? LIST_MOST
										    : NAME_MOST);
		if (!text)
			return fw_fail(err, FW_ERR_FORMAT,
				       "a name of the dynamic section is cut or too long");
		take_entry(dynamic, entry.d_tag, text);
	}
	return FW_OK;
}

fw_status fw_dynamic_read(struct fw_dynamic *dynamic, struct fw_arena *arena, const void *bytes,
			  size_t size, struct fw_error *err)
{
	struct image image = { .bytes = bytes, .size = size };
	const unsigned char *ident = image.header.e_ident;
	Elf64_Phdr section;

	*dynamic = (struct fw_dynamic){ 0 };
	if (!take(&image, 0, &image.header, sizeof(image.header)) ||
	    memcmp(ident, ELFMAG, SELFMAG) || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB || image.header.e_phentsize != sizeof(Elf64_Phdr))
		return fw_fail(err, FW_ERR_FORMAT, "not a 64-bit ELF program");
	dynamic->machine = image.header.e_machine;
	for (unsigned i = 0; i < image.header.e_phnum && segment(&image, i, &section); i++)
		if (section.p_type == PT_DYNAMIC)
			return read_section(dynamic, arena, &image, &section, err);
	return FW_OK; /* a static program */
}
