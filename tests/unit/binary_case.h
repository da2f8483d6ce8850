#ifndef FW_TESTS_BINARY_CASE_H
#define FW_TESTS_BINARY_CASE_H

/* Device code made byte by byte, as docs/format/cubin.md describes it; for tests only. */
#include "binary/binary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A growing buffer. */
struct bytes {
	unsigned char *data;
	size_t size, cap;
};

static inline void put(struct bytes *b, const void *data, size_t size)
{
	if (b->size + size > b->cap) {
		b->cap = (b->size + size) * 2 + 64;
		b->data = realloc(b->data, b->cap);
		assert_non_null(b->data);
	}
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
}

/* A little-endian number of n bytes. */
static inline void put_le(struct bytes *b, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = i < 8 ? (unsigned char)(value >> (8 * i)) : 0;

		put(b, &byte, 1);
	}
}

static inline void set_le(struct bytes *b, size_t at, uint64_t value, size_t n)
{
	assert_true(at + n <= b->size);
	for (size_t i = 0; i < n; i++)
		b->data[at + i] = (unsigned char)(value >> (8 * i));
}

static inline void free_bytes(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

/* An ELF file under construction: contents first, the section table last. */
struct elf {
	struct bytes file, sections, names;
	uint32_t count;
};

/* machine 190: CUDA, with the ABI's place of the SM number in flags. */
static inline void elf_begin(struct elf *elf, unsigned os_abi, unsigned abi, unsigned type,
			     unsigned machine, uint32_t flags)
{
	*elf = (struct elf){ 0 };
	put(&elf->file, "\177ELF\2\1\1", 7);
	put_le(&elf->file, os_abi, 1);
	put_le(&elf->file, abi, 1);
	put_le(&elf->file, 0, 7);
	put_le(&elf->file, type, 2);
	put_le(&elf->file, machine, 2);
	put_le(&elf->file, 1, 4);
	put_le(&elf->file, 0, 24);
	put_le(&elf->file, flags, 4);
	put_le(&elf->file, 64, 2);
	put_le(&elf->file, 0, 4);
	put_le(&elf->file, 64, 2);
	put_le(&elf->file, 0, 4);
	put(&elf->names, "", 1);
	put(&elf->sections, (char[64]){ 0 }, 64);
	elf->count = 1;
}

/* A section header; returns its number. */
static inline uint32_t elf_header(struct elf *elf, const char *name, uint32_t type, uint64_t flags,
				  uint64_t offset, uint64_t size, uint32_t link, uint32_t info)
{
	struct bytes *b = &elf->sections;

	put_le(b, elf->names.size, 4);
	put(&elf->names, name, strlen(name) + 1);
	put_le(b, type, 4);
	put_le(b, flags, 8);
	put_le(b, 0, 8);
	put_le(b, offset, 8);
	put_le(b, size, 8);
	put_le(b, link, 4);
	put_le(b, info, 4);
	put_le(b, 0, 16);
	return elf->count++;
}

/* A section with contents. */
static inline uint32_t elf_section(struct elf *elf, const char *name, uint32_t type,
				   const void *data, size_t size, uint32_t link)
{
	uint64_t offset = elf->file.size;

	put(&elf->file, data, size);
	return elf_header(elf, name, type, 0, offset, size, link, 0);
}

/* The file; what elf held is freed. */
static inline struct bytes elf_end(struct elf *elf)
{
	uint32_t names;

	names = elf_header(elf, ".shstrtab", 3, 0, elf->file.size, 0, 0, 0);
	set_le(&elf->sections, (size_t)names * 64 + 32, elf->names.size, 8);
	put(&elf->file, elf->names.data, elf->names.size);
	set_le(&elf->file, 40, elf->file.size, 8);
	/* Counts that do not fit 16 bits stand in section 0. */
	set_le(&elf->file, 60, elf->count < 0xff00 ? elf->count : 0, 2);
	set_le(&elf->file, 62, names < 0xff00 ? names : 0xffff, 2);
	set_le(&elf->sections, 32, elf->count < 0xff00 ? 0 : elf->count, 8);
	set_le(&elf->sections, 40, names < 0xff00 ? 0 : names, 4);
	put(&elf->file, elf->sections.data, elf->sections.size);
	free_bytes(&elf->sections);
	free_bytes(&elf->names);
	return elf->file;
}

/* One record of .nv.info: a payload of 32-bit words, or a value where count is 0. */
static inline void put_record(struct bytes *b, unsigned code, const uint32_t *words, size_t count,
			      unsigned value)
{
	put_le(b, count ? 4 : 3, 1);
	put_le(b, code, 1);
	put_le(b, count ? count * 4 : value, 2);
	for (size_t i = 0; i < count; i++)
		put_le(b, words[i], 4);
}

/* What a kernel of a made cubin has. */
struct made_kernel {
	const char *name;
	uint32_t text_info;       /* registers << 24 */
	uint64_t text_flags;      /* barriers << 20 */
	const struct bytes *info; /* of .nv.info.<name>; NULL: none */
	uint64_t shared;          /* size of .nv.shared.<name>; 0: none */
};

/* A cubin with one kernel, which is symbol 1, and global as its .nv.info. */
static inline struct bytes make_cubin(unsigned os_abi, unsigned abi, unsigned type, uint32_t flags,
				      const struct made_kernel *kernel, const struct bytes *global)
{
	struct bytes strings = { 0 }, symbols = { 0 };
	struct elf elf;
	char name[300];
	uint32_t text, table;

	elf_begin(&elf, os_abi, abi, type, 190, flags);
	snprintf(name, sizeof(name), ".text.%s", kernel->name);
	text = elf_header(&elf, name, 1, kernel->text_flags, 64, 0, 0, kernel->text_info);
	put(&strings, "", 1);
	put(&strings, kernel->name, strlen(kernel->name) + 1);
	table = elf_section(&elf, ".strtab", 3, strings.data, strings.size, 0);
	put(&symbols, (char[24]){ 0 }, 24);
	put_le(&symbols, 1, 4);
	put_le(&symbols, 0x12, 1); /* global function */
	put_le(&symbols, 0x10, 1); /* an entry */
	put_le(&symbols, text, 2);
	put_le(&symbols, 0, 16);
	elf_section(&elf, ".symtab", 2, symbols.data, symbols.size, table);
	if (global)
		elf_section(&elf, ".nv.info", 0x70000000, global->data, global->size, 0);
	snprintf(name, sizeof(name), ".nv.info.%s", kernel->name);
	if (kernel->info)
		elf_section(&elf, name, 0x70000000, kernel->info->data, kernel->info->size, 0);
	snprintf(name, sizeof(name), ".nv.shared.%s", kernel->name);
	if (kernel->shared)
		elf_header(&elf, name, 8, 3, 64, kernel->shared, 0, text);
	free_bytes(&strings);
	free_bytes(&symbols);
	return elf_end(&elf);
}

/* The header of a fatbin of size bytes of entries. */
static inline void put_fatbin(struct bytes *b, uint64_t size)
{
	put_le(b, 0xba55ed50, 4);
	put_le(b, 1, 2);
	put_le(b, 16, 2);
	put_le(b, size, 8);
}

/* One entry, whose payload must be a multiple of 8 bytes; packed 0: stored raw. */
static inline void put_entry(struct bytes *b, unsigned kind, uint32_t sm, uint64_t flags,
			     const struct bytes *payload, uint32_t packed, uint64_t unpacked)
{
	put_le(b, kind, 2);
	put_le(b, 0x0101, 2);
	put_le(b, 64, 4);
	put_le(b, payload->size, 8);
	put_le(b, packed, 4);
	put_le(b, 0, 4);
	put_le(b, 7, 2);
	put_le(b, 1, 2);
	put_le(b, sm, 4);
	put_le(b, 0, 8);
	put_le(b, flags, 8);
	put_le(b, 0, 8);
	put_le(b, unpacked, 8);
	put(b, payload->data, payload->size);
}

static inline void pad_to_8(struct bytes *b)
{
	put_le(b, 0, (8 - b->size % 8) % 8);
}

/* Reads the bytes from a block of exactly their size, so that the sanitizer sees any read past it. */
static inline fw_status open_made(struct fw_binary **binary, const struct bytes *b,
				  unsigned char **copy, struct fw_error *err)
{
	const struct fw_binary_options options = { .threads = 1 };

	*copy = malloc(b->size ? b->size : 1);
	assert_non_null(*copy);
	if (b->size)
		memcpy(*copy, b->data, b->size);
	return fw_binary_open_bytes(binary, *copy, b->size, "made", &options, err);
}

/* For bytes that must be read without a problem; close_made frees both. */
static inline struct fw_binary *read_made(const struct bytes *b, unsigned char **copy)
{
	struct fw_binary *binary = NULL;
	struct fw_error err = { 0 };

	if (open_made(&binary, b, copy, &err))
		fail_msg("%s", err.message);
	return binary;
}

static inline void close_made(struct fw_binary *binary, unsigned char *copy)
{
	fw_binary_close(binary);
	free(copy);
}

#endif
