/* Unix archives: GNU and BSD names; symbol tables are passed over. */
#include "binary/archive.h"

#define HEADER_BYTES 60
#define NAME_BYTES   16

bool fw_is_archive(struct fw_span file)
{
	return fw_span_starts(file, "!<arch>\n", 8);
}

bool fw_is_thin_archive(struct fw_span file)
{
	return fw_span_starts(file, "!<thin>\n", 8);
}

/* A decimal number padded with blanks; UINT64_MAX if it is not one. */
static uint64_t number(const unsigned char *p, size_t len)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < len && p[i] >= '0' && p[i] <= '9'; i++)
		value = value * 10 + (uint64_t)(p[i] - '0');
	return i ? value : UINT64_MAX;
}

static size_t length_before(const unsigned char *p, size_t most, const char *stops)
{
	size_t len = 0;

	while (len < most && !strchr(stops, p[len]))
		len++;
	return len;
}

/* Sets the name; moves it off the front of the bytes where BSD keeps it there. */
static bool read_name(const struct fw_archive *archive, const unsigned char *header,
		      struct fw_archive_member *member)
{
	uint64_t n;

	if (memcmp(header, "#1/", 3) == 0) {
		struct fw_span name;

		n = number(header + 3, NAME_BYTES - 3);
		if (!fw_span_part(member->bytes, 0, n, &name))
			return false;
		member->name = (const char *)name.data;
		member->name_len = length_before(name.data, name.size, "");
		return fw_span_part(member->bytes, n, member->bytes.size - n, &member->bytes);
	}
	if (header[0] == '/' && header[1] >= '0' && header[1] <= '9') {
		n = number(header + 1, NAME_BYTES - 1);
		if (n >= archive->long_names.size)
			return false;
		member->name = (const char *)archive->long_names.data + n;
		member->name_len = length_before(archive->long_names.data + n,
						 archive->long_names.size - (size_t)n, "/\n");
		return true;
	}
	member->name = (const char *)header;
	member->name_len = length_before(header, NAME_BYTES, "/ ");
	return true;
}

/* The archive's own tables: "/", "/SYM64/", "__.SYMDEF", and "//", the long names. */
static bool is_table(struct fw_archive *archive, const unsigned char *header,
		     const struct fw_archive_member *member)
{
	if (memcmp(header, "// ", 3) == 0) {
		archive->long_names = member->bytes;
		return true;
	}
	return memcmp(header, "/ ", 2) == 0 || memcmp(header, "/SYM64/", 7) == 0 ||
	       memcmp(header, "__.SYMDEF", 9) == 0;
}

bool fw_archive_next(struct fw_archive *archive, struct fw_archive_member *member,
		     fw_status *status, struct fw_error *err)
{
	*status = FW_OK;
	if (!archive->at)
		archive->at = 8;
	while (archive->at < archive->file.size) {
		struct fw_span header;
		size_t at = archive->at;
		uint64_t size;

		if (!fw_span_part(archive->file, at, HEADER_BYTES, &header) ||
		    memcmp(header.data + 58, "`\n", 2) != 0) {
			*status = fw_fail(err, FW_ERR_FORMAT, "damaged member header at %#zx", at);
			return false;
		}
		size = number(header.data + 48, 10);
		if (!fw_span_part(archive->file, at + HEADER_BYTES, size, &member->bytes)) {
			*status = fw_fail(err, FW_ERR_FORMAT, "member at %#zx ends past the file",
					  at);
			return false;
		}
		/* Members begin at even offsets. */
		archive->at = at + HEADER_BYTES + (size_t)size + (size & 1);
		if (is_table(archive, header.data, member))
			continue;
		if (!read_name(archive, header.data, member)) {
			*status = fw_fail(err, FW_ERR_FORMAT, "damaged member name at %#zx", at);
			return false;
		}
		return true;
	}
	return false;
}
