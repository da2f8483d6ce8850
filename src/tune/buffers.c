/* Buffers on the GPU: made, restored, verified. */
#include "tune/buffers.h"

#include "base/file.h"
#include "tune/element.h"
#include "tune/fill.h"
#include "tune/floating.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK    ((size_t)4 << 20) /* of host memory in which content is made */
#define SETUP_S  120.0             /* to make and upload the content */
#define VERIFY_S 10.0

static bool is_output(const struct fw_tune_arg *arg)
{
	return arg->is_output || arg->is_inout;
}

/* A launch finds its content in it, and must not change it unless it is in/out. */
static bool has_pristine(const struct fw_tune_arg *arg)
{
	return !arg->is_scalar && (arg->is_inout || !arg->is_output);
}

static uint64_t data_of(const struct fw_tune_buffer *buffer)
{
	return buffer->base + FW_TUNE_CANARY_BYTES;
}

static fw_status allocate(struct fw_tune_device *device, uint64_t *address, uint64_t bytes,
			  const char *name, struct fw_error *err)
{
	int result = device->cuda.mem_alloc(address, (size_t)bytes);

	if (!result)
		return FW_OK;
	*address = 0;
	fw_cuda_fail(&device->cuda, result, "cuMemAlloc", err);
	fw_error_prefix(err, "%llu bytes for argument %s", (unsigned long long)bytes, name);
	return FW_ERR_NOMEM;
}

static fw_status set_canaries(struct fw_tune_device *device, const struct fw_tune_buffer *buffer,
			      struct fw_error *err)
{
	FW_TUNE_TRY(device,
		    device->cuda.memset_async(buffer->base, FW_TUNE_CANARY, FW_TUNE_CANARY_BYTES,
					      device->stream),
		    "cuMemsetD8Async");
	FW_TUNE_TRY(device,
		    device->cuda.memset_async(data_of(buffer) + buffer->bytes, FW_TUNE_CANARY,
					      FW_TUNE_CANARY_BYTES, device->stream),
		    "cuMemsetD8Async");
	return FW_OK;
}

static fw_status upload_file(struct fw_tune_device *device, const struct fw_tune_arg *arg,
			     const struct fw_tune_buffer *buffer, struct fw_error *err)
{
	struct fw_file file;
	fw_status status = fw_file_open(&file, arg->path, err);
	int result;

	if (status)
		return status;
	if (file.size != buffer->bytes) {
		size_t size = file.size;

		fw_file_close(&file);
		return fw_fail(err, FW_ERR_FORMAT, "%.200s has %zu bytes; argument %.60s has %llu",
			       arg->path, size, arg->name, (unsigned long long)buffer->bytes);
	}
	result = file.size ? device->cuda.memcpy_host_to_device(buffer->pristine, file.data,
								file.size)
			   : 0;
	fw_file_close(&file);
	return result ? fw_cuda_fail(&device->cuda, result, "cuMemcpyHtoD", err) : FW_OK;
}

/* The first content, piece by piece through a block of host memory. */
static fw_status upload(const struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			uint32_t i, uint64_t seed, struct fw_error *err)
{
	const struct fw_tune_buffer *buffer = &buffers->items[i];
	uint32_t width = fw_tune_type_bytes(buffers->spec->args[i].type);
	uint64_t step = CHUNK / width;
	fw_status status = FW_OK;
	void *chunk = malloc(CHUNK);

	if (!chunk)
		return fw_fail_nomem(err, CHUNK);
	for (uint64_t at = 0; !status && at < buffer->elements; at += step) {
		uint64_t count = buffer->elements - at < step ? buffer->elements - at : step;
		int result;

		fw_tune_fill(buffers->spec, i, seed, at, count, chunk);
		result = device->cuda.memcpy_host_to_device(buffer->pristine + at * width, chunk,
							    (size_t)(count * width));
		if (result)
			status = fw_cuda_fail(&device->cuda, result, "cuMemcpyHtoD", err);
	}
	free(chunk);
	return status;
}

static fw_status copy(struct fw_tune_device *device, uint64_t to, uint64_t from, uint64_t bytes,
		      struct fw_error *err)
{
	if (bytes)
		FW_TUNE_TRY(device,
			    device->cuda.memcpy_device_to_device_async(to, from, (size_t)bytes,
								       device->stream),
			    "cuMemcpyDtoDAsync");
	return FW_OK;
}

static fw_status open_one(struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			  uint32_t i, uint64_t seed, struct fw_error *err)
{
	const struct fw_tune_arg *arg = &buffers->spec->args[i];
	struct fw_tune_buffer *buffer = &buffers->items[i];
	fw_status status;

	status = fw_tune_spec_elements(buffers->spec, i, buffers->has_sizes ? buffers->sizes : NULL,
				       &buffer->elements, err);
	if (status)
		return status;
	buffer->bytes = buffer->elements * fw_tune_type_bytes(arg->type);
	status = allocate(device, &buffer->base, buffer->bytes + 2 * FW_TUNE_CANARY_BYTES,
			  arg->name, err);
	if (!status && has_pristine(arg))
		status = allocate(device, &buffer->pristine, buffer->bytes ? buffer->bytes : 1,
				  arg->name, err);
	if (!status && is_output(arg))
		status = allocate(device, &buffer->want, buffer->bytes ? buffer->bytes : 1,
				  arg->name, err);
	if (!status)
		status = set_canaries(device, buffer, err);
	if (arg->is_inout)
		buffers->inout_bytes += buffer->bytes;
	if (status || !has_pristine(arg))
		return status;
	status = arg->fill == FW_TUNE_FILE ? upload_file(device, arg, buffer, err)
					   : upload(buffers, device, i, seed, err);
	return status ? status
		      : copy(device, data_of(buffer), buffer->pristine, buffer->bytes, err);
}

fw_status fw_tune_buffers_open(struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			       const struct fw_tune_spec *spec, const int64_t *sizes, uint64_t seed,
			       struct fw_error *err)
{
	fw_status status = FW_OK;

	*buffers = (struct fw_tune_buffers){ .spec = spec, .has_sizes = sizes != NULL };
	if (sizes)
		memcpy(buffers->sizes, sizes, spec->n_sets * sizeof(*sizes));
	fw_tune_device_allow(device, SETUP_S);
	for (uint32_t i = 0; !status && i < spec->n_args; i++)
		if (!spec->args[i].is_scalar)
			status = open_one(buffers, device, i, seed, err);
	return status ? status : fw_tune_device_finish(device, err);
}

void fw_tune_buffers_release(struct fw_tune_buffers *buffers, struct fw_tune_device *device)
{
	for (uint32_t i = 0; i < FW_TUNE_MAX_ARGS; i++) {
		const struct fw_tune_buffer *buffer = &buffers->items[i];

		/* A failure to free means that the context is lost, which the next call tells. */
		if (buffer->base)
			device->cuda.mem_free(buffer->base);
		if (buffer->pristine)
			device->cuda.mem_free(buffer->pristine);
		if (buffer->want)
			device->cuda.mem_free(buffer->want);
	}
	*buffers = (struct fw_tune_buffers){ 0 };
}

fw_status fw_tune_buffers_restore(const struct fw_tune_buffers *buffers,
				  struct fw_tune_device *device, bool poisons, struct fw_error *err)
{
	for (uint32_t i = 0; i < buffers->spec->n_args; i++) {
		const struct fw_tune_arg *arg = &buffers->spec->args[i];
		const struct fw_tune_buffer *buffer = &buffers->items[i];
		fw_status status = FW_OK;

		if (arg->is_scalar)
			continue;
		if (arg->is_inout)
			status =
				copy(device, data_of(buffer), buffer->pristine, buffer->bytes, err);
		else if (arg->is_output && poisons && buffer->bytes)
			FW_TUNE_TRY(device,
				    device->cuda.memset_async(data_of(buffer), FW_TUNE_POISON,
							      (size_t)buffer->bytes,
							      device->stream),
				    "cuMemsetD8Async");
		if (status)
			return status;
	}
	return FW_OK;
}

/* Queues the checks of all buffers; finding i is that of argument i. */
static fw_status queue_checks(const struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			      struct fw_error *err)
{
	fw_status status = fw_tune_device_clear_findings(device, err);

	for (uint32_t i = 0; !status && i < buffers->spec->n_args; i++) {
		const struct fw_tune_arg *arg = &buffers->spec->args[i];
		const struct fw_tune_buffer *buffer = &buffers->items[i];
		bool is_out = is_output(arg);
		struct fw_tune_check check = { .base = buffer->base,
					       .want = is_out ? buffer->want : buffer->pristine,
					       .elements = buffer->elements,
					       .rel = arg->rel,
					       .abs = arg->abs,
					       .type = arg->type,
					       .width = fw_tune_type_bytes(arg->type),
					       .is_exact = !is_out };

		if (!arg->is_scalar)
			status = fw_tune_device_check(device, check, i, err);
	}
	return status;
}

static void read_element(struct fw_tune_device *device, enum fw_tune_type type, uint64_t address,
			 char *text, size_t bytes)
{
	unsigned char element[8];

	if (device->cuda.memcpy_device_to_host(element, address, fw_tune_type_bytes(type)))
		snprintf(text, bytes, "not readable");
	else
		fw_tune_element_text(type, element, text, bytes);
}

static void say_wrong(const struct fw_tune_buffers *buffers, struct fw_tune_device *device,
		      uint32_t i, const struct fw_tune_findings *findings, char *reason)
{
	const struct fw_tune_arg *arg = &buffers->spec->args[i];
	const struct fw_tune_buffer *buffer = &buffers->items[i];
	uint64_t at = findings->first_wrong * fw_tune_type_bytes(arg->type);
	char got[40], want[40];

	read_element(device, arg->type, data_of(buffer) + at, got, sizeof(got));
	read_element(device, arg->type, buffer->want + at, want, sizeof(want));
	snprintf(reason, FW_TUNE_REASON_BYTES, "%.40s[%llu]: %s, not %s; %llu of %llu are wrong",
		 arg->name, (unsigned long long)findings->first_wrong, got, want,
		 (unsigned long long)findings->wrong, (unsigned long long)buffer->elements);
}

/* The index of the first element outside that was changed; before the buffer it is negative. */
static void say_outside(const struct fw_tune_buffers *buffers, uint32_t i,
			const struct fw_tune_findings *findings, char *reason)
{
	const struct fw_tune_arg *arg = &buffers->spec->args[i];
	const struct fw_tune_buffer *buffer = &buffers->items[i];
	int64_t width = fw_tune_type_bytes(arg->type);
	int64_t at = (int64_t)findings->first_outside - FW_TUNE_CANARY_BYTES;
	int64_t index = at < 0 ? -((-at + width - 1) / width) : at / width;

	snprintf(reason, FW_TUNE_REASON_BYTES,
		 "wrote outside %.40s: %.40s[%lld], which has %llu elements; %llu bytes changed",
		 arg->name, arg->name, (long long)index, (unsigned long long)buffer->elements,
		 (unsigned long long)findings->outside);
}

static fw_status repair(const struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			uint32_t i, const struct fw_tune_findings *findings, struct fw_error *err)
{
	const struct fw_tune_buffer *buffer = &buffers->items[i];
	fw_status status = findings->outside ? set_canaries(device, buffer, err) : FW_OK;

	if (!status && findings->wrong && !is_output(&buffers->spec->args[i]))
		status = copy(device, data_of(buffer), buffer->pristine, buffer->bytes, err);
	return status;
}

/* The worst first: what was written outside, inputs that changed, wrong outputs. */
static void judge(const struct fw_tune_buffers *buffers, struct fw_tune_device *device,
		  const struct fw_tune_findings *findings, enum fw_tune_status *status,
		  char reason[FW_TUNE_REASON_BYTES])
{
	const struct fw_tune_spec *spec = buffers->spec;

	*status = FW_TUNE_WROTE_OUTSIDE;
	for (uint32_t i = 0; i < spec->n_args; i++)
		if (!spec->args[i].is_scalar && findings[i].outside) {
			say_outside(buffers, i, &findings[i], reason);
			return;
		}
	for (uint32_t i = 0; i < spec->n_args; i++)
		if (!spec->args[i].is_scalar && !is_output(&spec->args[i]) && findings[i].wrong) {
			snprintf(reason, FW_TUNE_REASON_BYTES, "wrote into the input %.40s[%llu]",
				 spec->args[i].name, (unsigned long long)findings[i].first_wrong);
			return;
		}
	*status = FW_TUNE_WRONG_OUTPUT;
	for (uint32_t i = 0; i < spec->n_args; i++)
		if (!spec->args[i].is_scalar && findings[i].wrong) {
			say_wrong(buffers, device, i, &findings[i], reason);
			return;
		}
	*status = FW_TUNE_OK;
}

fw_status fw_tune_buffers_verify(const struct fw_tune_buffers *buffers,
				 struct fw_tune_device *device, enum fw_tune_status *verdict,
				 char reason[FW_TUNE_REASON_BYTES], struct fw_error *err)
{
	struct fw_tune_findings findings[FW_TUNE_MAX_ARGS];
	fw_status status;

	fw_tune_device_allow(device, VERIFY_S);
	status = queue_checks(buffers, device, err);
	if (!status)
		status = fw_tune_device_findings(device, findings, err);
	if (status)
		return status;
	judge(buffers, device, findings, verdict, reason);
	for (uint32_t i = 0; !status && i < buffers->spec->n_args; i++)
		if (!buffers->spec->args[i].is_scalar)
			status = repair(buffers, device, i, &findings[i], err);
	return status;
}

static bool is_pure_output(const struct fw_tune_arg *arg)
{
	return arg->is_output && !arg->is_inout;
}

/* Pure outputs are compared with poison, inputs with their first content, bit by bit. */
static fw_status queue_reference_check(const struct fw_tune_buffers *buffers,
				       struct fw_tune_device *device, uint32_t i,
				       struct fw_error *err)
{
	const struct fw_tune_arg *arg = &buffers->spec->args[i];
	const struct fw_tune_buffer *buffer = &buffers->items[i];
	struct fw_tune_check check = { .base = buffer->base,
				       .want = is_output(arg) ? 0 : buffer->pristine,
				       .elements = buffer->bytes,
				       .type = FW_TUNE_U8,
				       .width = 1,
				       .is_exact = 1 };

	if (is_pure_output(arg) && buffer->bytes) {
		check.want = buffer->want;
		FW_TUNE_TRY(device,
			    device->cuda.memset_async(buffer->want, FW_TUNE_POISON,
						      (size_t)buffer->bytes, device->stream),
			    "cuMemsetD8Async");
	}
	return fw_tune_device_check(device, check, i, err);
}

static fw_status judge_reference(const struct fw_tune_buffers *buffers, uint32_t i,
				 const struct fw_tune_findings *findings, struct fw_error *err)
{
	const struct fw_tune_arg *arg = &buffers->spec->args[i];
	char reason[FW_TUNE_REASON_BYTES];

	if (findings->outside) {
		say_outside(buffers, i, findings, reason);
		return fw_fail(err, FW_ERR_FORMAT, "the reference %s", reason);
	}
	if (!is_output(arg) && findings->wrong)
		return fw_fail(err, FW_ERR_FORMAT, "the reference writes into the input %.60s",
			       arg->name);
	if (is_pure_output(arg) && buffers->items[i].bytes && !findings->wrong)
		return fw_fail(err, FW_ERR_FORMAT,
			       "the reference writes nothing into the output %.60s", arg->name);
	return FW_OK;
}

fw_status fw_tune_buffers_keep(struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			       struct fw_error *err)
{
	const struct fw_tune_spec *spec = buffers->spec;
	struct fw_tune_findings findings[FW_TUNE_MAX_ARGS];
	fw_status status;

	fw_tune_device_allow(device, VERIFY_S);
	status = fw_tune_device_clear_findings(device, err);
	for (uint32_t i = 0; !status && i < spec->n_args; i++)
		if (!spec->args[i].is_scalar)
			status = queue_reference_check(buffers, device, i, err);
	if (!status)
		status = fw_tune_device_findings(device, findings, err);
	for (uint32_t i = 0; !status && i < spec->n_args; i++) {
		const struct fw_tune_buffer *buffer = &buffers->items[i];

		if (spec->args[i].is_scalar)
			continue;
		status = judge_reference(buffers, i, &findings[i], err);
		if (!status && is_output(&spec->args[i]))
			status = copy(device, buffer->want, data_of(buffer), buffer->bytes, err);
	}
	return status ? status : fw_tune_device_finish(device, err);
}

fw_status fw_tune_buffers_parameters(const struct fw_tune_buffers *buffers,
				     const struct fw_tune_config *config,
				     struct fw_tune_parameters *parameters, struct fw_error *err)
{
	const struct fw_tune_spec *spec = buffers->spec;

	memset(parameters, 0, sizeof(*parameters));
	for (uint32_t i = 0; i < spec->n_args; i++) {
		const struct fw_tune_arg *arg = &spec->args[i];
		fw_status status = FW_OK;
		int64_t value = 0;

		parameters->pointers[i] = &parameters->values[i];
		if (!arg->is_scalar) {
			parameters->values[i] = data_of(&buffers->items[i]);
		} else if (fw_tune_type_is_floating(arg->type)) {
			fw_tune_element_store(arg->type, arg->real, 0, &parameters->values[i]);
		} else {
			status = fw_tune_spec_scalar(spec, i, config,
						     buffers->has_sizes ? buffers->sizes : NULL,
						     &value, err);
			parameters->values[i] = (uint64_t)value;
		}
		if (status)
			return status;
	}
	return FW_OK;
}
