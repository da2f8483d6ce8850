/* A number that tells whether two configurations were compiled to the same machine code. */
#include "base/map.h"
#include "binary/elf.h"
#include "tune/resources.h"

#include <string.h>

/* Code, constants, launch attributes and shared memory of the kernel, and what all kernels of the file share. */
static bool belongs(const char *section, const char *kernel)
{
	static const char *const own[] = { ".text.", ".nv.constant", ".nv.info.", ".nv.shared." };
	static const char *const shared[] = { ".nv.global", ".nv.global.init", ".nv.constant3",
					      ".nv.constant4" };
	size_t len = strlen(section), kernel_len = strlen(kernel);

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (!strcmp(section, shared[i]))
			return true;
	if (len <= kernel_len || strcmp(section + len - kernel_len, kernel) ||
	    section[len - kernel_len - 1] != '.')
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(section, own[i], strlen(own[i])))
			return true;
	return false;
}

uint64_t fw_tune_code_hash(const struct fw_tune_cubin *code)
{
	struct fw_span file = { code->cubin, code->bytes };
	uint64_t hash = UINT64_C(0x243f6a8885a308d3);
	struct fw_elf elf;

	if (fw_elf_open(&elf, file, NULL))
		return fw_hash_bytes(code->cubin, code->bytes) | 1;
	for (uint32_t i = 0; i < elf.section_count; i++) {
		struct fw_section section = fw_elf_section(&elf, i);
		const char *name = fw_elf_string(elf.names, section.name);
		struct fw_span bytes = { 0 };

		if (!name || !belongs(name, code->kernel) ||
		    fw_elf_bytes(&elf, &section, &bytes, NULL))
			continue;
		hash = fw_hash_u64(hash ^ section.size);
		hash = fw_hash_u64(hash ^ fw_hash_bytes(bytes.data, bytes.size));
	}
	return hash ? hash : 1;
}
