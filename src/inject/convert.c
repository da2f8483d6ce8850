#include "inject/convert.h"

#include "gpu/cupti.h"
#include "inject/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLAG_ASYNC 1u         /* CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC and _MEMSET_ASYNC */
#define FREED      2u         /* CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE */
#define INVALID    UINT32_MAX /* CUPTI_SYNCHRONIZATION_INVALID_VALUE */

/* What names[].mark says of a kernel's name. */
enum mark { MARK_NOT_ASKED, MARK_SELECTED, MARK_NOT_SELECTED };

bool fw_convert_open(struct fw_convert *convert, struct fw_sink *sink, struct fw_names *names,
		     uint32_t version, const char *kernels)
{
	bool good = true;

	*convert = (struct fw_convert){ .sink = sink, .names = names, .version = version };
	if (kernels[0]) {
		good = regcomp(&convert->regex, kernels, REG_EXTENDED | REG_NOSUB) == 0;
		convert->has_regex = good;
	}
	return good;
}

void fw_convert_close(struct fw_convert *convert)
{
	if (convert->has_regex)
		regfree(&convert->regex);
	convert->has_regex = false;
}

/* Notes that a device is in use; returns it. */
static uint32_t on_device(struct fw_convert *c, uint32_t device)
{
	if (device < FW_CONVERT_DEVICES)
		c->devices_seen |= UINT64_C(1) << device;
	return device;
}

static void note_context(struct fw_convert *c, uint32_t context, uint32_t device)
{
	for (uint32_t i = c->context_count; i-- > 0;)
		if (c->contexts[i] == context) {
			c->context_devices[i] = device;
			return;
		}
	if (c->context_count == FW_CONVERT_CONTEXTS)
		return;
	c->contexts[c->context_count] = context;
	c->context_devices[c->context_count++] = device;
}

static uint32_t device_of(const struct fw_convert *c, uint32_t context)
{
	for (uint32_t i = c->context_count; i-- > 0;)
		if (c->contexts[i] == context)
			return c->context_devices[i];
	return UINT32_MAX;
}

static bool is_selected(struct fw_convert *c, uint32_t id)
{
	struct fw_name *name = &c->names->names[id];

	if (!c->has_regex || !id)
		return true;
	if (name->mark == MARK_NOT_ASKED)
		name->mark = regexec(&c->regex, c->names->texts + name->text, 0, NULL, 0) == 0
				     ? MARK_SELECTED
				     : MARK_NOT_SELECTED;
	return name->mark == MARK_SELECTED;
}

static const char *text_at(uint64_t address)
{
	return (const char *)(uintptr_t)address;
}

static uint16_t short_of(uint32_t value)
{
	return value <= UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

static void fill_shape(struct fw_rec_kernel *to, const struct fw_cupti_kernel *k)
{
	for (int i = 0; i < 3; i++) {
		to->grid[i] = k->grid[i];
		to->block[i] = k->block[i];
		to->cluster[i] = short_of(k->cluster[i]);
	}
	to->smem_static = k->smem_static;
	to->smem_dynamic = k->smem_dynamic;
	to->smem_executed = k->smem_executed <= INT32_MAX ? (int32_t)k->smem_executed : -1;
	to->local_per_thread = k->local_per_thread <= INT32_MAX ? (int32_t)k->local_per_thread : -1;
	to->registers = k->registers;
}

static void take_kernel(struct fw_convert *c, const struct fw_cupti_kernel *k)
{
	uint32_t name = fw_names_id_at(c->names, c->sink, text_at(k->name));
	bool selected = is_selected(c, name);
	struct fw_rec_kernel *to;

	if (!selected && !c->empty_name)
		c->empty_name = fw_names_id(c->names, c->sink, "");
	to = fw_sink_add(c->sink, FW_REC_KERNEL, sizeof(*to), k->correlation);
	if (!k->start || !k->end)
		c->without_times++;
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->graph_node = k->graph_node;
	to->graph = k->graph;
	to->device = on_device(c, k->device);
	to->context = k->context;
	to->stream = k->stream;
	to->name = selected ? name : c->empty_name;
	to->smem_executed = -1;
	to->local_per_thread = -1;
	if (selected)
		fill_shape(to, k);
	note_context(c, k->context, k->device);
}

static void take_copy(struct fw_convert *c, const struct fw_cupti_copy *k)
{
	struct fw_rec_copy *to = fw_sink_add(c->sink, FW_REC_COPY, sizeof(*to), k->correlation);

	if (!k->start || !k->end)
		c->without_times++;
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->bytes = k->bytes;
	to->graph_node = k->graph_node;
	to->graph = k->graph;
	to->device = on_device(c, k->device);
	to->context = k->context;
	to->stream = k->stream;
	to->direction = k->direction;
	to->src = k->src;
	to->dst = k->dst;
	to->is_async = k->flags & FLAG_ASYNC;
	to->src_device = k->device;
	to->dst_device = k->device;
	note_context(c, k->context, k->device);
}

static void take_peer_copy(struct fw_convert *c, const struct fw_cupti_peer_copy *k)
{
	struct fw_rec_copy *to = fw_sink_add(c->sink, FW_REC_COPY, sizeof(*to), k->correlation);

	if (!k->start || !k->end)
		c->without_times++;
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->bytes = k->bytes;
	to->graph_node = k->graph_node;
	to->graph = k->graph;
	to->device = on_device(c, k->device);
	to->context = k->context;
	to->stream = k->stream;
	to->direction = k->direction;
	to->src = k->src;
	to->dst = k->dst;
	to->is_async = k->flags & FLAG_ASYNC;
	to->src_device = on_device(c, k->src_device);
	to->dst_device = on_device(c, k->dst_device);
}

static void take_memset(struct fw_convert *c, const struct fw_cupti_memset *k)
{
	struct fw_rec_memset *to = fw_sink_add(c->sink, FW_REC_MEMSET, sizeof(*to), k->correlation);

	if (!k->start || !k->end)
		c->without_times++;
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->bytes = k->bytes;
	to->graph_node = k->graph_node;
	to->graph = k->graph;
	to->device = on_device(c, k->device);
	to->context = k->context;
	to->stream = k->stream;
	to->memory = (uint8_t)k->memory;
	to->is_async = k->flags & FLAG_ASYNC;
}

static void take_graph(struct fw_convert *c, const struct fw_cupti_graph *k)
{
	struct fw_rec_graph *to = fw_sink_add(c->sink, FW_REC_GRAPH, sizeof(*to), k->correlation);

	if (!k->start || !k->end)
		c->without_times++;
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->graph = k->graph;
	to->device = on_device(c, k->device);
	to->context = k->context;
	to->stream = k->stream;
}

static void take_sync(struct fw_convert *c, const struct fw_cupti_sync *k)
{
	struct fw_rec_sync *to = fw_sink_add(c->sink, FW_REC_SYNC, sizeof(*to), k->correlation);

	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->event_sync = k->event_sync;
	to->event = k->event == INVALID ? 0 : k->event;
	to->context = k->context;
	to->stream = k->stream;
	to->device = device_of(c, k->context);
	to->type = k->type;
}

static void take_event(struct fw_convert *c, const struct fw_cupti_event *k)
{
	bool has_device = fw_cupti_record_bytes(c->version, FW_CUPTI_CUDA_EVENT) >=
			  offsetof(struct fw_cupti_event, pad2);
	struct fw_rec_event *to = fw_sink_add(c->sink, FW_REC_EVENT, sizeof(*to), k->correlation);

	if (!to)
		return;
	to->event_sync = k->event_sync;
	to->device_ns = k->device_timestamp;
	to->event = k->event == INVALID ? 0 : k->event;
	to->device = has_device ? k->device : device_of(c, k->context);
	to->context = k->context;
	to->stream = k->stream;
}

/* The string of a call's name; 0: it is not recorded. */
static uint32_t call_name(struct fw_convert *c, bool is_driver, uint32_t cbid)
{
	char plain[FW_CALLS_NAME_BYTES];
	const struct fw_call_api *api;
	uint32_t *known;

	if (cbid >= FW_CALLS_CBIDS)
		return 0;
	known = &c->call_names[is_driver][cbid];
	if (!*known) {
		api = fw_calls_find(is_driver, cbid);
		if (api)
			fw_calls_plain_name(api->name, plain);
		*known = api ? fw_names_id(c->names, c->sink, plain) : UINT32_MAX;
	}
	return *known == UINT32_MAX ? 0 : *known;
}

static void take_call(struct fw_convert *c, const struct fw_cupti_call *k)
{
	bool is_driver = k->kind == FW_CUPTI_DRIVER;
	struct fw_rec_call *to;
	uint32_t name;

	if (is_driver && k->cbid == FW_CALLS_PROBE) {
		c->probes++;
		return;
	}
	name = call_name(c, is_driver, k->cbid);
	/* A CUPTI that cannot choose calls gives all of them. */
	if (!name)
		return;
	fw_convert_thread(c, k->thread);
	to = fw_sink_add(c->sink, FW_REC_CALL, sizeof(*to), k->correlation);
	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->name = name;
	to->tid = k->thread;
	to->result = (int32_t)k->result;
	to->is_driver = is_driver;
}

static void take_memory(struct fw_convert *c, const struct fw_cupti_memory *k)
{
	bool is_host = k->memory == 1 || k->memory == 2; /* pageable, pinned */
	struct fw_rec_allocation *to =
		fw_sink_add(c->sink, FW_REC_ALLOCATION, sizeof(*to), k->correlation);

	if (!to)
		return;
	to->time_cupti = k->timestamp;
	to->address = k->address;
	to->bytes = k->bytes;
	to->device = is_host ? UINT32_MAX : k->device;
	to->memory = (uint8_t)k->memory;
	to->is_free = k->operation == FREED;
	to->is_async = k->is_async != 0;
}

static void take_overhead(struct fw_convert *c, const struct fw_cupti_overhead *k)
{
	struct fw_rec_overhead *to =
		fw_sink_add(c->sink, FW_REC_OVERHEAD, sizeof(*to), k->overhead);

	if (!to)
		return;
	to->start_cupti = k->start;
	to->end_cupti = k->end;
	to->tid = k->object == 2 ? k->object_id[1] : 0; /* CUPTI_ACTIVITY_OBJECT_THREAD */
}

static void take_device(struct fw_convert *c, const struct fw_cupti_device *k)
{
	static const uint8_t none[16];
	uint64_t bit = k->id < FW_CONVERT_DEVICES ? UINT64_C(1) << k->id : 0;
	struct fw_rec_device *to;
	uint32_t name;

	/* CUPTI also lists the devices that CUDA_VISIBLE_DEVICES hides, under numbers of their own. */
	if (!k->is_visible || !bit || c->devices & bit)
		return;
	name = fw_names_id(c->names, c->sink, text_at(k->name));
	to = fw_sink_add(c->sink, FW_REC_DEVICE, sizeof(*to), k->id);
	if (!to)
		return;
	memcpy(to->uuid, k->is_mig && memcmp(k->mig_uuid, none, 16) ? k->mig_uuid : k->uuid, 16);
	to->name = name;
	to->cc = (int32_t)(k->cc_major * 10 + k->cc_minor);
	to->sms = (int32_t)k->sms;
	to->memory_bytes = (int64_t)k->memory_bytes;
	c->devices |= bit;
}

static void take_stream(struct fw_convert *c, const struct fw_cupti_stream *k)
{
	struct fw_rec_stream *to = fw_sink_add(c->sink, FW_REC_STREAM, sizeof(*to), k->stream);

	if (!to)
		return;
	to->context = k->context;
	to->priority = (int32_t)k->priority;
	to->flags = k->flag;
	to->device = device_of(c, k->context);
}

static void take_module(struct fw_convert *c, const struct fw_cupti_module *k)
{
	struct fw_rec_module *to = fw_sink_add(c->sink, FW_REC_MODULE, sizeof(*to), k->id);

	if (!to)
		return;
	to->time_mono = (uint64_t)fw_sink_now();
	to->bytes = k->cubin_bytes;
	to->context = k->context;
}

static void take_external(struct fw_convert *c, const struct fw_cupti_external *k)
{
	struct fw_rec_external *to =
		fw_sink_add(c->sink, FW_REC_EXTERNAL, sizeof(*to), k->correlation);

	if (!to)
		return;
	to->external = k->external;
	to->external_kind = k->external_kind;
}

/* Room for any record that we read, its unread part zero. */
union record {
	uint32_t kind;
	struct fw_cupti_kernel kernel;
	struct fw_cupti_copy copy;
	struct fw_cupti_peer_copy peer_copy;
	struct fw_cupti_memset memset;
	struct fw_cupti_sync sync;
	struct fw_cupti_event event;
	struct fw_cupti_graph graph;
	struct fw_cupti_memory memory;
	struct fw_cupti_overhead overhead;
	struct fw_cupti_call call;
	struct fw_cupti_device device;
	struct fw_cupti_context context;
	struct fw_cupti_stream stream;
	struct fw_cupti_module module;
	struct fw_cupti_external external;
};

static void dispatch(struct fw_convert *c, const union record *r)
{
	switch (r->kind) {
	case FW_CUPTI_CONCURRENT_KERNEL:
	case FW_CUPTI_KERNEL: take_kernel(c, &r->kernel); break;
	case FW_CUPTI_RUNTIME:
	case FW_CUPTI_DRIVER: take_call(c, &r->call); break;
	case FW_CUPTI_MEMCPY: take_copy(c, &r->copy); break;
	case FW_CUPTI_MEMCPY2: take_peer_copy(c, &r->peer_copy); break;
	case FW_CUPTI_MEMSET: take_memset(c, &r->memset); break;
	case FW_CUPTI_SYNCHRONIZATION: take_sync(c, &r->sync); break;
	case FW_CUPTI_CUDA_EVENT: take_event(c, &r->event); break;
	case FW_CUPTI_GRAPH_TRACE: take_graph(c, &r->graph); break;
	case FW_CUPTI_MEMORY2: take_memory(c, &r->memory); break;
	case FW_CUPTI_OVERHEAD: take_overhead(c, &r->overhead); break;
	case FW_CUPTI_DEVICE: take_device(c, &r->device); break;
	case FW_CUPTI_CONTEXT: note_context(c, r->context.context, r->context.device); break;
	case FW_CUPTI_STREAM: take_stream(c, &r->stream); break;
	case FW_CUPTI_MODULE: take_module(c, &r->module); break;
	case FW_CUPTI_EXTERNAL_CORRELATION: take_external(c, &r->external); break;
	}
}

void fw_convert_record(struct fw_convert *convert, const void *record, size_t bytes)
{
	union record known;
	uint32_t kind;
	size_t size;

	if (bytes < sizeof(kind))
		return;
	memcpy(&kind, record, sizeof(kind));
	size = fw_cupti_record_bytes(convert->version, kind);
	if (!size || size > bytes) {
		convert->others++;
		return;
	}
	memset(&known, 0, sizeof(known));
	memcpy(&known, record, size);
	dispatch(convert, &known);
}

static bool is_new_thread(struct fw_convert *c, uint32_t tid)
{
	uint32_t at = tid * 2654435761u % FW_CONVERT_THREADS;

	/* The table stays a quarter empty, so that looking ends soon. */
	if (!tid)
		return false;
	for (; c->threads[at]; at = (at + 1) % FW_CONVERT_THREADS)
		if (c->threads[at] == tid)
			return false;
	if (c->thread_count >= FW_CONVERT_THREADS * 3 / 4)
		return false;
	c->threads[at] = tid;
	c->thread_count++;
	return true;
}

static void write_thread(struct fw_convert *convert, uint32_t tid, const char *name)
{
	uint32_t id = fw_names_id(convert->names, convert->sink, name);
	struct fw_rec_thread *to = fw_sink_add(convert->sink, FW_REC_THREAD, sizeof(*to), tid);

	if (to)
		to->name = id;
}

void fw_convert_thread(struct fw_convert *convert, uint32_t tid)
{
	char path[64], name[32] = { 0 };
	ssize_t got;
	int fd;

	if (!is_new_thread(convert, tid))
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	got = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (got <= 0)
		return;
	name[strcspn(name, "\n")] = 0;
	write_thread(convert, tid, name);
}

void fw_convert_named_thread(struct fw_convert *convert, uint32_t tid, const char *name)
{
	is_new_thread(convert, tid); /* so that no other name follows */
	write_thread(convert, tid, name);
}
