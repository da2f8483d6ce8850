#ifndef FW_BINARY_ZIP_H
#define FW_BINARY_ZIP_H

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"
#include "binary/span.h"

/* One file of a zip archive (a Python wheel is one), as its central directory describes it. */
struct fw_zip_member {
	const char *name;
	unsigned method; /* 0 stored, 8 deflated */
	unsigned flags;
	uint32_t crc;
	uint64_t packed, unpacked, header;
};

bool fw_is_zip(struct fw_span file);

/* Appends the members (struct fw_zip_member), names in arena; folders are left out. */
fw_status fw_zip_list(struct fw_span file, struct fw_arena *arena, struct fw_vec *members,
		      struct fw_error *err);

/* The member's bytes as stored. */
fw_status fw_zip_stored(struct fw_span file, const struct fw_zip_member *member,
			struct fw_span *bytes, struct fw_error *err);

/* Inflates at most size bytes of the start into out; returns how many, 0 on damage. */
size_t fw_zip_peek(struct fw_span packed, unsigned char *out, size_t size);

/*
 * Inflates packed into an unnamed temporary file (in TMPDIR, else /tmp) and maps it: exactly
 * member->unpacked bytes with member->crc.
 */
fw_status fw_zip_inflate(const struct fw_zip_member *member, struct fw_span packed,
			 struct fw_file *file, struct fw_error *err);

#endif
