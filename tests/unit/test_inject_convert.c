/* CUPTI's records, byte by byte as each version writes them -> the recording's. */
#include "gpu/cupti.h"
#include "inject/convert.h"
#include "inject/layout.h"
#include "inject_case.h"

static struct inject_case test;
static struct fw_names names;
static struct fw_convert convert;

static void begin(uint32_t version, const char *kernels)
{
	open_case(&test, 0);
	assert_true(fw_names_open(&names));
	assert_true(fw_convert_open(&convert, &test.sink, &names, version, kernels));
}

static void end(void)
{
	fw_sink_flush(&test.sink);
	read_case(&test);
}

static void done(void)
{
	fw_convert_close(&convert);
	close_case(&test);
}

/* Of a record only `bytes` can be read: the rest is behind the end of a heap block, for the sanitizer. */
static void give(const void *record, size_t bytes)
{
	uint8_t *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, record, bytes);
	fw_convert_record(&convert, copy, bytes);
	free(copy);
}

static struct fw_cupti_kernel a_kernel(const char *name)
{
	return (struct fw_cupti_kernel){
		.kind = FW_CUPTI_CONCURRENT_KERNEL,
		.registers = 92,
		.start = 1000,
		.end = 3000,
		.device = 1,
		.context = 7,
		.stream = 13,
		.grid = { 5, 6, 7 },
		.block = { 224, 2, 1 },
		.smem_static = 48,
		.smem_dynamic = 1024,
		.local_per_thread = 16,
		.correlation = 77,
		.name = (uint64_t)(uintptr_t)name,
		.smem_executed = 102400,
		.graph_node = 0x500000001,
		.graph = 4,
		.cluster = { 2, 1, 1 },
	};
}

static void kernels_of_every_version(void **state)
{
	/* Version of CUPTI and bytes of its kernel record: 11.8, 12.2, 12.8, 13.0. */
	static const struct {
		uint32_t version;
		size_t bytes;
	} cases[] = { { 18, 200 }, { 20, 208 }, { 26, 208 }, { 130001, 216 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fw_cupti_kernel kernel = a_kernel("_Z4gemmPf");
		uint8_t record[216];
		const struct fw_rec_kernel *found;

		/* What follows our part of the record must not be looked at. */
		memset(record, 0xa5, sizeof(record));
		memcpy(record, &kernel, sizeof(kernel));
		begin(cases[i].version, "");
		give(record, cases[i].bytes);
		end();
		found = record_of(&test, FW_REC_KERNEL, 0);
		assert_non_null(found);
		assert_int_equal(found->head.extra, 77);
		assert_int_equal(found->start_cupti, 1000);
		assert_int_equal(found->end_cupti, 3000);
		assert_int_equal(found->device, 1);
		assert_int_equal(found->context, 7);
		assert_int_equal(found->stream, 13);
		assert_int_equal(found->grid[2], 7);
		assert_int_equal(found->block[0], 224);
		assert_int_equal(found->smem_static, 48);
		assert_int_equal(found->smem_dynamic, 1024);
		assert_int_equal(found->smem_executed, 102400);
		assert_int_equal(found->local_per_thread, 16);
		assert_int_equal(found->registers, 92);
		assert_int_equal(found->cluster[0], 2);
		assert_int_equal(found->graph_node, 0x500000001);
		assert_int_equal(found->graph, 4);
		assert_string_equal(text_of(&test, found->name, found), "_Z4gemmPf");
		done();
	}
}

static void kernels_not_selected_keep_their_times(void **state)
{
	struct fw_cupti_kernel gemm = a_kernel("_Z4gemmPf"), other = a_kernel("_Z5otherPf");
	const struct fw_rec_kernel *found;

	(void)state;
	begin(130001, "gemm|conv");
	give(&gemm, sizeof(gemm));
	give(&other, sizeof(other));
	give(&other, sizeof(other));
	end();
	found = record_of(&test, FW_REC_KERNEL, 0);
	assert_string_equal(text_of(&test, found->name, found), "_Z4gemmPf");
	assert_int_equal(found->grid[0], 5);
	for (unsigned i = 1; i <= 2; i++) {
		found = record_of(&test, FW_REC_KERNEL, i);
		assert_string_equal(text_of(&test, found->name, found), "");
		assert_int_equal(found->end_cupti - found->start_cupti, 2000);
		assert_int_equal(found->grid[0], 0);
		assert_int_equal(found->registers, 0);
		assert_int_equal(found->smem_executed, -1);
	}
	done();
}

/* The memory of a name may get another text: the pointer alone says nothing. */
static void names_are_texts_not_pointers(void **state)
{
	char text[] = "first";
	struct fw_cupti_kernel kernel = a_kernel(text);
	const struct fw_rec_kernel *found;

	(void)state;
	begin(130001, "");
	give(&kernel, sizeof(kernel));
	give(&kernel, sizeof(kernel));
	memcpy(text, "other", sizeof(text));
	give(&kernel, sizeof(kernel));
	kernel.name = 0;
	give(&kernel, sizeof(kernel));
	end();
	assert_int_equal(count_of(&test, FW_REC_STRING), 2);
	found = record_of(&test, FW_REC_KERNEL, 1);
	assert_string_equal(text_of(&test, found->name, found), "first");
	found = record_of(&test, FW_REC_KERNEL, 2);
	assert_string_equal(text_of(&test, found->name, found), "other");
	found = record_of(&test, FW_REC_KERNEL, 3);
	assert_int_equal(found->name, 0);
	done();
}

static void syncs_and_events_before_and_since_12_8(void **state)
{
	struct fw_cupti_context context = { FW_CUPTI_CONTEXT, 7, 1 };
	struct fw_cupti_sync sync = { .kind = FW_CUPTI_SYNCHRONIZATION,
				      .type = 1,
				      .start = 5,
				      .end = 9,
				      .correlation = 3,
				      .context = 7,
				      .stream = UINT32_MAX,
				      .event = 11,
				      .event_sync = 99 };
	struct fw_cupti_event event = { .kind = FW_CUPTI_CUDA_EVENT,
					.correlation = 4,
					.context = 7,
					.stream = 13,
					.event = 11,
					.device = 5,
					.event_sync = 99 };
	const struct fw_rec_sync *s;
	const struct fw_rec_event *e;

	(void)state;
	begin(FW_CUPTI_VERSION_12_8 - 2, "");
	give(&context, sizeof(context));
	give(&sync, 40);
	give(&event, 24);
	end();
	s = record_of(&test, FW_REC_SYNC, 0);
	assert_int_equal(s->event_sync, 0);
	assert_int_equal(s->event, 11);
	assert_int_equal(s->device, 1);
	assert_int_equal(s->type, 1);
	e = record_of(&test, FW_REC_EVENT, 0);
	assert_int_equal(e->event_sync, 0);
	assert_int_equal(e->device, 1); /* of the context: the record has none yet */
	done();

	begin(FW_CUPTI_VERSION_12_8, "");
	give(&sync, 56);
	give(&event, 56);
	sync.event = UINT32_MAX;
	give(&sync, 56);
	end();
	s = record_of(&test, FW_REC_SYNC, 0);
	assert_int_equal(s->event_sync, 99);
	assert_int_equal(s->device, UINT32_MAX);
	assert_int_equal(((const struct fw_rec_sync *)record_of(&test, FW_REC_SYNC, 1))->event, 0);
	e = record_of(&test, FW_REC_EVENT, 0);
	assert_int_equal(e->event_sync, 99);
	assert_int_equal(e->device, 5);
	done();
}

static void copies_between_host_and_devices(void **state)
{
	struct fw_cupti_copy copy = { .kind = FW_CUPTI_MEMCPY,
				      .direction = 1,
				      .src = 1,
				      .dst = 3,
				      .flags = 1,
				      .bytes = 4096,
				      .start = 1,
				      .end = 2,
				      .device = 2 };
	struct fw_cupti_peer_copy peer = { .kind = FW_CUPTI_MEMCPY2,
					   .direction = 10,
					   .start = 1,
					   .end = 2,
					   .src_device = 1,
					   .dst_device = 3 };
	const struct fw_rec_copy *c;

	(void)state;
	begin(130001, "");
	give(&copy, sizeof(copy));
	give(&peer, sizeof(peer));
	end();
	c = record_of(&test, FW_REC_COPY, 0);
	assert_int_equal(c->bytes, 4096);
	assert_int_equal(c->direction, 1);
	assert_int_equal(c->src, 1);
	assert_int_equal(c->dst, 3);
	assert_int_equal(c->is_async, 1);
	assert_int_equal(c->src_device, 2);
	c = record_of(&test, FW_REC_COPY, 1);
	assert_int_equal(c->src_device, 1);
	assert_int_equal(c->dst_device, 3);
	assert_int_equal(convert.devices_seen, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3);
	done();
}

static void memsets_graphs_and_memory(void **state)
{
	struct fw_cupti_memset set = {
		.kind = FW_CUPTI_MEMSET, .bytes = 64, .memory = 3, .flags = 1, .start = 4, .end = 6
	};
	struct fw_cupti_graph graph = {
		.kind = FW_CUPTI_GRAPH_TRACE, .graph = 9, .start = 10, .end = 90, .stream = 13
	};
	struct fw_cupti_memory pinned = { .kind = FW_CUPTI_MEMORY2,
					  .operation = 1,
					  .memory = 2,
					  .address = 0x1000,
					  .bytes = 512,
					  .timestamp = 33 };
	struct fw_cupti_memory freed = { .kind = FW_CUPTI_MEMORY2,
					 .operation = 2,
					 .memory = 3,
					 .address = 0x2000,
					 .device = 2,
					 .is_async = 1 };
	const struct fw_rec_allocation *a;

	(void)state;
	begin(130001, "");
	give(&set, sizeof(set));
	give(&graph, sizeof(graph));
	give(&pinned, sizeof(pinned));
	give(&freed, sizeof(freed));
	end();
	assert_int_equal(((const struct fw_rec_memset *)record_of(&test, FW_REC_MEMSET, 0))->bytes,
			 64);
	assert_int_equal(((const struct fw_rec_graph *)record_of(&test, FW_REC_GRAPH, 0))->graph,
			 9);
	a = record_of(&test, FW_REC_ALLOCATION, 0);
	assert_int_equal(a->device, UINT32_MAX);
	assert_int_equal(a->is_free, 0);
	assert_int_equal(a->time_cupti, 33);
	a = record_of(&test, FW_REC_ALLOCATION, 1);
	assert_int_equal(a->device, 2);
	assert_int_equal(a->is_free, 1);
	assert_int_equal(a->is_async, 1);
	done();
}

static void only_chosen_calls(void **state)
{
	/* 211 is cudaLaunchKernel_v7000, 17 cudaSetDevice_v3020; 307 is cuLaunchKernel, 245 cuMemFree_v2. */
	struct fw_cupti_call call = { .kind = FW_CUPTI_RUNTIME,
				      .cbid = 211,
				      .start = 1,
				      .end = 2,
				      .thread = 4242,
				      .correlation = 6,
				      .result = 700 };
	const struct fw_rec_call *found;

	(void)state;
	begin(130001, "");
	give(&call, sizeof(call));
	call.cbid = 17;
	give(&call, sizeof(call));
	call.cbid = 5000;
	give(&call, sizeof(call));
	call.kind = FW_CUPTI_DRIVER;
	call.cbid = 307;
	give(&call, sizeof(call));
	call.cbid = 245;
	give(&call, sizeof(call));
	call.cbid = FW_CALLS_PROBE;
	give(&call, sizeof(call));
	end();
	assert_int_equal(count_of(&test, FW_REC_CALL), 3);
	assert_int_equal(convert.probes, 1);
	found = record_of(&test, FW_REC_CALL, 0);
	assert_string_equal(text_of(&test, found->name, found), "cudaLaunchKernel");
	assert_int_equal(found->tid, 4242);
	assert_int_equal(found->result, 700);
	assert_int_equal(found->is_driver, 0);
	found = record_of(&test, FW_REC_CALL, 1);
	assert_string_equal(text_of(&test, found->name, found), "cuLaunchKernel");
	assert_int_equal(found->is_driver, 1);
	found = record_of(&test, FW_REC_CALL, 2);
	assert_string_equal(text_of(&test, found->name, found), "cuMemFree");
	done();
}

static void devices_once_and_only_visible_ones(void **state)
{
	struct fw_cupti_device device = { .kind = FW_CUPTI_DEVICE,
					  .memory_bytes = 150000000000,
					  .sms = 132,
					  .cc_major = 9,
					  .id = 1,
					  .uuid = { 1, 2, 3 },
					  .name = (uint64_t)(uintptr_t) "NVIDIA H200",
					  .is_visible = 1 };
	const struct fw_rec_device *found;

	(void)state;
	begin(130001, "");
	give(&device, sizeof(device));
	give(&device, sizeof(device));
	device.id = 2;
	device.is_visible = 0;
	give(&device, sizeof(device));
	device.is_visible = 1;
	device.is_mig = 1;
	device.mig_uuid[0] = 9;
	give(&device, sizeof(device));
	device.id = 4000;
	give(&device, sizeof(device));
	end();
	assert_int_equal(count_of(&test, FW_REC_DEVICE), 2);
	found = record_of(&test, FW_REC_DEVICE, 0);
	assert_int_equal(found->head.extra, 1);
	assert_int_equal(found->cc, 90);
	assert_int_equal(found->sms, 132);
	assert_int_equal(found->uuid[2], 3);
	assert_string_equal(text_of(&test, found->name, found), "NVIDIA H200");
	found = record_of(&test, FW_REC_DEVICE, 1);
	assert_int_equal(found->uuid[0], 9);
	done();
}

static void the_rest(void **state)
{
	struct fw_cupti_stream stream = { FW_CUPTI_STREAM, 7, 13, (uint32_t)-5, 2, 0 };
	struct fw_cupti_module module = { FW_CUPTI_MODULE, 7, 3, 4096, 0 };
	struct fw_cupti_external external = { FW_CUPTI_EXTERNAL_CORRELATION, 3, 1234, 56, 0 };
	struct fw_cupti_overhead overhead = { FW_CUPTI_OVERHEAD, 3 << 16, 2, { 1, 4242, 0 }, 5, 6 };
	uint32_t unknown[4] = { 12, 0, 0, 0 };

	(void)state;
	begin(130001, "");
	give(&stream, sizeof(stream));
	give(&module, sizeof(module));
	give(&external, sizeof(external));
	give(&overhead, sizeof(overhead));
	give(unknown, sizeof(unknown));
	give(unknown, 2);
	give(&stream, sizeof(stream) - 1); /* cut short: not read */
	end();
	assert_int_equal(count_of(&test, FW_REC_STREAM), 1);
	assert_int_equal(
		((const struct fw_rec_stream *)record_of(&test, FW_REC_STREAM, 0))->priority, -5);
	assert_int_equal(((const struct fw_rec_module *)record_of(&test, FW_REC_MODULE, 0))->bytes,
			 4096);
	assert_int_equal(
		((const struct fw_rec_external *)record_of(&test, FW_REC_EXTERNAL, 0))->external,
		1234);
	assert_int_equal(
		((const struct fw_rec_overhead *)record_of(&test, FW_REC_OVERHEAD, 0))->tid, 4242);
	assert_int_equal(convert.others, 2);
	done();
}

static void a_thread_is_named_once(void **state)
{
	(void)state;
	begin(130001, "");
	fw_convert_thread(&convert, (uint32_t)gettid());
	fw_convert_thread(&convert, (uint32_t)gettid());
	fw_convert_thread(&convert, 0);
	end();
	assert_int_equal(count_of(&test, FW_REC_THREAD), 1);
	done();
}

static void not_a_regular_expression(void **state)
{
	(void)state;
	open_case(&test, 0);
	assert_true(fw_names_open(&names));
	assert_false(fw_convert_open(&convert, &test.sink, &names, 130001, "gemm("));
	assert_false(convert.has_regex);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_every_version),
		cmocka_unit_test(kernels_not_selected_keep_their_times),
		cmocka_unit_test(names_are_texts_not_pointers),
		cmocka_unit_test(syncs_and_events_before_and_since_12_8),
		cmocka_unit_test(copies_between_host_and_devices),
		cmocka_unit_test(memsets_graphs_and_memory),
		cmocka_unit_test(only_chosen_calls),
		cmocka_unit_test(devices_once_and_only_visible_ones),
		cmocka_unit_test(the_rest),
		cmocka_unit_test(a_thread_is_named_once),
		cmocka_unit_test(not_a_regular_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
