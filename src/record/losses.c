#include "record/losses.h"

#include "trace/recording_chunks.h"

#include <string.h>

static bool is_unwanted(uint32_t reason)
{
	return reason == FW_REC_LOSS_PAUSED || reason == FW_REC_LOSS_OTHER_PROFILER;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t of_payload(const unsigned char *payload, uint32_t size)
{
	uint64_t lost = 0;

	while (size >= sizeof(struct fw_rec)) {
		struct fw_rec_loss loss;

		memcpy(&loss.head, payload, sizeof(loss.head));
		if (loss.head.size < sizeof(loss.head) || loss.head.size > size)
			break;
		if (loss.head.kind == FW_REC_LOSS && loss.head.size >= sizeof(loss)) {
			memcpy(&loss, payload, sizeof(loss));
			if (!is_unwanted(loss.head.extra))
				lost = add(lost, loss.count);
		}
		payload += loss.head.size;
		size -= loss.head.size;
	}
	return lost;
}

uint64_t fw_record_losses(const char *path)
{
	struct fw_integrity flaws = { 0 };
	struct fw_rec_chunks chunks;
	uint64_t lost = 0;
	bool found = true;

	if (!fw_rec_chunks_open(&chunks, path, NULL))
		while (!fw_rec_chunks_next(&chunks, &flaws, &found, NULL) && found)
			lost = add(lost, of_payload(chunks.payload, chunks.payload_bytes));
	fw_rec_chunks_close(&chunks);
	return lost;
}
