#include "inject/layout.h"

#include "gpu/cupti.h"

size_t fw_cupti_record_bytes(uint32_t version, uint32_t kind)
{
	static const struct {
		uint32_t kind, from;
		size_t bytes;
	} layouts[] = {
#define FW_LAYOUT(kind, record, from, bytes, header, source) { FW_CUPTI_##kind, from, bytes },
#include "inject/layout.def"
#undef FW_LAYOUT
	};
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].kind == kind && version >= layouts[i].from)
			bytes = layouts[i].bytes;
	return bytes;
}

#define FW_LAYOUT(kind, record, from, bytes, header, source)                                       \
	_Static_assert((bytes) <= sizeof(struct fw_cupti_##record), "read into that struct");
#include "inject/layout.def"
#undef FW_LAYOUT
