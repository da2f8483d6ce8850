#ifndef FW_BINARY_ATTRIBUTES_H
#define FW_BINARY_ATTRIBUTES_H

#include "base/error.h"
#include "binary/span.h"

/* Codes of the records in `.nv.info` sections that we read (docs/format/cubin.md). */
enum fw_attribute {
	FW_ATTR_MAX_THREADS = 0x05,
	FW_ATTR_COMPAT_ACCELERATED = 0x09, /* in .nv.compat only */
	FW_ATTR_REQUIRED_THREADS = 0x10,
	FW_ATTR_FRAME_SIZE = 0x11,
	FW_ATTR_MIN_STACK_SIZE = 0x12,
	FW_ATTR_MAX_REGISTERS = 0x1b,
	FW_ATTR_REGISTERS = 0x2f,
	FW_ATTR_API_VERSION = 0x37,
	FW_ATTR_CLUSTER = 0x3d,
	FW_ATTR_EXPLICIT_CLUSTER = 0x3e,
	FW_ATTR_MAX_CLUSTER_RANK = 0x3f,
	FW_ATTR_VRC = 0x4a,
	FW_ATTR_BARRIERS = 0x4c,
	FW_ATTR_TCGEN05_1 = 0x51,
	FW_ATTR_TCGEN05_2 = 0x52,
	FW_ATTR_REG_RECONFIG = 0x54,
	FW_ATTR_SPILLS = 0x55,
	FW_ATTR_BLOCKS_ARE_CLUSTERS = 0x5b,
};

/* One record: a value of up to 16 bits, or a payload. */
struct fw_record {
	unsigned code;
	unsigned value;
	bool has_payload;
	struct fw_span payload;
};

/* Cuts the next record off rest; false at its end, and on damage, which *damaged tells apart. */
bool fw_record_next(struct fw_span *rest, struct fw_record *record, bool *damaged);

/* Word i of the payload, or fallback where it is shorter. */
uint32_t fw_record_word(const struct fw_record *record, size_t i, uint32_t fallback);

#endif
