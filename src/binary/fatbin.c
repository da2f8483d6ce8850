/* Fatbin containers: finding them in bytes and listing their entries. docs/format/cubin.md. */
#include "binary/fatbin.h"

#define MAGIC        0xba55ed50u
#define HEADER_BYTES 16
#define ENTRY_BYTES  64

/* Longer entry headers than this were never seen (128 is the most); it bounds damage. */
#define ENTRY_BYTES_MAX 4096

enum { KIND_PTX = 1, KIND_ELF = 2, KIND_LTO = 8 };

#define FLAG_LZ4    0x2000u
#define FLAG_ZSTD   0x8000u
#define FLAG_CHIP   0x100000u
#define FLAG_FAMILY 0x200000u

struct entry {
	unsigned kind;
	uint64_t header, payload, unpacked, flags;
	uint32_t packed, cc;
	unsigned major, minor;
};

/* The entry at the start of bytes; false if it does not fit. */
static bool read_entry(struct fw_span bytes, struct entry *entry)
{
	const unsigned char *p = bytes.data;

	if (bytes.size < ENTRY_BYTES || fw_le16(p + 2) != 0x0101)
		return false;
	*entry = (struct entry){
		.kind = fw_le16(p),
		.header = fw_le32(p + 4),
		.payload = fw_le64(p + 8),
		.packed = fw_le32(p + 16),
		.minor = fw_le16(p + 24),
		.major = fw_le16(p + 26),
		.cc = fw_le32(p + 28),
		.flags = fw_le64(p + 40),
		.unpacked = fw_le64(p + 56),
	};
	return entry->header >= ENTRY_BYTES && entry->header <= ENTRY_BYTES_MAX &&
	       entry->header <= bytes.size && entry->payload <= bytes.size - entry->header &&
	       entry->packed <= entry->payload;
}

static enum fw_fatbin_find check(struct fw_span bytes, size_t offset, struct fw_fatbin *fatbin)
{
	struct fw_span rest = { bytes.data + offset, bytes.size - offset };
	struct entry entry;
	uint64_t size;

	if (rest.size < HEADER_BYTES || fw_le16(rest.data + 4) != 1 ||
	    fw_le16(rest.data + 6) != HEADER_BYTES)
		return FW_FATBIN_NONE;
	fatbin->offset = offset;
	size = fw_le64(rest.data + 8);
	if (size > rest.size - HEADER_BYTES)
		return FW_FATBIN_DAMAGED;
	fatbin->bytes = (struct fw_span){ rest.data, HEADER_BYTES + (size_t)size };
	/* The stub in programs linked with the static run-time has no entry. */
	rest = (struct fw_span){ rest.data + HEADER_BYTES, (size_t)size };
	if (rest.size >= ENTRY_BYTES && !read_entry(rest, &entry))
		return FW_FATBIN_DAMAGED;
	return FW_FATBIN_FOUND;
}

enum fw_fatbin_find fw_fatbin_next(struct fw_span bytes, size_t *from, struct fw_fatbin *fatbin)
{
	size_t at = *from;

	while (at < bytes.size && bytes.size - at >= 4) {
		/* The second byte of the magic number is the rarest in code and data. */
		const unsigned char *p = memchr(bytes.data + at + 1, 0xed, bytes.size - at - 1);
		enum fw_fatbin_find result = FW_FATBIN_NONE;

		if (!p)
			break;
		at = (size_t)(p - bytes.data) - 1;
		if (bytes.size - at >= 4 && fw_le32(bytes.data + at) == MAGIC)
			result = check(bytes, at, fatbin);
		*from = result == FW_FATBIN_FOUND ? at + fatbin->bytes.size : at + 1;
		if (result != FW_FATBIN_NONE)
			return result;
		at++;
	}
	*from = bytes.size;
	return FW_FATBIN_NONE;
}

static enum fw_image_kind image_kind(unsigned kind)
{
	switch (kind) {
	case KIND_PTX: return FW_IMAGE_PTX;
	case KIND_ELF: return FW_IMAGE_CUBIN;
	case KIND_LTO: return FW_IMAGE_LTO;
	default: return FW_IMAGE_OTHER;
	}
}

static void fill_job(struct fw_job *job, const struct entry *entry, const unsigned char *p)
{
	struct fw_image *image = &job->image;

	job->packed = (struct fw_span){ p + entry->header, (size_t)entry->payload };
	image->bytes = entry->payload;
	if (entry->packed && entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) {
		job->packing = entry->flags & FLAG_ZSTD ? FW_PACKING_ZSTD : FW_PACKING_LZ4;
		job->packed.size = entry->packed;
		image->bytes = entry->unpacked;
		image->is_compressed = true;
	}
	image->kind = image_kind(entry->kind);
	image->target.cc = entry->cc <= 9999 ? (int)entry->cc : FW_UNKNOWN;
	if (entry->flags & FLAG_CHIP)
		image->target.suffix = 'a';
	else if (entry->flags & FLAG_FAMILY)
		image->target.suffix = 'f';
	image->abi = image->toolkit = image->ptx_version = FW_UNKNOWN;
	if (image->kind == FW_IMAGE_PTX)
		image->ptx_version = (int)(entry->major * 10 + entry->minor);
}

fw_status fw_fatbin_entries(struct fw_vec *jobs, const struct fw_fatbin *fatbin,
			    struct fw_error *err)
{
	size_t at = HEADER_BYTES;
	uint32_t number = 0;

	/* Less than an entry's header at the end is padding. */
	while (fatbin->bytes.size - at >= ENTRY_BYTES) {
		struct fw_span rest = { fatbin->bytes.data + at, fatbin->bytes.size - at };
		struct entry entry;
		struct fw_job *job;

		if (!read_entry(rest, &entry))
			return fw_fail(err, FW_ERR_FORMAT, "entry %u at %#zx is damaged", number,
				       fatbin->offset + at);
		job = fw_vec_push(jobs);
		if (!job)
			return fw_fail_nomem(err, sizeof(*job));
		fill_job(job, &entry, rest.data);
		job->image.entry = number++;
		at += (size_t)(entry.header + entry.payload);
	}
	return FW_OK;
}
