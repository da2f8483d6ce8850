/* Compressed fatbin entries -> the image's bytes, never more than the entry declares. */
#include "binary/fatbin.h"

#include <lz4.h>
#include <zstd.h>

/* An LZ4 byte cannot stand for more than 255; zstd has no such bound, its output is cut off. */
#define LZ4_RATIO 255

static fw_status unpack_lz4(struct fw_reader *reader, const struct fw_job *job,
			    struct fw_error *err)
{
	uint64_t size = job->image.bytes;
	int n;

	if (job->packed.size > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE ||
	    size / LZ4_RATIO > job->packed.size)
		return fw_fail(err, FW_ERR_FORMAT, "LZ4: %zu bytes cannot become %llu",
			       job->packed.size, (unsigned long long)size);
	n = LZ4_decompress_safe((const char *)job->packed.data, (char *)reader->buffer,
				(int)job->packed.size, (int)size);
	if (n < 0 || (uint64_t)n != size)
		return fw_fail(err, FW_ERR_FORMAT, "LZ4: damaged, %d of %llu bytes", n,
			       (unsigned long long)size);
	return FW_OK;
}

static fw_status unpack_zstd(struct fw_reader *reader, const struct fw_job *job,
			     struct fw_error *err)
{
	uint64_t size = job->image.bytes;
	size_t n;

	if (!reader->zstd)
		reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd)
		return fw_fail(err, FW_ERR_NOMEM, "zstd: out of memory");
	n = ZSTD_decompressDCtx(reader->zstd, reader->buffer, (size_t)size, job->packed.data,
				job->packed.size);
	if (ZSTD_isError(n))
		return fw_fail(err, FW_ERR_FORMAT, "zstd: %s", ZSTD_getErrorName(n));
	if (n != size)
		return fw_fail(err, FW_ERR_FORMAT, "zstd: %zu bytes instead of %llu", n,
			       (unsigned long long)size);
	return FW_OK;
}

fw_status fw_unpack(struct fw_reader *reader, const struct fw_job *job, struct fw_span *bytes,
		    struct fw_error *err)
{
	fw_status status = FW_OK;

	if (job->packing == FW_PACKING_NONE) {
		*bytes = job->packed;
		return FW_OK;
	}
	if (!job->image.bytes)
		return fw_fail(err, FW_ERR_FORMAT, "compressed entry declares 0 bytes");
	if (job->packing == FW_PACKING_LZ4)
		status = unpack_lz4(reader, job, err);
	else
		status = unpack_zstd(reader, job, err);
	*bytes = (struct fw_span){ reader->buffer, (size_t)job->image.bytes };
	return status;
}

void fw_unpack_release(struct fw_reader *reader)
{
	ZSTD_freeDCtx(reader->zstd);
	reader->zstd = NULL;
}
