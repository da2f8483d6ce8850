#ifndef FW_BINARY_ELF_H
#define FW_BINARY_ELF_H

#include "base/error.h"
#include "binary/span.h"

/* Values of the ELF format (System V ABI) and of CUDA's use of it (docs/format/cubin.md). */
#define FW_ELF_MACHINE_CUDA   190
#define FW_ELF_RELOCATABLE    1
#define FW_ELF_EXECUTABLE     2
#define FW_SECTION_PROGBITS   1
#define FW_SECTION_SYMTAB     2
#define FW_SECTION_NOBITS     8
#define FW_SECTION_SYMNDX     18
#define FW_SECTION_EXECUTABLE 4 /* a flag */
#define FW_SYMBOL_BYTES       24
#define FW_SYMBOL_FUNC        2
#define FW_SYMBOL_XINDEX      0xffff

/* A 64-bit little-endian ELF file whose section table lies inside it. Borrows the bytes. */
struct fw_elf {
	struct fw_span file;
	unsigned os_abi, abi_version, type, machine, flags;
	uint32_t section_count;
	const unsigned char *sections;
	struct fw_span names;
};

struct fw_section {
	uint32_t name, type, link, info;
	uint64_t flags, offset, size;
};

bool fw_is_elf(struct fw_span file);
fw_status fw_elf_open(struct fw_elf *elf, struct fw_span file, struct fw_error *err);

/* Section i, which must be below section_count. */
struct fw_section fw_elf_section(const struct fw_elf *elf, uint32_t i);

/* Its bytes; none for NOBITS. */
fw_status fw_elf_bytes(const struct fw_elf *elf, const struct fw_section *section,
		       struct fw_span *bytes, struct fw_error *err);

/* The string at offset of a string table, or NULL where none ends inside it within FW_NAME_MAX. */
const char *fw_elf_string(struct fw_span table, uint64_t offset);

#endif
