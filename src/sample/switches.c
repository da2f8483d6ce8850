#include "sample/switches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Pages of records a thread: 8 KiB hold 341 switches, which is 34,000 a second at a reading every
 * 10 ms. Unprivileged users may lock kernel.perf_event_mlock_kb (516) a CPU.
 */
#define RING_PAGES 2

/* An interval that lasts is told in pieces, so that a recording that is cut off has most of it. */
#define PIECE_NS INT64_C(1000000000)

/* Shorter ones are left out: they explain no gap, and a busy lock makes 100,000 a second. */
#define SHORTEST_NS 5000

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int fw_switches_open(struct fw_switches *switches, unsigned pid, unsigned tid, char state,
		     int64_t now_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1, /* what paranoid 2 asks of users; nothing is counted anyway */
		.exclude_hv = 1,
		.sample_id_all = 1,
		.context_switch = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int error;

	*switches = (struct fw_switches){ .fd = -1, .pid = pid, .tid = tid, .drained_ns = now_ns };
	switches->fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (switches->fd < 0)
		return errno;
	switches->ring = mmap(NULL, (1 + RING_PAGES) * page_bytes(), PROT_READ | PROT_WRITE,
			      MAP_SHARED, switches->fd, 0);
	if (switches->ring == MAP_FAILED) {
		error = errno;
		close(switches->fd);
		*switches = (struct fw_switches){ .fd = -1 };
		return error;
	}
	switches->off_since_ns = now_ns;
	switches->is_runnable = state == 'R';
	return 0;
}

static void tell_off(struct fw_switches *switches, const struct fw_host_sink *sink, int64_t end_ns)
{
	const struct fw_off_cpu off = { switches->off_since_ns, end_ns, switches->pid,
					switches->tid, switches->is_runnable };

	if (off.start_ns && end_ns - off.start_ns >= SHORTEST_NS)
		sink->off_cpu(sink->context, &off);
}

/* sample_id of a record: pid, tid, time; at its end. */
static bool read_time(const uint8_t *record, uint16_t size, size_t body, int64_t *time_ns)
{
	uint64_t time;

	if (size < sizeof(struct perf_event_header) + body + 16)
		return false;
	memcpy(&time, record + size - 8, sizeof(time));
	*time_ns = (int64_t)(time & INT64_MAX);
	return true;
}

static void take_switch(struct fw_switches *switches, uint16_t misc, int64_t time_ns,
			const struct fw_host_sink *sink)
{
	switches->is_certain = true;
	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		switches->off_since_ns = time_ns;
		switches->is_runnable = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return;
	}
	tell_off(switches, sink, time_ns);
	switches->off_since_ns = 0;
}

/* Records were lost: what the thread did since the last reading is not known. */
static void take_lost(struct fw_switches *switches, const uint8_t *record, uint16_t size,
		      const struct fw_host_sink *sink, int64_t now_ns)
{
	uint64_t count = UINT64_MAX;

	if (size >= sizeof(struct perf_event_header) + 16)
		memcpy(&count, record + sizeof(struct perf_event_header) + 8, sizeof(count));
	sink->lost(sink->context, switches->drained_ns, now_ns, count);
	switches->losses++;
	switches->off_since_ns = 0;
}

void fw_switches_parse(struct fw_switches *switches, const struct fw_switch_ring *ring,
		       const struct fw_host_sink *sink, int64_t now_ns)
{
	uint64_t at = ring->tail;
	uint8_t record[64];

	if (ring->head - at > ring->size)
		return;
	while (ring->head - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		uint8_t head[sizeof(header)];
		int64_t time_ns;
		uint16_t size;

		for (size_t i = 0; i < sizeof(head); i++)
			head[i] = ring->bytes[(at + i) & (ring->size - 1)];
		memcpy(&header, head, sizeof(header));
		if (header.size < sizeof(header) || header.size > ring->head - at)
			return;
		size = header.size < sizeof(record) ? header.size : sizeof(record);
		for (size_t i = 0; i < size; i++)
			record[i] = ring->bytes[(at + i) & (ring->size - 1)];
		if (header.type == PERF_RECORD_SWITCH && read_time(record, size, 0, &time_ns))
			take_switch(switches, header.misc, time_ns, sink);
		else if (header.type == PERF_RECORD_LOST)
			take_lost(switches, record, size, sink, now_ns);
		at += header.size;
	}
}

bool fw_switches_drain(struct fw_switches *switches, const struct fw_host_sink *sink,
		       int64_t now_ns)
{
	struct perf_event_mmap_page *page = switches->ring;
	struct fw_switch_ring ring;

	if (switches->fd < 0)
		return false;
	ring.bytes = (const uint8_t *)switches->ring + page_bytes();
	ring.size = RING_PAGES * page_bytes();
	ring.tail = page->data_tail;
	ring.head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	fw_switches_parse(switches, &ring, sink, now_ns);
	__atomic_store_n(&page->data_tail, ring.head, __ATOMIC_RELEASE);
	switches->drained_ns = now_ns;
	if (switches->is_certain && switches->off_since_ns &&
	    now_ns - switches->off_since_ns >= PIECE_NS) {
		tell_off(switches, sink, now_ns);
		switches->off_since_ns = now_ns;
	}
	switches->is_filling = ring.head - ring.tail > ring.size / 8;
	return ring.head != ring.tail;
}

void fw_switches_skip(struct fw_switches *switches, int64_t now_ns)
{
	struct perf_event_mmap_page *page = switches->ring;

	if (switches->fd < 0)
		return;
	__atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	switches->off_since_ns = switches->drained_ns = now_ns;
	switches->is_certain = switches->is_runnable = false;
}

void fw_switches_close(struct fw_switches *switches, const struct fw_host_sink *sink,
		       int64_t now_ns, bool has_ended)
{
	if (switches->fd < 0)
		return;
	fw_switches_drain(switches, sink, now_ns);
	if (switches->is_certain && !has_ended)
		tell_off(switches, sink, now_ns);
	munmap(switches->ring, (1 + RING_PAGES) * page_bytes());
	close(switches->fd);
	switches->fd = -1;
}

const char *fw_switches_error(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "not permitted: kernel.perf_event_paranoid is above 2, a container's "
		       "seccomp "
		       "profile forbids perf_event_open, or the memory that a user may lock for it "
		       "is used up (kernel.perf_event_mlock_kb)";
	case EMFILE:
	case ENFILE: return "too many open files";
	case ENOSYS: return "this kernel has no perf events";
	case ENOMEM: return "no memory";
	default: return "the kernel refused perf_event_open";
	}
}
