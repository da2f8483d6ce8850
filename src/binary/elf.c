/* ELF64 files: the header, the section table and names, every offset checked. */
#include "binary/elf.h"

#define HEADER_BYTES  64
#define SECTION_BYTES 64

bool fw_is_elf(struct fw_span file)
{
	return fw_span_starts(file, "\177ELF", 4);
}

static fw_status check_header(struct fw_span file, struct fw_error *err)
{
	if (file.size < HEADER_BYTES)
		return fw_fail(err, FW_ERR_FORMAT, "ELF header cut off after %zu bytes", file.size);
	if (!fw_is_elf(file))
		return fw_fail(err, FW_ERR_FORMAT, "not an ELF file");
	if (file.data[4] != 2 || file.data[5] != 1)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "ELF class %u, data %u: only 64-bit little-endian is read",
			       file.data[4], file.data[5]);
	return FW_OK;
}

struct fw_section fw_elf_section(const struct fw_elf *elf, uint32_t i)
{
	const unsigned char *p = elf->sections + (size_t)i * SECTION_BYTES;

	return (struct fw_section){
		.name = fw_le32(p),
		.type = fw_le32(p + 4),
		.flags = fw_le64(p + 8),
		.offset = fw_le64(p + 24),
		.size = fw_le64(p + 32),
		.link = fw_le32(p + 40),
		.info = fw_le32(p + 44),
	};
}

/* Counts that do not fit 16 bits stand in section 0. */
static fw_status open_sections(struct fw_elf *elf, struct fw_error *err)
{
	const unsigned char *h = elf->file.data;
	uint64_t offset = fw_le64(h + 40), count = fw_le16(h + 60);
	uint32_t names = fw_le16(h + 62);
	struct fw_section section;
	struct fw_span table;

	if (!offset)
		return FW_OK;
	if (fw_le16(h + 58) != SECTION_BYTES)
		return fw_fail(err, FW_ERR_FORMAT, "section headers of %u bytes", fw_le16(h + 58));
	if (!fw_span_part(elf->file, offset, SECTION_BYTES, &table))
		return fw_fail(err, FW_ERR_FORMAT, "section table at %#llx is past the end, %#zx",
			       (unsigned long long)offset, elf->file.size);
	elf->sections = table.data;
	section = fw_elf_section(elf, 0);
	if (!count)
		count = section.size;
	if (names == FW_SYMBOL_XINDEX)
		names = section.link;
	if (count > (elf->file.size - offset) / SECTION_BYTES)
		return fw_fail(err, FW_ERR_FORMAT, "%llu sections end past the file",
			       (unsigned long long)count);
	elf->section_count = (uint32_t)count;
	if (names >= count)
		return fw_fail(err, FW_ERR_FORMAT, "section names in section %u of %llu", names,
			       (unsigned long long)count);
	section = fw_elf_section(elf, names);
	return fw_elf_bytes(elf, &section, &elf->names, err);
}

fw_status fw_elf_open(struct fw_elf *elf, struct fw_span file, struct fw_error *err)
{
	fw_status status = check_header(file, err);

	if (status != FW_OK)
		return status;
	*elf = (struct fw_elf){
		.file = file,
		.os_abi = file.data[7],
		.abi_version = file.data[8],
		.type = fw_le16(file.data + 16),
		.machine = fw_le16(file.data + 18),
		.flags = fw_le32(file.data + 48),
	};
	return open_sections(elf, err);
}

fw_status fw_elf_bytes(const struct fw_elf *elf, const struct fw_section *section,
		       struct fw_span *bytes, struct fw_error *err)
{
	*bytes = (struct fw_span){ 0 };
	if (section->type == FW_SECTION_NOBITS || !section->type)
		return FW_OK;
	if (!fw_span_part(elf->file, section->offset, section->size, bytes))
		return fw_fail(err, FW_ERR_FORMAT, "section at %#llx of %#llx bytes ends past %#zx",
			       (unsigned long long)section->offset,
			       (unsigned long long)section->size, elf->file.size);
	return FW_OK;
}

const char *fw_elf_string(struct fw_span table, uint64_t offset)
{
	size_t most;

	if (offset >= table.size)
		return NULL;
	most = table.size - (size_t)offset;
	if (most > FW_NAME_MAX)
		most = FW_NAME_MAX;
	if (!memchr(table.data + offset, 0, most))
		return NULL;
	return (const char *)table.data + offset;
}
