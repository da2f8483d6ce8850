/* Zip archives (PKWARE APPNOTE 6.3): the central directory, and stored or deflated members. */
#include "binary/zip.h"

#define END_BYTES       22
#define END64_BYTES     56
#define LOCATOR64_BYTES 20
#define CENTRAL_BYTES   46
#define LOCAL_BYTES     30
#define COMMENT_MAX     65535
#define EXTRA_ZIP64     1
/* Deflate's best: 258 bytes for two bits. */
#define DEFLATE_RATIO  1032
#define FLAG_ENCRYPTED 1

bool fw_is_zip(struct fw_span file)
{
	return fw_span_starts(file, "PK\3\4", 4) || fw_span_starts(file, "PK\5\6", 4);
}

/* Offset of the last record that ends the file; SIZE_MAX: none. */
static size_t find_end(struct fw_span file)
{
	size_t lowest;

	if (file.size < END_BYTES)
		return SIZE_MAX;
	lowest = file.size > END_BYTES + COMMENT_MAX ? file.size - END_BYTES - COMMENT_MAX : 0;
	for (size_t at = file.size - END_BYTES + 1; at-- > lowest;) {
		if (!memcmp(file.data + at, "PK\5\6", 4) &&
		    fw_le16(file.data + at + 20) <= file.size - at - END_BYTES)
			return at;
	}
	return SIZE_MAX;
}

/* Where the central directory is and how many entries it should have. */
static fw_status find_directory(struct fw_span file, struct fw_span *directory, uint64_t *count,
				struct fw_error *err)
{
	size_t end = find_end(file);
	uint64_t offset, size;
	struct fw_span record;

	if (end == SIZE_MAX)
		return fw_fail(err, FW_ERR_FORMAT, "zip: no end record, cut off?");
	*count = fw_le16(file.data + end + 10);
	size = fw_le32(file.data + end + 12);
	offset = fw_le32(file.data + end + 16);
	if (end >= LOCATOR64_BYTES && !memcmp(file.data + end - LOCATOR64_BYTES, "PK\6\7", 4)) {
		if (!fw_span_part(file, fw_le64(file.data + end - LOCATOR64_BYTES + 8), END64_BYTES,
				  &record) ||
		    memcmp(record.data, "PK\6\6", 4) != 0)
			return fw_fail(err, FW_ERR_FORMAT, "zip: damaged zip64 end record");
		*count = fw_le64(record.data + 32);
		size = fw_le64(record.data + 40);
		offset = fw_le64(record.data + 48);
	}
	if (!fw_span_part(file, offset, size, directory))
		return fw_fail(err, FW_ERR_FORMAT, "zip: directory at %#llx ends past the file",
			       (unsigned long long)offset);
	return FW_OK;
}

/* Sizes of 4 GiB and more stand in the extra field, those needed only, in this order. */
static void read_extra(struct fw_span extra, struct fw_zip_member *member)
{
	struct fw_span field;

	while (extra.size >= 4) {
		unsigned id = fw_le16(extra.data), size = fw_le16(extra.data + 2);
		uint64_t *const values[] = { &member->unpacked, &member->packed, &member->header };
		size_t at = 0;

		if (!fw_span_part(extra, 4, size, &field))
			return;
		for (size_t i = 0; id == EXTRA_ZIP64 && i < 3; i++) {
			if (*values[i] != UINT32_MAX || field.size - at < 8)
				continue;
			*values[i] = fw_le64(field.data + at);
			at += 8;
		}
		extra.data += 4 + size;
		extra.size -= 4 + size;
	}
}

/* Cuts one entry off the directory. */
static fw_status read_entry(struct fw_span *directory, struct fw_arena *arena,
			    struct fw_vec *members, struct fw_error *err)
{
	const unsigned char *p = directory->data;
	struct fw_zip_member *member;
	size_t name_len, extra_len, size;

	if (directory->size < CENTRAL_BYTES || memcmp(p, "PK\1\2", 4) != 0)
		return fw_fail(err, FW_ERR_FORMAT, "zip: damaged directory entry");
	name_len = fw_le16(p + 28);
	extra_len = fw_le16(p + 30);
	size = CENTRAL_BYTES + name_len + extra_len + fw_le16(p + 32);
	if (size > directory->size)
		return fw_fail(err, FW_ERR_FORMAT, "zip: directory entry cut off");
	directory->data += size;
	directory->size -= size;
	if (!name_len || p[CENTRAL_BYTES + name_len - 1] == '/')
		return FW_OK;
	member = fw_vec_push(members);
	if (!member)
		return fw_fail_nomem(err, sizeof(*member));
	*member = (struct fw_zip_member){
		.name = fw_arena_strndup(arena, (const char *)p + CENTRAL_BYTES, name_len),
		.flags = fw_le16(p + 8),
		.method = fw_le16(p + 10),
		.crc = fw_le32(p + 16),
		.packed = fw_le32(p + 20),
		.unpacked = fw_le32(p + 24),
		.header = fw_le32(p + 42),
	};
	if (!member->name)
		return fw_fail_nomem(err, name_len);
	read_extra((struct fw_span){ p + CENTRAL_BYTES + name_len, extra_len }, member);
	return FW_OK;
}

fw_status fw_zip_list(struct fw_span file, struct fw_arena *arena, struct fw_vec *members,
		      struct fw_error *err)
{
	struct fw_span directory = { 0 };
	uint64_t count = 0;
	fw_status status = find_directory(file, &directory, &count, err);

	/* Each entry takes bytes off the directory, so a false count ends in an error. */
	for (uint64_t i = 0; status == FW_OK && i < count; i++)
		status = read_entry(&directory, arena, members, err);
	return status;
}

fw_status fw_zip_stored(struct fw_span file, const struct fw_zip_member *member,
			struct fw_span *bytes, struct fw_error *err)
{
	struct fw_span header;
	uint64_t offset;

	if (member->flags & FLAG_ENCRYPTED)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "encrypted zip member");
	if (member->method != 0 && member->method != 8)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "zip method %u is not read",
			       member->method);
	if (!fw_span_part(file, member->header, LOCAL_BYTES, &header) ||
	    memcmp(header.data, "PK\3\4", 4) != 0)
		return fw_fail(err, FW_ERR_FORMAT, "zip: no member header at %#llx",
			       (unsigned long long)member->header);
	offset = member->header + LOCAL_BYTES + fw_le16(header.data + 26) +
		 fw_le16(header.data + 28);
	if (!fw_span_part(file, offset, member->packed, bytes))
		return fw_fail(err, FW_ERR_FORMAT, "zip: member at %#llx ends past the file",
			       (unsigned long long)member->header);
	if (member->method == 0 && member->packed != member->unpacked)
		return fw_fail(err, FW_ERR_FORMAT, "zip: stored member of two sizes");
	if (member->unpacked / DEFLATE_RATIO > member->packed)
		return fw_fail(err, FW_ERR_FORMAT, "zip: %llu bytes cannot become %llu",
			       (unsigned long long)member->packed,
			       (unsigned long long)member->unpacked);
	return FW_OK;
}
