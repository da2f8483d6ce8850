/* The compile pool: a queue of configurations, processes that compile them, and what becomes of those that die. */
#include "tune/compile.h"

#include "base/vec.h"
#include "tune/compile_worker.h"
#include "tune/include_hash.h"
#include "tune/object_cache.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 256u
#define HELLO_S     60 /* to load NVRTC from a slow disk */
#define CACHE_BYTES (UINT64_C(1) << 30)
#define LIMIT_S     60.0 /* of one compile, where the caller names none */
#define SECOND_NS   1000000000
#define MAX_VAIN    3 /* rounds in which no worker could be started */

struct queued {
	struct fw_tune_config config;
	bool has_sizes;
	int64_t sizes[FW_TUNE_MAX_SETS];
};

enum state { GONE, STARTING, IDLE, BUSY };

struct worker {
	struct fw_tune_process process;
	enum state state;
	int64_t start_ns, deadline_ns; /* of what it does now */
	struct fw_tune_config config;
};

struct fw_tune_compiler {
	struct fw_tune_compile_work work;
	struct fw_tune_compile_stats stats;
	struct worker workers[MAX_WORKERS];
	unsigned n_workers;
	struct fw_vec queue; /* struct queued; those before head are handed out */
	size_t head;
	size_t n_pending; /* submitted and not yet returned */
};

static unsigned cores(void)
{
	cpu_set_t set;
	int n;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n > 1 ? (unsigned)n - 1 : 1;
}

static fw_status start(struct fw_tune_compiler *compiler, struct worker *worker,
		       struct fw_error *err)
{
	fw_status status;

	status = fw_tune_process_start(&worker->process, fw_tune_compile_worker, &compiler->work,
				       err);
	worker->state = status ? GONE : STARTING;
	worker->start_ns = fw_tune_now();
	worker->deadline_ns = worker->start_ns + (int64_t)HELLO_S * SECOND_NS;
	return status;
}

static void keep_text(char *to, size_t bytes, const char *text)
{
	snprintf(to, bytes, "%s", text ? text : "");
}

/* The first words of a worker: whether it has a compiler. */
static fw_status take_hello(struct fw_tune_compiler *compiler, struct fw_tune_message *message,
			    struct fw_error *err)
{
	struct fw_tune_compile_stats *stats = &compiler->stats;
	uint32_t status;
	const char *text;
	int version[2];

	fw_tune_message_take(message, &status, sizeof(status));
	fw_tune_message_take(message, version, sizeof(version));
	text = fw_tune_message_take_text(message);
	if (status || message->is_short)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s",
			       text && text[0] ? text : "the compiler's process said nothing");
	stats->nvrtc_major = (unsigned)version[0];
	stats->nvrtc_minor = (unsigned)version[1];
	keep_text(stats->nvrtc_path, sizeof(stats->nvrtc_path), fw_tune_message_take_text(message));
	keep_text(stats->include_path, sizeof(stats->include_path),
		  fw_tune_message_take_text(message));
	return FW_OK;
}

/* The first worker says whether there is a compiler at all; the others are waited for later. */
static fw_status wait_for_first(struct fw_tune_compiler *compiler, struct fw_error *err)
{
	struct worker *worker = &compiler->workers[0];
	struct fw_tune_message message;
	enum fw_tune_received got;
	fw_status status;
	char how[160];

	got = fw_tune_receive(worker->process.fd, worker->deadline_ns, &message);
	if (got == FW_TUNE_RECEIVED) {
		status = take_hello(compiler, &message, err);
		fw_tune_message_release(&message);
		worker->state = IDLE;
		return status;
	}
	fw_tune_process_end(&worker->process, how, sizeof(how));
	worker->state = GONE;
	return fw_fail(err, FW_ERR_UNSUPPORTED, "NVRTC: the process that loads it %s %s",
		       got == FW_TUNE_ENDED ? "ended with" : "did not answer:", how);
}

static fw_status start_all(struct fw_tune_compiler *compiler, struct fw_error *err)
{
	fw_status status = start(compiler, &compiler->workers[0], err);

	if (!status)
		status = wait_for_first(compiler, err);
	/* Fewer than asked for do as well. */
	for (unsigned i = 1; !status && i < compiler->n_workers; i++)
		start(compiler, &compiler->workers[i], NULL);
	return status;
}

fw_status fw_tune_compiler_open(const struct fw_tune_spec *spec,
				const struct fw_tune_compile_options *options,
				struct fw_tune_compiler **compiler, struct fw_error *err)
{
	struct fw_tune_compiler *c = calloc(1, sizeof(*c));
	fw_status status;

	*compiler = NULL;
	if (!c)
		return fw_fail_nomem(err, sizeof(*c));
	c->queue = (struct fw_vec)FW_VEC(struct queued);
	c->work.spec = spec;
	c->work.options = *options;
	if (!(c->work.options.limit_s > 0))
		c->work.options.limit_s = LIMIT_S;
	c->n_workers = options->workers ? options->workers : cores();
	if (c->n_workers > MAX_WORKERS)
		c->n_workers = MAX_WORKERS;
	status = fw_hw_limits_find(options->cc, &c->work.hw, err);
	if (!status)
		status = fw_tune_source_folder(spec, c->work.source_folder, err);
	if (!status)
		status = fw_tune_include_hash(spec, &c->work.include_hash, err);
	if (!status && options->cache_dir)
		status = fw_tune_object_folder(options->cache_dir, CACHE_BYTES, err);
	if (!status)
		status = start_all(c, err);
	if (status)
		fw_tune_compiler_close(c);
	else
		*compiler = c;
	return status;
}

void fw_tune_compiler_close(struct fw_tune_compiler *compiler)
{
	if (!compiler)
		return;
	for (unsigned i = 0; i < compiler->n_workers; i++)
		fw_tune_process_end(&compiler->workers[i].process, NULL, 0);
	fw_vec_release(&compiler->queue);
	free(compiler);
}

void fw_tune_compiler_stats(const struct fw_tune_compiler *compiler,
			    struct fw_tune_compile_stats *stats)
{
	*stats = compiler->stats;
}

void fw_tune_object_release(struct fw_tune_object *object)
{
	free(object->cubin);
	free(object->lowered_name);
	free(object->reference_name);
	*object = (struct fw_tune_object){ 0 };
}

static bool hand_out(struct fw_tune_compiler *compiler, struct worker *worker)
{
	const struct queued *queued = (const struct queued *)compiler->queue.data + compiler->head;
	uint32_t n_sizes = queued->has_sizes ? compiler->work.spec->n_sets : 0;
	struct fw_str text = { 0 };
	bool is_sent;

	fw_str_append(&text, (const char *)&queued->config, sizeof(queued->config));
	fw_str_append(&text, (const char *)&n_sizes, sizeof(n_sizes));
	fw_str_append(&text, (const char *)queued->sizes, n_sizes * sizeof(*queued->sizes));
	is_sent = fw_tune_send(worker->process.fd, FW_TUNE_MSG_JOB, &text);
	fw_str_release(&text);
	if (!is_sent)
		return false;
	worker->state = BUSY;
	worker->config = queued->config;
	worker->start_ns = fw_tune_now();
	worker->deadline_ns =
		worker->start_ns + (int64_t)(compiler->work.options.limit_s * SECOND_NS);
	compiler->head++;
	return true;
}

/* Ends it and puts another in its place; the reason of its end in how. */
static void replace(struct fw_tune_compiler *compiler, struct worker *worker, char *how,
		    size_t bytes)
{
	fw_tune_process_end(&worker->process, how, bytes);
	compiler->stats.workers_lost++;
	start(compiler, worker, NULL);
}

static void hand_out_all(struct fw_tune_compiler *compiler)
{
	for (unsigned i = 0; i < compiler->n_workers && compiler->head < compiler->queue.len; i++) {
		struct worker *worker = &compiler->workers[i];

		if (worker->state == IDLE && !hand_out(compiler, worker))
			replace(compiler, worker, NULL, 0);
	}
}

fw_status fw_tune_compiler_submit(struct fw_tune_compiler *compiler,
				  const struct fw_tune_config *config, const int64_t *sizes,
				  struct fw_error *err)
{
	const struct fw_tune_spec *spec = compiler->work.spec;
	struct queued *queued;

	for (uint32_t i = 0; i < spec->space.n_params; i++)
		if (config->value[i] >= spec->space.params[i].n_values)
			return fw_fail(err, FW_ERR_ARGUMENT, "parameter %s has no value %u",
				       spec->space.params[i].name, config->value[i]);
	if (compiler->head == compiler->queue.len)
		compiler->head = compiler->queue.len = 0;
	queued = fw_vec_push(&compiler->queue);
	if (!queued)
		return fw_fail_nomem(err, sizeof(*queued));
	queued->config = *config;
	queued->has_sizes = sizes != NULL;
	if (sizes)
		memcpy(queued->sizes, sizes, spec->n_sets * sizeof(*sizes));
	compiler->n_pending++;
	hand_out_all(compiler);
	return FW_OK;
}

/* Why a configuration has no object: its compiler died or took too long. */
static void lose(struct fw_tune_compiler *compiler, struct worker *worker, bool was_late,
		 struct fw_tune_object *object)
{
	struct fw_tune_result *result = &object->result;
	char how[160] = "";

	*object = (struct fw_tune_object){ .result = { .config = worker->config,
						       .status = FW_TUNE_COMPILE_FAILED,
						       .occupancy = -1,
						       .median_s = -1,
						       .low_s = -1,
						       .high_s = -1 } };
	result->compile_s = (double)(fw_tune_now() - worker->start_ns) * 1e-9;
	replace(compiler, worker, how, sizeof(how));
	if (was_late)
		snprintf(result->reason, sizeof(result->reason),
			 "the compiler took longer than %g s and was ended",
			 compiler->work.options.limit_s);
	else
		snprintf(result->reason, sizeof(result->reason), "the compiler died: %.150s", how);
}

static char *copy_text(struct fw_tune_message *message)
{
	const char *text = fw_tune_message_take_text(message);

	return text ? strdup(text) : NULL;
}

static void count(struct fw_tune_compile_stats *stats, const struct fw_tune_work_done *done)
{
	stats->compiled += done->was_compiled;
	stats->from_cache += done->was_cached;
	stats->damaged += done->was_damaged;
	stats->not_kept += done->was_not_kept;
	if (done->was_damaged || done->was_not_kept)
		snprintf(stats->trouble, sizeof(stats->trouble), "%.255s", done->trouble);
}

/* What a compiler's process says is believed as far as it can be true. */
static bool is_plausible(const struct fw_tune_message *message, const struct fw_tune_object *object)
{
	const struct fw_tune_result *result = &object->result;

	return !message->is_short && memchr(result->reason, 0, sizeof(result->reason)) &&
	       (result->status == FW_TUNE_COMPILE_FAILED ||
		result->status == FW_TUNE_NOT_LAUNCHABLE ||
		(result->status == FW_TUNE_OK && object->lowered_name && object->cubin)) &&
	       result->n_samples == 0;
}

static fw_status take_object(struct fw_tune_compiler *compiler, struct fw_tune_message *message,
			     struct fw_tune_object *object, struct fw_error *err)
{
	struct fw_tune_work_done done;
	const void *cubin;
	size_t bytes;

	*object = (struct fw_tune_object){ 0 };
	fw_tune_message_take(message, &object->result, sizeof(object->result));
	fw_tune_message_take(message, &done, sizeof(done));
	cubin = fw_tune_message_take_block(message, &bytes);
	object->lowered_name = copy_text(message);
	object->reference_name = copy_text(message);
	object->cubin = cubin ? malloc(bytes) : NULL;
	if (object->cubin) {
		memcpy(object->cubin, cubin, bytes);
		object->cubin_bytes = bytes;
	}
	done.trouble[sizeof(done.trouble) - 1] = 0;
	count(&compiler->stats, &done);
	if (is_plausible(message, object))
		return FW_OK;
	fw_tune_object_release(object);
	return fw_fail(err, FW_ERR_INTERNAL, "a compiler's process gave an answer that is none");
}

/* What a worker has to say. True: object is that of a configuration, or *status tells why there is none. */
static bool listen(struct fw_tune_compiler *compiler, struct worker *worker,
		   struct fw_tune_object *object, fw_status *status, struct fw_error *err)
{
	bool was_busy = worker->state == BUSY;
	struct fw_tune_message message;
	enum fw_tune_received got;

	got = fw_tune_receive(worker->process.fd, worker->deadline_ns, &message);
	if (got == FW_TUNE_RECEIVED && was_busy && message.type == FW_TUNE_MSG_DONE) {
		*status = take_object(compiler, &message, object, err);
		object->result.config = worker->config;
		worker->state = IDLE;
	} else if (got == FW_TUNE_RECEIVED && !was_busy && message.type == FW_TUNE_MSG_HELLO &&
		   !take_hello(compiler, &message, NULL)) {
		worker->state = IDLE;
	} else if (was_busy) {
		lose(compiler, worker, got == FW_TUNE_TIMED_OUT, object);
	} else {
		/* It could not load what the first one could: memory is short; fewer have to do. */
		fw_tune_process_end(&worker->process, NULL, 0);
		worker->state = GONE;
		compiler->stats.workers_lost++;
	}
	fw_tune_message_release(&message);
	return was_busy;
}

/* Waits until a worker speaks, ends, or is late; NULL: none is left. */
static struct worker *wait_for_one(struct fw_tune_compiler *compiler)
{
	struct pollfd fds[MAX_WORKERS];
	struct worker *late = NULL;
	bool is_any = false;

	for (unsigned i = 0; i < compiler->n_workers; i++) {
		struct worker *worker = &compiler->workers[i];
		bool is_asked = worker->state == STARTING || worker->state == BUSY;

		fds[i] = (struct pollfd){ .fd = is_asked ? worker->process.fd : -1,
					  .events = POLLIN };
		if (is_asked && (!late || worker->deadline_ns < late->deadline_ns))
			late = worker;
		is_any |= is_asked;
	}
	while (is_any) {
		int64_t left = (late->deadline_ns - fw_tune_now()) / 1000000 + 1;
		int ready = left <= 0 ? 0
				      : poll(fds, compiler->n_workers,
					     left > 60000 ? 60000 : (int)left);

		if (ready < 0 && errno != EINTR)
			return NULL;
		for (unsigned i = 0; ready > 0 && i < compiler->n_workers; i++)
			if (fds[i].revents)
				return &compiler->workers[i];
		if (fw_tune_now() >= late->deadline_ns)
			return late;
	}
	return NULL;
}

/* With no worker left, one more attempt to have one. */
static fw_status revive(struct fw_tune_compiler *compiler, struct fw_error *err)
{
	for (unsigned i = 0; i < compiler->n_workers; i++)
		if (compiler->workers[i].state != GONE)
			return FW_OK;
	return start_all(compiler, err);
}

fw_status fw_tune_compiler_next(struct fw_tune_compiler *compiler, struct fw_tune_object *object,
				struct fw_error *err)
{
	fw_status status = FW_OK;
	unsigned vain = 0;
	bool is_done = false;

	*object = (struct fw_tune_object){ 0 };
	if (!compiler->n_pending)
		return fw_fail(err, FW_ERR_ARGUMENT, "no configuration is queued for the compiler");
	while (!is_done) {
		struct worker *worker;

		status = revive(compiler, err);
		if (status)
			return status;
		hand_out_all(compiler);
		worker = wait_for_one(compiler);
		if (!worker && ++vain == MAX_VAIN)
			return fw_fail(err, FW_ERR_IO, "no process for the compiler stays alive");
		is_done = worker && listen(compiler, worker, object, &status, err);
	}
	compiler->n_pending--;
	/* The worker is free again: it has the next one while the caller measures. */
	hand_out_all(compiler);
	return status;
}
