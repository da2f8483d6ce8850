#include "trace/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Eight bytes at a time. Entry b of table k is the CRC of byte b and k zeros, and CRCs add up by XOR: each is put
 * together from those of the eight bits, which are the numbers below.
 */
#define ENTRY(b, k0, k1, k2, k3, k4, k5, k6, k7)                                                   \
	(((b)&1 ? (k0) : 0u) ^ ((b)&2 ? (k1) : 0u) ^ ((b)&4 ? (k2) : 0u) ^ ((b)&8 ? (k3) : 0u) ^   \
	 ((b)&16 ? (k4) : 0u) ^ ((b)&32 ? (k5) : 0u) ^ ((b)&64 ? (k6) : 0u) ^                      \
	 ((b)&128 ? (k7) : 0u))
#define FOUR(b, ...)                                                                               \
	ENTRY((b), __VA_ARGS__), ENTRY((b) + 1, __VA_ARGS__), ENTRY((b) + 2, __VA_ARGS__),         \
		ENTRY((b) + 3, __VA_ARGS__)
#define SIXTEEN(b, ...)                                                                            \
	FOUR((b), __VA_ARGS__), FOUR((b) + 4, __VA_ARGS__), FOUR((b) + 8, __VA_ARGS__),            \
		FOUR((b) + 12, __VA_ARGS__)
#define SIXTY_FOUR(b, ...)                                                                         \
	SIXTEEN((b), __VA_ARGS__), SIXTEEN((b) + 16, __VA_ARGS__), SIXTEEN((b) + 32, __VA_ARGS__), \
		SIXTEEN((b) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
	{                                                                                          \
		SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__),                           \
			SIXTY_FOUR(128, __VA_ARGS__), SIXTY_FOUR(192, __VA_ARGS__)                 \
	}

static const uint32_t tables[8][256] = {
	TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190,
	      0xedb88320),
	TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05,
	      0x3b83984b),
	TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0,
	      0xe1351b80),
	TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d,
	      0xed59b63b),
	TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849,
	      0xb1e6b092),
	TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c,
	      0x1eb014d8),
	TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579,
	      0x8816eaf2),
	TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed,
	      0x533b85da),
};

static uint32_t crc_of_eight(uint32_t crc, const uint8_t *at)
{
	uint32_t low, high;

	/* Little-endian, as the format is. */
	memcpy(&low, at, sizeof(low));
	memcpy(&high, at + 4, sizeof(high));
	low ^= crc;
	return tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
	       tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
	       tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
}

uint32_t fw_rec_crc(uint32_t crc, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	crc = ~crc;
	for (; size >= 8; size -= 8, at += 8)
		crc = crc_of_eight(crc, at);
	for (; size; size--, at++)
		crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
	return ~crc;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "4a6f...-..." as 16 bytes; zeros where it cannot be read. */
static void read_boot_id(uint8_t id[16])
{
	char text[40] = { 0 };
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	unsigned digits = 0;

	if (fd >= 0)
		close(fd);
	memset(id, 0, 16);
	for (ssize_t i = 0; i < got && digits < 32; i++) {
		int value = hex_digit(text[i]);

		if (value < 0)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
		digits++;
	}
}

void fw_rec_begin_file(struct fw_rec_file *file, enum fw_rec_file_kind kind, uint32_t pid)
{
	int saved = errno;

	memset(file, 0, sizeof(*file));
	memcpy(file->magic, FW_REC_MAGIC, sizeof(file->magic));
	file->version = FW_REC_VERSION;
	file->kind = (uint16_t)kind;
	file->pid = pid;
	file->start_mono = clock_ns(CLOCK_MONOTONIC);
	file->start_realtime = clock_ns(CLOCK_REALTIME);
	read_boot_id(file->boot_id);
	file->crc = fw_rec_crc(0, file, offsetof(struct fw_rec_file, crc));
	errno = saved;
}

void fw_rec_seal_chunk(struct fw_rec_chunk *chunk, uint32_t sequence, const void *payload,
		       uint32_t size)
{
	memset(chunk, 0, sizeof(*chunk));
	chunk->magic = FW_REC_CHUNK_MAGIC;
	chunk->stored_bytes = size;
	chunk->raw_bytes = size;
	chunk->sequence = sequence;
	chunk->compression = FW_REC_PLAIN;
	chunk->crc = fw_rec_crc(0, chunk, offsetof(struct fw_rec_chunk, crc));
	chunk->crc = fw_rec_crc(chunk->crc, payload, size);
}
