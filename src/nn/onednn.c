/*
 * The engine for CPUs: plans run as oneDNN primitives. Each launch runs on the calling thread alone: throughput comes
 * from several instances, one a thread. oneDNN would spread one primitive over OpenMP threads, which spin on cores
 * that others need.
 */
#include "nn/onednn_program.h"

#include <stdlib.h>
#include <string.h>

/* Of the parts of an instance's memory: a page, and more than any plan's buffers ask for. */
#define ALIGNMENT 4096u

/* OpenMP's, which oneDNN is built with; not every compiler that builds this has <omp.h>. */
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int n);

extern const struct fw_nn_engine_class fw_nn_onednn;

struct fw_onednn_instance {
	const struct fw_onednn_network *network;
	dnnl_stream_t stream;
	char *memory;
	char *places[FW_ONEDNN_N_PLACES];
	/* Of each program, for all its calls one after the other; NULL-terminated memories. */
	dnnl_exec_arg_t **args;
};

/* oneDNN asks OpenMP for the number of threads when a primitive is made and when it runs; the setting is the calling thread's own. Returns what it was. */
static int one_thread(void)
{
	int was = omp_get_max_threads();

	if (was != 1)
		omp_set_num_threads(1);
	return was;
}

static void threads_as_before(int was)
{
	if (was != 1)
		omp_set_num_threads(was);
}

static fw_status engine_open(const struct fw_nn_engine_options *options, void **engine,
			     struct fw_error *err)
{
	struct fw_onednn_engine *made = calloc(1, sizeof(*made));
	const dnnl_version_t *version = dnnl_version();
	dnnl_status_t status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->options = *options;
	if (version->major != DNNL_VERSION_MAJOR) {
		free(made);
		return fw_fail(err, FW_ERR_UNSUPPORTED, "built for oneDNN %d, found oneDNN %d.%d",
			       DNNL_VERSION_MAJOR, version->major, version->minor);
	}
	status = dnnl_engine_create(&made->cpu, dnnl_cpu, 0);
	if (status) {
		free(made);
		return fw_fail(err, FW_ERR_UNSUPPORTED, "oneDNN has no CPU engine: status %d",
			       (int)status);
	}
	*engine = made;
	return FW_OK;
}

static void engine_close(void *engine)
{
	struct fw_onednn_engine *e = engine;

	dnnl_engine_destroy(e->cpu);
	free(e);
}

/* oneDNN emulates bf16 on other CPUs, slower than fp32. */
static fw_status check_precision(enum fw_nn_precision precision, struct fw_error *err)
{
	int isa = (int)dnnl_get_effective_cpu_isa();

	if (precision == FW_NN_FP16)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "engine 'onednn' has no fp16: use fp32, or bf16 on a CPU with it");
	if (precision == FW_NN_BFLOAT16 &&
	    (isa & dnnl_cpu_isa_avx512_core_bf16) != dnnl_cpu_isa_avx512_core_bf16)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "this CPU has no bf16 instructions (AVX512_BF16 or AMX): use fp32");
	return FW_OK;
}

static void network_unload(void *network)
{
	struct fw_onednn_network *n = network;

	if (!n)
		return;
	for (uint32_t i = 0; i < n->n_programs; i++)
		fw_onednn_program_release(&n->programs[i]);
	fw_onednn_packed_release(&n->packed);
	if (n->stream)
		dnnl_stream_destroy(n->stream);
	free(n);
}

static fw_status build_all(struct fw_onednn_network *network, const struct fw_nn_plan *const *plans,
			   uint32_t n_plans, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < n_plans && !status; i++) {
		struct fw_onednn_program *program = &network->programs[i];
		struct fw_onednn_builder builder = {
			.network = network,
			.program = program,
			.plan = plans[i],
			.type = plans[i]->precision == FW_NN_FP32 ? dnnl_f32 : dnnl_bf16,
			.err = err,
		};

		*program = (struct fw_onednn_program){
			.plan = plans[i],
			.calls = FW_VEC(struct fw_onednn_call),
		};
		network->n_programs++;
		status = fw_onednn_build(&builder);
	}
	return status;
}

static fw_status network_load(void *engine, const struct fw_nn_plan *const *plans, uint32_t n_plans,
			      const struct fw_nn_network_options *options, void **network,
			      struct fw_error *err)
{
	struct fw_onednn_network *made;
	size_t size = sizeof(*made) + n_plans * sizeof(made->programs[0]);
	fw_status status = check_precision(options->precision, err);
	int was;

	if (status)
		return status;
	made = calloc(1, size);
	if (!made)
		return fw_fail_nomem(err, size);
	made->engine = engine;
	made->packed = (struct fw_vec)FW_VEC(struct fw_onednn_packed);
	if (dnnl_stream_create(&made->stream, made->engine->cpu, dnnl_stream_default_flags)) {
		network_unload(made);
		return fw_fail(err, FW_ERR_NOMEM, "oneDNN made no stream");
	}
	was = one_thread();
	status = build_all(made, plans, n_plans, err);
	threads_as_before(was);
	if (status) {
		network_unload(made);
		return status;
	}
	*network = made;
	return FW_OK;
}

static void instance_close(void *instance)
{
	struct fw_onednn_instance *in = instance;

	if (!in)
		return;
	for (uint32_t i = 0; in->args && i < in->network->n_programs; i++) {
		for (dnnl_exec_arg_t *arg = in->args[i]; arg && arg->memory; arg++)
			dnnl_memory_destroy(arg->memory);
		free(in->args[i]);
	}
	free(in->args);
	free(in->memory);
	if (in->stream)
		dnnl_stream_destroy(in->stream);
	free(in);
}

/* starts: NULL, or where each part begins. */
static uint64_t lay_out(const struct fw_onednn_network *network, uint64_t *starts)
{
	uint64_t total = 0;

	for (int i = 0; i < FW_ONEDNN_N_PLACES; i++) {
		if (starts)
			starts[i] = total;
		total += (network->bytes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return total;
}

static uint64_t instance_bytes(const void *network)
{
	return lay_out(network, NULL);
}

static fw_status take_memory(struct fw_onednn_instance *in, struct fw_error *err)
{
	uint64_t starts[FW_ONEDNN_N_PLACES], total = lay_out(in->network, starts);

	in->memory = aligned_alloc(ALIGNMENT, total ? total : ALIGNMENT);
	if (!in->memory)
		return fw_fail_nomem(err, total);
	/* Touched now: no page is taken from the system at the first launch. */
	memset(in->memory, 0, total);
	for (int i = 0; i < FW_ONEDNN_N_PLACES; i++)
		in->places[i] = in->memory + starts[i];
	return FW_OK;
}

static fw_status bind_arg(const struct fw_onednn_instance *in, const struct fw_onednn_arg *arg,
			  dnnl_exec_arg_t *bound, struct fw_error *err)
{
	void *data = arg->place == FW_ONEDNN_CONSTANT ? (void *)arg->constant
						      : in->places[arg->place] + arg->offset;
	dnnl_status_t status =
		dnnl_memory_create(&bound->memory, &arg->md, in->network->engine->cpu, data);

	if (status) {
		bound->memory = NULL;
		return fw_fail(err, FW_ERR_NOMEM, "oneDNN made no memory: status %d", (int)status);
	}
	bound->arg = arg->arg;
	return FW_OK;
}

static fw_status bind_program(struct fw_onednn_instance *in, uint32_t number, struct fw_error *err)
{
	const struct fw_vec *calls = &in->network->programs[number].calls;
	const struct fw_onednn_call *list = calls->data;
	size_t count = 1;
	dnnl_exec_arg_t *next;

	for (size_t i = 0; i < calls->len; i++)
		count += list[i].n_args;
	next = in->args[number] = calloc(count, sizeof(*next));
	if (!next)
		return fw_fail_nomem(err, count * sizeof(*next));
	for (size_t i = 0; i < calls->len; i++)
		for (uint32_t a = 0; a < list[i].n_args; a++) {
			fw_status status = bind_arg(in, &list[i].args[a], next++, err);

			if (status)
				return status;
		}
	return FW_OK;
}

static fw_status instance_open(void *network, void **instance, struct fw_error *err)
{
	struct fw_onednn_network *n = network;
	struct fw_onednn_instance *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->network = n;
	status = take_memory(made, err);
	made->args = calloc(n->n_programs, sizeof(*made->args));
	if (!status && !made->args)
		status = fw_fail_nomem(err, n->n_programs * sizeof(*made->args));
	if (!status && dnnl_stream_create(&made->stream, n->engine->cpu, dnnl_stream_default_flags))
		status = fw_fail(err, FW_ERR_NOMEM, "oneDNN made no stream");
	for (uint32_t i = 0; i < n->n_programs && !status; i++)
		status = bind_program(made, i, err);
	if (status) {
		instance_close(made);
		return status;
	}
	*instance = made;
	return FW_OK;
}

static const struct fw_nn_plan *plan_of(const struct fw_onednn_instance *in, uint32_t number)
{
	return in->network->programs[number].plan;
}

static void describe(const struct fw_onednn_instance *in, uint32_t number, uint32_t tensor,
		     struct fw_nn_io *io)
{
	const struct fw_nn_plan *plan = plan_of(in, number);
	const struct fw_nn_tensor *t = &plan->tensors[tensor];

	*io = (struct fw_nn_io){
		.data = in->places[FW_ONEDNN_ARENA] + t->offset,
		.bytes = t->bytes,
		.precision = plan->precision,
		.n = t->n,
		.h = t->h,
		.w = t->w,
		.c = t->c,
		.pixel_stride = t->pixel_stride,
	};
}

static fw_status instance_io(void *instance, uint32_t plan, struct fw_nn_io *input,
			     struct fw_nn_io *output, struct fw_error *err)
{
	const struct fw_onednn_instance *in = instance;

	(void)err;
	if (input)
		describe(in, plan, plan_of(in, plan)->input, input);
	if (output)
		describe(in, plan, plan_of(in, plan)->output, output);
	return FW_OK;
}

static fw_status instance_launch(void *instance, uint32_t plan, void *stream, struct fw_error *err)
{
	struct fw_onednn_instance *in = instance;
	const struct fw_vec *calls = &in->network->programs[plan].calls;
	const struct fw_onednn_call *list = calls->data;
	const dnnl_exec_arg_t *args = in->args[plan];
	dnnl_status_t status = dnnl_success;
	size_t i;
	int was;

	if (stream)
		return fw_fail(err, FW_ERR_ARGUMENT, "engine 'onednn' has no CUDA streams");
	was = one_thread();
	for (i = 0; i < calls->len && !status; i++) {
		status = dnnl_primitive_execute(list[i].primitive, in->stream, (int)list[i].n_args,
						args);
		args += list[i].n_args;
	}
	threads_as_before(was);
	if (status)
		return fw_fail(err, status == dnnl_out_of_memory ? FW_ERR_NOMEM : FW_ERR_INTERNAL,
			       "oneDNN failed in step %u of the plan: status %d", list[i - 1].step,
			       (int)status);
	return FW_OK;
}

static fw_status instance_wait(void *instance, struct fw_error *err)
{
	/* A launch returns when it is done. */
	(void)instance;
	(void)err;
	return FW_OK;
}

static uint16_t bf16_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(bits >> 16 | 0x40);                /* NaN stays one */
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

static float float_of(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Elements of one pixel of an operand, and the same in the host's plane order. */
static void put(const struct fw_nn_io *io, int64_t element, float x)
{
	if (io->precision == FW_NN_FP32)
		((float *)io->data)[element] = x;
	else
		((uint16_t *)io->data)[element] = bf16_of(x);
}

static float get(const struct fw_nn_io *io, int64_t element)
{
	return io->precision == FW_NN_FP32 ? ((const float *)io->data)[element]
					   : float_of(((const uint16_t *)io->data)[element]);
}

static fw_status instance_write(void *instance, uint32_t plan, const float *nchw,
				struct fw_error *err)
{
	const struct fw_onednn_instance *in = instance;
	struct fw_nn_io io;
	int64_t area;

	(void)err;
	describe(in, plan, plan_of(in, plan)->input, &io);
	area = io.h * io.w;
	for (int64_t n = 0; n < io.n; n++)
		for (int64_t pixel = 0; pixel < area; pixel++)
			for (int64_t c = 0; c < io.pixel_stride; c++)
				put(&io, (n * area + pixel) * io.pixel_stride + c,
				    c < io.c ? nchw[(n * io.c + c) * area + pixel] : 0);
	return FW_OK;
}

static fw_status instance_read(void *instance, uint32_t plan, float *out, struct fw_error *err)
{
	const struct fw_onednn_instance *in = instance;
	struct fw_nn_io io;
	int64_t area;

	(void)err;
	describe(in, plan, plan_of(in, plan)->output, &io);
	area = io.h * io.w;
	for (int64_t n = 0; n < io.n; n++)
		for (int64_t c = 0; c < io.c; c++)
			for (int64_t pixel = 0; pixel < area; pixel++)
				*out++ = get(&io, (n * area + pixel) * io.pixel_stride + c);
	return FW_OK;
}

const struct fw_nn_engine_class fw_nn_onednn = {
	.name = "onednn",
	.open = engine_open,
	.close = engine_close,
	.load = network_load,
	.unload = network_unload,
	.instance_bytes = instance_bytes,
	.instance_open = instance_open,
	.instance_close = instance_close,
	.io = instance_io,
	.launch = instance_launch,
	.wait = instance_wait,
	.write = instance_write,
	.read = instance_read,
	.channel_multiple = 1,
	.residual_in_place = true,
};
