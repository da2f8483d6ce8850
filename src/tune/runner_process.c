/* Owns the GPU: loads, checks and times kernels as its parent asks; ends when the context is lost. */
#include "tune/runner_process.h"

#include "base/vec.h"
#include "tune/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_S 120.0 /* to start the driver, compile our kernels, load a module */

struct slot {
	uint32_t id;
	struct fw_tune_kernel kernel;
};

struct owner {
	const struct fw_tune_runner_work *work;
	struct fw_tune_device device;
	struct fw_tune_buffers buffers;
	struct fw_tune_sampler sampler;
	struct fw_vec slots; /* struct slot * */
	int fd;
	bool is_over; /* the context is lost */
};

static struct slot **slots_of(const struct owner *owner)
{
	return owner->slots.data;
}

static struct slot *find(const struct owner *owner, uint32_t id)
{
	for (size_t i = 0; i < owner->slots.len; i++)
		if (slots_of(owner)[i]->id == id)
			return slots_of(owner)[i];
	return NULL;
}

static void drop(struct owner *owner, uint32_t id)
{
	for (size_t i = 0; i < owner->slots.len; i++)
		if (slots_of(owner)[i]->id == id) {
			fw_tune_kernel_unload(&slots_of(owner)[i]->kernel, &owner->device);
			free(slots_of(owner)[i]);
			slots_of(owner)[i] = slots_of(owner)[--owner->slots.len];
			return;
		}
}

static struct slot *add(struct owner *owner, uint32_t id, struct fw_error *err)
{
	struct slot **place, *slot;

	drop(owner, id);
	slot = calloc(1, sizeof(*slot));
	place = slot ? fw_vec_push(&owner->slots) : NULL;
	if (!place) {
		free(slot);
		fw_fail_nomem(err, sizeof(*slot));
		return NULL;
	}
	slot->id = id;
	*place = slot;
	return slot;
}

static void set_outcome(struct fw_tune_outcome *outcome, fw_status status,
			enum fw_tune_status verdict, const char *text)
{
	*outcome = (struct fw_tune_outcome){ .status = status, .verdict = verdict };
	snprintf(outcome->text, sizeof(outcome->text), "%s", text);
}

/* An error in a launch: the kernel's own, unless the context is lost with it. */
static void blame(struct owner *owner, struct fw_tune_outcome *outcome, const struct fw_error *err)
{
	owner->is_over = fw_tune_device_is_lost(&owner->device);
	set_outcome(outcome, FW_OK, owner->is_over ? FW_TUNE_CRASHED : FW_TUNE_LAUNCH_FAILED,
		    err->message);
}

static bool reply(const struct owner *owner, const struct fw_tune_outcome *outcome,
		  const struct fw_tune_samples *samples, uint32_t n)
{
	struct fw_str text = { 0 };
	bool is_sent;

	fw_str_append(&text, (const char *)outcome, sizeof(*outcome));
	if (n)
		fw_str_append(&text, (const char *)samples, n * sizeof(*samples));
	is_sent = fw_tune_send(owner->fd, FW_TUNE_MSG_OUTCOME, &text);
	fw_str_release(&text);
	return is_sent;
}

/* A kernel as a message describes it; borrowed from the message. */
static fw_status read_source(struct owner *owner, struct fw_tune_message *message,
			     struct fw_tune_config *config, struct fw_tune_kernel_source *source,
			     struct fw_error *err)
{
	size_t bytes;

	fw_tune_message_take(message, config, sizeof(*config));
	source->config = config;
	source->name = fw_tune_message_take_text(message);
	source->cubin = fw_tune_message_take_block(message, &bytes);
	if (!source->name || !source->cubin || message->is_short)
		return fw_fail(err, FW_ERR_INTERNAL, "a message about a kernel is not whole");
	return fw_tune_spec_launch(owner->work->spec, config,
				   owner->buffers.has_sizes ? owner->buffers.sizes : NULL,
				   &source->launch, err);
}

/* Launches it once on restored buffers and poisoned outputs. */
static fw_status run_once(struct owner *owner, struct fw_tune_kernel *kernel, struct fw_error *err)
{
	struct fw_tune_device *device = &owner->device;
	fw_status status;

	fw_tune_device_allow(device, 0.5);
	status = fw_tune_buffers_restore(&owner->buffers, device, true, err);
	if (!status)
		status = fw_tune_kernel_launch(kernel, device, err);
	return status ? status : fw_tune_device_finish(device, err);
}

static void load(struct owner *owner, struct fw_tune_message *message,
		 struct fw_tune_outcome *outcome)
{
	struct fw_tune_kernel_source source;
	struct fw_tune_config config;
	struct fw_error err = { 0 };
	enum fw_tune_status verdict = FW_TUNE_OK;
	char reason[FW_TUNE_REASON_BYTES] = "";
	uint32_t id = 0, checks = 0;
	fw_status status;
	struct slot *slot;

	fw_tune_message_take(message, &id, sizeof(id));
	fw_tune_message_take(message, &checks, sizeof(checks));
	atomic_store(&owner->device.watch->slot, id);
	status = read_source(owner, message, &config, &source, &err);
	slot = status ? NULL : add(owner, id, &err);
	if (!slot) {
		set_outcome(outcome, status ? status : FW_ERR_NOMEM, 0, err.message);
		return;
	}
	fw_tune_device_allow(&owner->device, START_S);
	status = fw_tune_kernel_load(&slot->kernel, &owner->device, &owner->buffers, &source, &err);
	if (!status && checks)
		status = run_once(owner, &slot->kernel, &err);
	if (!status && checks)
		status = fw_tune_buffers_verify(&owner->buffers, &owner->device, &verdict, reason,
						&err);
	if (status)
		blame(owner, outcome, &err);
	else
		set_outcome(outcome, FW_OK, verdict, reason);
	if (outcome->verdict && !owner->is_over)
		drop(owner, id);
}

static fw_status open_buffers(struct owner *owner, struct fw_tune_message *message,
			      struct fw_error *err)
{
	const struct fw_tune_spec *spec = owner->work->spec;
	int64_t sizes[FW_TUNE_MAX_SETS];
	uint32_t n = 0;

	fw_tune_message_take(message, &n, sizeof(n));
	if (n && n != spec->n_sets)
		return fw_fail(err, FW_ERR_INTERNAL, "%u sizes for %u sets", n, spec->n_sets);
	fw_tune_message_take(message, sizes, n * sizeof(*sizes));
	while (owner->slots.len)
		drop(owner, slots_of(owner)[0]->id);
	fw_tune_buffers_release(&owner->buffers, &owner->device);
	return fw_tune_buffers_open(&owner->buffers, &owner->device, spec, n ? sizes : NULL,
				    owner->work->options.seed, err);
}

/* The outputs that all others are compared with. */
static fw_status make_reference(struct owner *owner, struct fw_tune_message *message,
				struct fw_error *err)
{
	struct fw_tune_kernel kernel = { 0 };
	struct fw_tune_kernel_source source;
	struct fw_tune_config config;
	const char *reference;
	fw_status status = open_buffers(owner, message, err);

	if (status)
		return status;
	reference = fw_tune_message_take_text(message);
	status = read_source(owner, message, &config, &source, err);
	if (!status && reference) {
		source.name = reference;
		status = fw_tune_spec_reference_launch(
			owner->work->spec, &config,
			owner->buffers.has_sizes ? owner->buffers.sizes : NULL, &source.launch,
			err);
	}
	fw_tune_device_allow(&owner->device, START_S);
	if (!status)
		status =
			fw_tune_kernel_load(&kernel, &owner->device, &owner->buffers, &source, err);
	if (!status)
		status = run_once(owner, &kernel, err);
	if (!status)
		status = fw_tune_buffers_keep(&owner->buffers, &owner->device, err);
	owner->is_over = status && fw_tune_device_is_lost(&owner->device);
	if (!owner->is_over)
		fw_tune_kernel_unload(&kernel, &owner->device);
	return status;
}

static bool sample(struct owner *owner, struct fw_tune_message *message)
{
	struct fw_tune_kernel *kernels[FW_TUNE_MAX_SLOTS];
	uint32_t slots[FW_TUNE_MAX_SLOTS], n = 0, n_slots = 0;
	struct fw_tune_outcome outcome = { 0 };
	struct fw_tune_samples *samples;
	struct fw_error err = { 0 };
	bool is_sent;

	fw_tune_message_take(message, &n, sizeof(n));
	fw_tune_message_take(message, &n_slots, sizeof(n_slots));
	if (n_slots > FW_TUNE_MAX_SLOTS ||
	    !fw_tune_message_take(message, slots, n_slots * sizeof(*slots)))
		return false;
	samples = calloc(n_slots ? n_slots : 1, sizeof(*samples));
	if (!samples)
		return false;
	for (uint32_t i = 0; i < n_slots; i++) {
		struct slot *slot = find(owner, slots[i]);

		if (!slot) {
			free(samples);
			return false;
		}
		kernels[i] = &slot->kernel;
	}
	if (fw_tune_sample(&owner->sampler, kernels, slots, samples, n_slots, n, &err)) {
		owner->is_over = true;
		set_outcome(&outcome, FW_OK, FW_TUNE_CRASHED, err.message);
	}
	is_sent = reply(owner, &outcome, samples, n_slots);
	free(samples);
	return is_sent;
}

/* False: nothing more to do. */
static bool serve(struct owner *owner, struct fw_tune_message *message)
{
	struct fw_tune_outcome outcome = { 0 };
	struct fw_error err = { 0 };
	fw_status status;
	uint32_t id = 0;

	switch (message->type) {
	case FW_TUNE_MSG_REFERENCE:
		status = make_reference(owner, message, &err);
		set_outcome(&outcome, status, 0, err.message);
		break;
	case FW_TUNE_MSG_LOAD: load(owner, message, &outcome); break;
	case FW_TUNE_MSG_DROP:
		fw_tune_message_take(message, &id, sizeof(id));
		drop(owner, id);
		break;
	case FW_TUNE_MSG_SAMPLE: return sample(owner, message) && !owner->is_over;
	default: return false;
	}
	return reply(owner, &outcome, NULL, 0) && !owner->is_over;
}

static bool hello(struct owner *owner)
{
	const struct fw_tune_runner_work *work = owner->work;
	const struct fw_tune_device_setup setup = { .options = &work->options,
						    .watch = work->watch,
						    .check_cubin = work->check_cubin,
						    .check_bytes = work->check_bytes };
	struct fw_error err = { 0 };
	struct fw_str text = { 0 };
	uint32_t status;
	size_t bytes;
	void *cubin;
	bool is_sent;

	atomic_store(&work->watch->deadline_ns, fw_tune_now() + (int64_t)(START_S * 1e9));
	status = fw_tune_device_open(&owner->device, &setup, &cubin, &bytes, &err);
	fw_str_append(&text, (const char *)&status, sizeof(status));
	fw_tune_put_text(&text, err.message);
	fw_str_append(&text, (const char *)&owner->device.gpu, sizeof(owner->device.gpu));
	fw_tune_put_block(&text, cubin, cubin ? bytes : 0);
	is_sent = fw_tune_send(owner->fd, FW_TUNE_MSG_READY, &text);
	fw_str_release(&text);
	free(cubin);
	return is_sent && !status;
}

void fw_tune_runner_process(int fd, void *user)
{
	struct owner owner = { .work = user, .fd = fd, .slots = FW_VEC(struct slot *) };
	struct fw_tune_message message;
	bool goes_on = true;

	owner.sampler.device = &owner.device;
	owner.sampler.buffers = &owner.buffers;
	owner.sampler.is_flushing = owner.work->options.flushes_l2;
	if (!hello(&owner))
		return;
	while (goes_on && fw_tune_receive(fd, 0, &message) == FW_TUNE_RECEIVED) {
		fw_tune_process_clear_log();
		goes_on = serve(&owner, &message);
		fw_tune_message_release(&message);
	}
}
