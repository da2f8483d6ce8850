#ifndef FW_BINARY_FATBIN_H
#define FW_BINARY_FATBIN_H

#include "binary/reader.h"

/* A fatbin container inside bytes: where it begins and its size with the header. */
struct fw_fatbin {
	size_t offset;
	struct fw_span bytes;
};

/*
 * The next container at or after *from, which moves behind it. Damaged: there is a container's header
 * at fatbin->offset, but not what it promises (chance matches of the magic number are passed over).
 */
enum fw_fatbin_find { FW_FATBIN_NONE, FW_FATBIN_FOUND, FW_FATBIN_DAMAGED };
enum fw_fatbin_find fw_fatbin_next(struct fw_span bytes, size_t *from, struct fw_fatbin *fatbin);

/*
 * Appends a job (struct fw_job) for every entry of the container; image.source, offset and container
 * are the caller's to fill. Fails on the first damaged entry; those before it stay.
 */
fw_status fw_fatbin_entries(struct fw_vec *jobs, const struct fw_fatbin *fatbin,
			    struct fw_error *err);

/*
 * The image's bytes: job->packed itself, or unpacked into the reader's buffer of at least
 * job->image.bytes. Fails unless exactly that many come out.
 */
fw_status fw_unpack(struct fw_reader *reader, const struct fw_job *job, struct fw_span *bytes,
		    struct fw_error *err);

/* Frees what fw_unpack keeps between calls. */
void fw_unpack_release(struct fw_reader *reader);

#endif
