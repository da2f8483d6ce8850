#include "inject/nvtx_text.h"

#include "base/utf8.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define TEXTS       4096u /* a power of two */
#define TEXTS_BYTES (1u << 20)

static const char *_Atomic table[TEXTS]; /* open addressing */
static char texts[TEXTS_BYTES];          /* given out from the start, never taken back */
static _Atomic size_t texts_used;
static const char more_texts[] = "(further names)";

struct fw_nvtx_message fw_nvtx_message_of(const struct fw_nvtx_attributes *attributes)
{
	struct fw_nvtx_message none = { FW_NVTX_NO_MESSAGE, NULL };

	if (!attributes || attributes->size < sizeof(*attributes))
		return none;
	return (struct fw_nvtx_message){ (enum fw_nvtx_message_type)attributes->message_type,
					 attributes->message };
}

/* Replaces bytes that are no part of a character; the last ones may be the begin of one that was cut. */
static size_t make_utf8(char *text, size_t bytes, bool was_cut)
{
	for (size_t i = 0; i < bytes;) {
		size_t length = fw_utf8_length(text + i, bytes - i);

		if (!length && was_cut && bytes - i < 4 && (text[i] & 0xc0) == 0xc0)
			return i;
		if (!length)
			text[i] = '?';
		i += length ? length : 1;
	}
	return bytes;
}

static size_t copy_narrow(char *to, size_t most, const char *from)
{
	size_t bytes = strnlen(from, most);
	char high = 0;

	for (size_t i = 0; i < bytes; i++) {
		to[i] = from[i];
		high |= from[i];
	}
	return high & 0x80 ? make_utf8(to, bytes, bytes == most && from[most]) : bytes;
}

/* wchar_t is UTF-32 here. */
static size_t put_character(char *to, size_t most, uint32_t code)
{
	unsigned char bytes[4];
	size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
		code = '?';
		count = 1;
	}
	if (count > most)
		return 0;
	for (size_t i = count; i-- > 1; code >>= 6)
		bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
	bytes[0] = (unsigned char)(count == 1 ? code : (0xf00u >> count & 0xf0u) | code);
	memcpy(to, bytes, count);
	return count;
}

static size_t copy_wide(char *to, size_t most, const wchar_t *from)
{
	size_t bytes = 0;

	for (; *from; from++) {
		size_t count = put_character(to + bytes, most - bytes, (uint32_t)*from);

		if (!count)
			break;
		bytes += count;
	}
	return bytes;
}

size_t fw_nvtx_copy(char *to, size_t most, struct fw_nvtx_message message)
{
	if (!message.text)
		return 0;
	if (message.type == FW_NVTX_ASCII || message.type == FW_NVTX_REGISTERED)
		return copy_narrow(to, most, message.text);
	if (message.type == FW_NVTX_WIDE)
		return copy_wide(to, most, message.text);
	return 0;
}

static uint32_t hash(const char *text, size_t bytes)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

static const char *keep(const char *text, size_t bytes)
{
	size_t at = atomic_fetch_add_explicit(&texts_used, bytes + 1, memory_order_relaxed);

	if (at > TEXTS_BYTES - (FW_NVTX_TEXT_BYTES + 1)) {
		/* So that it cannot wrap around. */
		atomic_store_explicit(&texts_used, TEXTS_BYTES, memory_order_relaxed);
		return NULL;
	}
	memcpy(texts + at, text, bytes);
	texts[at + bytes] = 0;
	return texts + at;
}

const char *fw_nvtx_intern(struct fw_nvtx_message message)
{
	char text[FW_NVTX_TEXT_BYTES + 1];
	size_t bytes = fw_nvtx_copy(text, FW_NVTX_TEXT_BYTES, message);
	const char *kept = NULL;
	uint32_t at = hash(text, bytes);

	if (!message.text)
		return NULL;
	text[bytes] = 0;
	for (uint32_t i = 0; i < TEXTS; i++, at++) {
		const char *_Atomic *place = &table[at & (TEXTS - 1)];
		const char *there = atomic_load_explicit(place, memory_order_acquire);

		if (!there) {
			if (!kept && !(kept = keep(text, bytes)))
				return more_texts;
			if (atomic_compare_exchange_strong(place, &there, kept))
				return kept;
		}
		if (!strcmp(there, text))
			return there;
	}
	return more_texts;
}
