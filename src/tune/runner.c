/* The parent's side of the GPU's owner: asks, watches, replaces it when it dies or hangs. */
#include "tune/runner.h"

#include "base/vec.h"
#include "tune/runner_process.h"
#include "tune/sample.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HANG_S    10.0 /* where the caller names none */
#define ANSWER_S  300  /* to begin with a request; the child says how long the rest may take */
#define LOOK_MS   20   /* how often the deadline is looked at */
#define READ_S    60   /* to read an answer that has begun */
#define SECOND_NS INT64_C(1000000000)

struct slot {
	uint32_t id;
	bool is_loaded;     /* in the process that lives now */
	struct fw_str body; /* of the message that loads it */
};

struct fw_tune_runner {
	struct fw_tune_runner_work work;
	struct fw_tune_process process;
	struct fw_tune_gpu gpu;
	struct fw_str reference; /* the message that made it; empty: none yet */
	struct fw_vec slots;     /* struct slot */
};

enum answer { ANSWERED, DIED, HUNG };

static bool is_alive(const struct fw_tune_runner *runner)
{
	return runner->process.pid != 0;
}

static struct slot *slots_of(const struct fw_tune_runner *runner)
{
	return runner->slots.data;
}

/* The process is gone, and what it had loaded. */
static void end(struct fw_tune_runner *runner, char *how, size_t bytes)
{
	fw_tune_process_end(&runner->process, how, bytes);
	for (size_t i = 0; i < runner->slots.len; i++)
		slots_of(runner)[i].is_loaded = false;
}

/* Its answer, or what became of it; how: words for that. */
static enum answer await(struct fw_tune_runner *runner, struct fw_tune_message *message, char *how,
			 size_t bytes)
{
	struct pollfd p = { .fd = runner->process.fd, .events = POLLIN };

	*message = (struct fw_tune_message){ 0 };
	while (poll(&p, 1, LOOK_MS) <= 0)
		if (fw_tune_now() > atomic_load(&runner->work.watch->deadline_ns)) {
			end(runner, NULL, 0);
			snprintf(how, bytes, "no end within %g s; ended by the watchdog",
				 (double)atomic_load(&runner->work.watch->hang_ns) * 1e-9);
			return HUNG;
		}
	if (fw_tune_receive(runner->process.fd, fw_tune_now() + READ_S * SECOND_NS, message) ==
	    FW_TUNE_RECEIVED)
		return ANSWERED;
	end(runner, how, bytes);
	return DIED;
}

static enum answer ask(struct fw_tune_runner *runner, uint32_t type, const struct fw_str *payload,
		       struct fw_tune_message *message, char *how, size_t bytes)
{
	atomic_store(&runner->work.watch->deadline_ns, fw_tune_now() + ANSWER_S * SECOND_NS);
	if (fw_tune_send(runner->process.fd, type, payload))
		return await(runner, message, how, bytes);
	*message = (struct fw_tune_message){ 0 };
	end(runner, how, bytes);
	return DIED;
}

/* The first words of a new process. */
static fw_status take_ready(struct fw_tune_runner *runner, struct fw_tune_message *message,
			    struct fw_error *err)
{
	struct fw_tune_runner_work *work = &runner->work;
	struct fw_tune_gpu gpu;
	const char *text;
	const void *cubin;
	uint32_t status;
	size_t bytes;

	fw_tune_message_take(message, &status, sizeof(status));
	text = fw_tune_message_take_text(message);
	fw_tune_message_take(message, &gpu, sizeof(gpu));
	cubin = fw_tune_message_take_block(message, &bytes);
	if (message->is_short || status > FW_ERR_INTERNAL)
		return fw_fail(err, FW_ERR_INTERNAL, "the GPU's process gave no whole answer");
	if (status)
		return fw_fail(err, (fw_status)status, "%s", text ? text : "no GPU");
	gpu.name[sizeof(gpu.name) - 1] = gpu.uuid[sizeof(gpu.uuid) - 1] = 0;
	runner->gpu = gpu;
	if (cubin && !work->check_cubin) {
		work->check_cubin = malloc(bytes);
		if (!work->check_cubin)
			return fw_fail_nomem(err, bytes);
		memcpy(work->check_cubin, cubin, bytes);
		work->check_bytes = bytes;
	}
	return FW_OK;
}

static fw_status start(struct fw_tune_runner *runner, struct fw_error *err)
{
	struct fw_tune_message message;
	char how[200];
	fw_status status;

	atomic_store(&runner->work.watch->deadline_ns, fw_tune_now() + ANSWER_S * SECOND_NS);
	status =
		fw_tune_process_start(&runner->process, fw_tune_runner_process, &runner->work, err);
	if (status)
		return status;
	if (await(runner, &message, how, sizeof(how)))
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the process that starts the CUDA driver: %s", how);
	status = take_ready(runner, &message, err);
	fw_tune_message_release(&message);
	if (status)
		end(runner, NULL, 0);
	return status;
}

static fw_status take_outcome(struct fw_tune_message *message, struct fw_tune_outcome *outcome,
			      struct fw_error *err)
{
	fw_tune_message_take(message, outcome, sizeof(*outcome));
	outcome->text[sizeof(outcome->text) - 1] = 0;
	if (message->type != FW_TUNE_MSG_OUTCOME || message->is_short ||
	    outcome->status > FW_ERR_INTERNAL || outcome->verdict > FW_TUNE_HUNG)
		return fw_fail(err, FW_ERR_INTERNAL, "the GPU's process gave no whole answer");
	return FW_OK;
}

/* Has the reference's outputs made; a failure of the reference kernel is an error. */
static fw_status make_reference(struct fw_tune_runner *runner, struct fw_error *err)
{
	struct fw_tune_outcome outcome = { 0 };
	struct fw_tune_message message;
	fw_status status = FW_OK;
	char how[200];

	if (ask(runner, FW_TUNE_MSG_REFERENCE, &runner->reference, &message, how, sizeof(how)))
		return fw_fail(err, FW_ERR_FORMAT, "the reference: %s", how);
	status = take_outcome(&message, &outcome, err);
	fw_tune_message_release(&message);
	if (!status && outcome.status)
		status = fw_fail(err, (fw_status)outcome.status, "the reference: %s", outcome.text);
	/* After an error of the whole context the process has ended; another one does no harm. */
	if (status)
		end(runner, NULL, 0);
	return status;
}

/* A process that lives and has the reference's outputs. */
static fw_status ensure(struct fw_tune_runner *runner, struct fw_error *err)
{
	fw_status status;

	if (is_alive(runner))
		return FW_OK;
	status = start(runner, err);
	if (!status && runner->reference.len)
		status = make_reference(runner, err);
	return status;
}

fw_status fw_tune_runner_open(const struct fw_tune_spec *spec,
			      const struct fw_tune_runner_options *options,
			      struct fw_tune_runner **runner, struct fw_tune_gpu *gpu,
			      struct fw_error *err)
{
	struct fw_tune_runner *r = calloc(1, sizeof(*r));
	void *watch = mmap(NULL, sizeof(struct fw_tune_watch), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fw_status status;

	*runner = NULL;
	if (!r || watch == MAP_FAILED) {
		if (watch != MAP_FAILED)
			munmap(watch, sizeof(struct fw_tune_watch));
		free(r);
		return fw_fail_nomem(err, sizeof(*r));
	}
	r->slots = (struct fw_vec)FW_VEC(struct slot);
	r->work = (struct fw_tune_runner_work){ .spec = spec, .options = *options, .watch = watch };
	fw_tune_runner_set_hang(r, options->hang_s > 0 ? options->hang_s : HANG_S);
	status = start(r, err);
	if (status) {
		fw_tune_runner_close(r);
		return status;
	}
	*gpu = r->gpu;
	*runner = r;
	return FW_OK;
}

void fw_tune_runner_set_hang(struct fw_tune_runner *runner, double hang_s)
{
	if (hang_s > 0 && hang_s < 1e6)
		atomic_store(&runner->work.watch->hang_ns, (int64_t)(hang_s * SECOND_NS));
}

static void release_slot(struct fw_tune_runner *runner, size_t i)
{
	fw_str_release(&slots_of(runner)[i].body);
	slots_of(runner)[i] = slots_of(runner)[runner->slots.len - 1];
	runner->slots.len--;
}

static struct slot *find(const struct fw_tune_runner *runner, uint32_t id)
{
	for (size_t i = 0; i < runner->slots.len; i++)
		if (slots_of(runner)[i].id == id)
			return &slots_of(runner)[i];
	return NULL;
}

void fw_tune_runner_close(struct fw_tune_runner *runner)
{
	if (!runner)
		return;
	end(runner, NULL, 0);
	while (runner->slots.len)
		release_slot(runner, 0);
	fw_vec_release(&runner->slots);
	fw_str_release(&runner->reference);
	free(runner->work.check_cubin);
	munmap(runner->work.watch, sizeof(struct fw_tune_watch));
	free(runner);
}

static void put_kernel(struct fw_str *text, const struct fw_tune_object *object)
{
	fw_str_append(text, (const char *)&object->result.config, sizeof(object->result.config));
	fw_tune_put_text(text, object->lowered_name);
	fw_tune_put_block(text, object->cubin, object->cubin_bytes);
}

fw_status fw_tune_runner_set_reference(struct fw_tune_runner *runner,
				       const struct fw_tune_object *object, const int64_t *sizes,
				       struct fw_error *err)
{
	const struct fw_tune_spec *spec = runner->work.spec;
	uint32_t n = sizes ? spec->n_sets : 0;
	struct fw_str *text = &runner->reference;

	if (!object->cubin || (spec->reference && !object->reference_name))
		return fw_fail(err, FW_ERR_ARGUMENT, "the reference was not compiled");
	/* What was checked before was checked against other outputs, perhaps of other sizes. */
	while (runner->slots.len)
		release_slot(runner, 0);
	fw_str_clear(text);
	fw_str_append(text, (const char *)&n, sizeof(n));
	if (n)
		fw_str_append(text, (const char *)sizes, n * sizeof(*sizes));
	fw_tune_put_text(text, spec->reference ? object->reference_name : NULL);
	put_kernel(text, object);
	if (text->failed)
		return fw_fail_nomem(err, object->cubin_bytes);
	return is_alive(runner) ? make_reference(runner, err) : ensure(runner, err);
}

/* Sends a slot's kernel, to be checked or only loaded. */
static enum answer send_slot(struct fw_tune_runner *runner, const struct slot *slot,
			     uint32_t checks, struct fw_tune_message *message, char *how,
			     size_t bytes)
{
	struct fw_str text = { 0 };
	enum answer answer;

	fw_str_append(&text, (const char *)&slot->id, sizeof(slot->id));
	fw_str_append(&text, (const char *)&checks, sizeof(checks));
	fw_str_append(&text, slot->body.data, slot->body.len);
	text.failed |= slot->body.failed;
	answer = ask(runner, FW_TUNE_MSG_LOAD, &text, message, how, bytes);
	fw_str_release(&text);
	return answer;
}

static void judge(struct fw_tune_result *result, enum fw_tune_status status, const char *text)
{
	result->status = status;
	snprintf(result->reason, sizeof(result->reason), "%.*s", FW_TUNE_REASON_BYTES - 1, text);
}

static void judge_death(struct fw_tune_result *result, enum answer answer, const char *how)
{
	char text[FW_TUNE_REASON_BYTES];

	snprintf(text, sizeof(text), "%s%.150s",
		 answer == DIED ? "the process that owned the GPU died: " : "", how);
	judge(result, answer == DIED ? FW_TUNE_CRASHED : FW_TUNE_HUNG, text);
}

static struct slot *new_slot(struct fw_tune_runner *runner, const struct fw_tune_object *object,
			     uint32_t id, struct fw_error *err)
{
	struct slot *slot = find(runner, id);

	if (!slot)
		slot = fw_vec_push(&runner->slots);
	if (slot) {
		slot->id = id;
		slot->is_loaded = false;
		fw_str_clear(&slot->body);
		put_kernel(&slot->body, object);
	}
	if (!slot || slot->body.failed) {
		fw_fail_nomem(err, object->cubin_bytes);
		return NULL;
	}
	return slot;
}

/* Loads a slot, with or without a check. An error is one of the machine, not of the kernel. */
static fw_status load(struct fw_tune_runner *runner, struct slot *slot, uint32_t checks,
		      struct fw_tune_result *result, struct fw_error *err)
{
	struct fw_tune_outcome outcome = { 0 };
	struct fw_tune_message message;
	enum answer answer;
	fw_status status;
	char how[200];

	answer = send_slot(runner, slot, checks, &message, how, sizeof(how));
	if (answer) {
		judge_death(result, answer, how);
		return FW_OK;
	}
	status = take_outcome(&message, &outcome, err);
	fw_tune_message_release(&message);
	if (status)
		return status;
	if (outcome.status)
		return fw_fail(err, (fw_status)outcome.status, "%s", outcome.text);
	judge(result, (enum fw_tune_status)outcome.verdict, outcome.text);
	slot->is_loaded = outcome.verdict == FW_TUNE_OK;
	if (outcome.verdict == FW_TUNE_CRASHED)
		end(runner, NULL, 0);
	return FW_OK;
}

fw_status fw_tune_runner_check(struct fw_tune_runner *runner, const struct fw_tune_object *object,
			       uint32_t id, struct fw_tune_result *result, struct fw_error *err)
{
	struct slot *slot;
	fw_status status;

	if (!runner->reference.len || !object->cubin)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "nothing to check, or nothing to compare with");
	*result = object->result;
	status = ensure(runner, err);
	if (status)
		return status;
	slot = new_slot(runner, object, id, err);
	if (!slot)
		return FW_ERR_NOMEM;
	status = load(runner, slot, 1, result, err);
	if (status || result->status)
		release_slot(runner, (size_t)(slot - slots_of(runner)));
	return status;
}

/* Loads what the process does not have: it is a new one. */
static fw_status load_missing(struct fw_tune_runner *runner, uint32_t id,
			      struct fw_tune_result *result, struct fw_error *err)
{
	struct slot *slot = find(runner, id);
	fw_status status;

	if (!slot)
		return fw_fail(err, FW_ERR_ARGUMENT, "slot %u holds nothing that was checked", id);
	status = ensure(runner, err);
	if (!status && !slot->is_loaded)
		status = load(runner, slot, 0, result, err);
	return status;
}

static void append(struct fw_tune_result *result, const struct fw_tune_samples *samples)
{
	for (uint32_t i = 0;
	     i < samples->n && i < FW_TUNE_MAX_SAMPLES && result->n_samples < FW_TUNE_MAX_SAMPLES;
	     i++)
		result->samples_s[result->n_samples++] = samples->seconds[i];
	result->discarded += samples->discarded;
	result->unsteady += samples->unsteady;
	if (samples->clock_mhz)
		result->sm_clock_mhz = samples->clock_mhz;
	if (samples->status == FW_TUNE_LAUNCH_FAILED)
		judge(result, FW_TUNE_LAUNCH_FAILED, samples->reason);
}

/* What one call samples: those that are still alive. */
struct round {
	uint32_t ids[FW_TUNE_MAX_SLOTS];
	struct fw_tune_result *results[FW_TUNE_MAX_SLOTS];
	uint32_t n_slots;
};

static struct fw_tune_result *result_of(const struct round *round, uint32_t id)
{
	for (uint32_t i = 0; i < round->n_slots; i++)
		if (round->ids[i] == id)
			return round->results[i];
	return round->results[0];
}

static void forget(struct fw_tune_runner *runner, uint32_t id)
{
	struct slot *slot = find(runner, id);

	if (slot)
		release_slot(runner, (size_t)(slot - slots_of(runner)));
}

/* Takes those that failed out of the round. */
static void thin(struct fw_tune_runner *runner, struct round *round)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < round->n_slots; i++) {
		if (round->results[i]->status) {
			forget(runner, round->ids[i]);
			continue;
		}
		round->ids[kept] = round->ids[i];
		round->results[kept++] = round->results[i];
	}
	round->n_slots = kept;
}

/* Asks once. *is_done: the samples are there; else one of the slots has failed. */
static fw_status sample_once(struct fw_tune_runner *runner, struct round *round, uint32_t n,
			     bool *is_done, struct fw_error *err)
{
	struct fw_tune_outcome outcome = { 0 };
	struct fw_tune_message message;
	struct fw_tune_samples samples;
	struct fw_tune_result *culprit;
	struct fw_str text = { 0 };
	enum answer answer;
	fw_status status;
	char how[200];

	fw_str_append(&text, (const char *)&n, sizeof(n));
	fw_str_append(&text, (const char *)&round->n_slots, sizeof(round->n_slots));
	fw_str_append(&text, (const char *)round->ids, round->n_slots * sizeof(*round->ids));
	answer = ask(runner, FW_TUNE_MSG_SAMPLE, &text, &message, how, sizeof(how));
	fw_str_release(&text);
	culprit = result_of(round, atomic_load(&runner->work.watch->slot));
	if (answer) {
		judge_death(culprit, answer, how);
		return FW_OK;
	}
	status = take_outcome(&message, &outcome, err);
	if (!status && outcome.verdict == FW_TUNE_CRASHED) {
		end(runner, NULL, 0);
		judge(culprit, FW_TUNE_CRASHED, outcome.text);
	} else if (!status) {
		for (uint32_t i = 0; i < round->n_slots; i++) {
			fw_tune_message_take(&message, &samples, sizeof(samples));
			samples.reason[sizeof(samples.reason) - 1] = 0;
			append(round->results[i], &samples);
		}
		*is_done = true;
	}
	fw_tune_message_release(&message);
	return status;
}

fw_status fw_tune_runner_sample(struct fw_tune_runner *runner, const uint32_t *slots,
				struct fw_tune_result **results, uint32_t n_slots, uint32_t n,
				struct fw_error *err)
{
	struct round round = { .n_slots = n_slots };
	fw_status status = FW_OK;
	bool is_done = false;

	if (n_slots > FW_TUNE_MAX_SLOTS)
		return fw_fail(err, FW_ERR_ARGUMENT, "%u slots at once; %d are allowed", n_slots,
			       FW_TUNE_MAX_SLOTS);
	memcpy(round.ids, slots, n_slots * sizeof(*slots));
	memcpy(round.results, results, n_slots * sizeof(struct fw_tune_result *));
	/* Each turn that is not the last one takes a slot out. */
	while (!status && !is_done && round.n_slots) {
		for (uint32_t i = 0; !status && i < round.n_slots; i++)
			if (!round.results[i]->status)
				status = load_missing(runner, round.ids[i], round.results[i], err);
		thin(runner, &round);
		if (!status && round.n_slots && is_alive(runner))
			status = sample_once(runner, &round, n, &is_done, err);
		thin(runner, &round);
	}
	return status;
}

void fw_tune_runner_drop(struct fw_tune_runner *runner, uint32_t id)
{
	struct slot *slot = find(runner, id);
	struct fw_tune_message message;
	struct fw_str text = { 0 };
	char how[200];

	if (!slot)
		return;
	if (is_alive(runner) && slot->is_loaded) {
		fw_str_append(&text, (const char *)&id, sizeof(id));
		if (ask(runner, FW_TUNE_MSG_DROP, &text, &message, how, sizeof(how)) == ANSWERED)
			fw_tune_message_release(&message);
		fw_str_release(&text);
	}
	forget(runner, id);
}
