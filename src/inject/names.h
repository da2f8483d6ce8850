#ifndef FW_INJECT_NAMES_H
#define FW_INJECT_NAMES_H
/*
 * Names by number: each text is written once, before its first use. Bounded: when the table is full, new
 * names are unknown (0). One thread.
 */
#include "inject/sink.h"

#define FW_NAMES_MOST  65536u
#define FW_NAMES_BYTES (32u << 20) /* of all texts together */
#define FW_NAME_BYTES  16383u      /* of one; longer ones are cut */

struct fw_name {
	uint32_t text;  /* offset */
	uint32_t bytes; /* without the NUL */
	uint32_t hash;
	uint8_t mark; /* the caller's: 0 at first */
};

struct fw_names {
	struct fw_name *names; /* by id; [0] is not used */
	uint32_t *table;       /* open addressing, ids */
	const void **pointers; /* the pointer that last gave the id in that place, a cache */
	uint32_t *pointer_ids;
	char *texts;
	uint32_t count, text_bytes;
	uint64_t left_out; /* texts that had no room */
};

bool fw_names_open(struct fw_names *names); /* once; again (a new file) forgets all */

/* The id of a text; a new one is written to the sink. 0: NULL, or no room. */
uint32_t fw_names_id(struct fw_names *names, struct fw_sink *sink, const char *text);

/* The same, quicker for texts that come by the same pointer again and again. */
uint32_t fw_names_id_at(struct fw_names *names, struct fw_sink *sink, const char *text);

#endif
