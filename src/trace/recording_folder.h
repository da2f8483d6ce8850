#ifndef FW_TRACE_RECORDING_FOLDER_H
#define FW_TRACE_RECORDING_FOLDER_H
/* Which files folders and paths of a recording stand for. One thread. */
#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

struct fw_rec_part {
	const char *path;    /* of the list's arena */
	const char *refused; /* why it is not to be read; NULL: it is */
	uint64_t size;       /* bytes */
	uint16_t kind;       /* enum fw_rec_file_kind; 0: its header cannot be read */
	int64_t start_mono;
};

struct fw_rec_parts {
	struct fw_vec list; /* struct fw_rec_part */
	struct fw_map seen; /* (device, inode) -> index in list + 1 */
	struct fw_arena arena;
};

#define FW_REC_PARTS                                                                               \
	{                                                                                          \
		.list = FW_VEC(struct fw_rec_part)                                                 \
	}

/* A folder's *.fwr, or a file. FW_ERR_FORMAT: the folder has none; FW_ERR_IO: it cannot be read. */
fw_status fw_rec_parts_add(struct fw_rec_parts *parts, const char *path, struct fw_error *err);

/* Processes first, then Python, counters and host samples; each in the order of their starts. */
void fw_rec_parts_sort(struct fw_rec_parts *parts);
void fw_rec_parts_release(struct fw_rec_parts *parts);

#endif
