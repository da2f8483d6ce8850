/* The records of `.nv.info` and `.nv.compat` sections. */
#include "binary/attributes.h"

enum { FORMAT_PADDING, FORMAT_NONE, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };

bool fw_record_next(struct fw_span *rest, struct fw_record *record, bool *damaged)
{
	unsigned format, value;
	size_t size = 4;

	*damaged = false;
	if (!rest->size)
		return false;
	*damaged = true;
	if (rest->size < 4)
		return false;
	format = rest->data[0];
	value = fw_le16(rest->data + 2);
	*record = (struct fw_record){ .code = rest->data[1], .value = value };
	if (format == FORMAT_SIZED) {
		record->has_payload = true;
		if (!fw_span_part(*rest, 4, value, &record->payload))
			return false;
		size += value;
	} else if (format == FORMAT_BYTE) {
		record->value = value & 0xff;
	} else if (format > FORMAT_SIZED || (format == FORMAT_PADDING && (record->code || value))) {
		return false;
	}
	rest->data += size;
	rest->size -= size;
	*damaged = false;
	return true;
}

uint32_t fw_record_word(const struct fw_record *record, size_t i, uint32_t fallback)
{
	if (record->payload.size / 4 <= i)
		return fallback;
	return fw_le32(record->payload.data + 4 * i);
}
