#include "gpu/nvml.h"

#include "gpu/loader.h"

#include <string.h>

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, field, args) { symbol, offsetof(struct fw_nvml, field), required },
#include "gpu/nvml.def"
#undef FW_SYM
};

fw_status fw_nvml_open(struct fw_nvml *nvml, const char *library, int *result, struct fw_error *err)
{
	fw_status status;
	int started = FW_NVML_NO_CALL;

	*nvml = (struct fw_nvml){ 0 };
	if (!library)
		library = "libnvidia-ml.so.1";
	status = fw_symbols_load(library, symbols, sizeof(symbols) / sizeof(symbols[0]), nvml,
				 &nvml->handle, err);
	if (!status) {
		started = nvml->init();
		if (started)
			status = fw_fail(err, FW_ERR_UNSUPPORTED, "nvmlInit_v2: %s (%d)",
					 fw_nvml_result_text(started), started);
	}
	if (result)
		*result = started;
	if (status) {
		fw_symbols_unload(nvml->handle);
		*nvml = (struct fw_nvml){ 0 };
	}
	return status;
}

void fw_nvml_close(struct fw_nvml *nvml)
{
	if (nvml->handle)
		nvml->shutdown();
	fw_symbols_unload(nvml->handle);
	*nvml = (struct fw_nvml){ 0 };
}

const char *fw_nvml_result_text(int result)
{
	static const struct {
		int result;
		const char *text;
	} texts[] = {
		{ FW_NVML_NO_CALL, "the driver's NVML has no such call" },
		{ FW_NVML_SUCCESS, "done" },
		{ FW_NVML_UNINITIALIZED, "NVML was shut down" },
		{ FW_NVML_NOT_SUPPORTED, "not supported on this GPU" },
		{ FW_NVML_NO_PERMISSION, "no permission" },
		{ FW_NVML_NOT_FOUND, "not found" },
		{ FW_NVML_INSUFFICIENT_SIZE, "more than fits" },
		{ FW_NVML_DRIVER_NOT_LOADED, "the NVIDIA driver is not loaded" },
		{ FW_NVML_GPU_IS_LOST, "the GPU is lost (it fell off the bus)" },
		{ FW_NVML_RESET_REQUIRED, "the GPU must be reset first" },
		{ FW_NVML_OPERATING_SYSTEM, "the operating system (a cgroup?) blocks the GPU" },
		{ FW_NVML_VERSION_MISMATCH, "driver and library are of different versions" },
		{ FW_NVML_UNKNOWN, "an internal error of the driver" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].result == result)
			return texts[i].text;
	return "NVML failed";
}

static struct fw_nvml_figure figure(int result, uint64_t value)
{
	return (struct fw_nvml_figure){ !result, result, result ? 0 : value };
}

/* The calls that take a device and give one number. */
static struct fw_nvml_figure ask(int (*call)(void *, unsigned *), void *device)
{
	unsigned value = 0;
	int result = call ? call(device, &value) : FW_NVML_NO_CALL;

	return figure(result, value);
}

/* The same with a selector: a clock, a sensor. */
static struct fw_nvml_figure ask_of(int (*call)(void *, int, unsigned *), void *device, int which)
{
	unsigned value = 0;
	int result = call ? call(device, which, &value) : FW_NVML_NO_CALL;

	return figure(result, value);
}

static struct fw_nvml_figure ask_mode(int (*call)(void *, int *), void *device)
{
	int value = 0;
	int result = call ? call(device, &value) : FW_NVML_NO_CALL;

	return figure(result, (unsigned)value);
}

static void ask_text(int (*call)(void *, char *, unsigned), void *device,
		     char text[FW_NVML_NAME_BYTES])
{
	if (!call || call(device, text, FW_NVML_NAME_BYTES))
		text[0] = 0;
	text[FW_NVML_NAME_BYTES - 1] = 0;
}

static struct fw_nvml_figure compute_capability(const struct fw_nvml *nvml, void *device)
{
	int major = 0, minor = 0;
	int result = nvml->device_get_cuda_compute_capability
			     ? nvml->device_get_cuda_compute_capability(device, &major, &minor)
			     : FW_NVML_NO_CALL;

	return figure(result, (unsigned)major * 10u + (unsigned)minor);
}

static struct fw_nvml_figure gpm_support(const struct fw_nvml *nvml, void *device)
{
	struct fw_nvml_gpm_support support = { .version = 1 };
	int result = nvml->gpm_query_device_support
			     ? nvml->gpm_query_device_support(device, &support)
			     : FW_NVML_NO_CALL;

	return figure(result, support.is_supported);
}

void fw_nvml_identify(const struct fw_nvml *nvml, void *device, struct fw_nvml_identity *identity)
{
	struct fw_nvml_pci pci = { .bus_id = "" };

	*identity = (struct fw_nvml_identity){ .name = "" };
	if (!device)
		return;
	ask_text(nvml->device_get_name, device, identity->name);
	ask_text(nvml->device_get_uuid, device, identity->uuid);
	if (nvml->device_get_pci_info && !nvml->device_get_pci_info(device, &pci))
		memcpy(identity->bus_id, pci.bus_id, sizeof(identity->bus_id) - 1);
	identity->minor = ask(nvml->device_get_minor_number, device);
	identity->cc = compute_capability(nvml, device);
	identity->sm_mhz_max = ask_of(nvml->device_get_max_clock_info, device, FW_NVML_CLOCK_SM);
	identity->memory_mhz_max =
		ask_of(nvml->device_get_max_clock_info, device, FW_NVML_CLOCK_MEMORY);
	identity->link_gen_max = ask(nvml->device_get_max_pcie_link_generation, device);
	identity->link_gen_gpu_max = ask(nvml->device_get_gpu_max_pcie_link_generation, device);
	identity->link_width_max = ask(nvml->device_get_max_pcie_link_width, device);
	identity->gpm = gpm_support(nvml, device);
}

static void read_utilization(const struct fw_nvml *nvml, void *device, struct fw_nvml_state *state)
{
	struct fw_nvml_utilization used = { 0 };
	int result = nvml->device_get_utilization_rates
			     ? nvml->device_get_utilization_rates(device, &used)
			     : FW_NVML_NO_CALL;

	state->gpu_percent = figure(result, used.gpu);
	state->memory_percent = figure(result, used.memory);
}

static void read_memory(const struct fw_nvml *nvml, void *device, struct fw_nvml_state *state)
{
	struct fw_nvml_memory memory = { .version = FW_NVML_MEMORY_VERSION };
	int result = nvml->device_get_memory_info_v2
			     ? nvml->device_get_memory_info_v2(device, &memory)
			     : FW_NVML_NO_CALL;

	state->memory_total = figure(result, memory.total);
	state->memory_reserved = figure(result, memory.reserved);
	state->memory_used = figure(result, memory.used);
	state->memory_free = figure(result, memory.free);
}

/* Drivers before 535 know the reasons by their old name. */
static struct fw_nvml_figure clocks_reasons(const struct fw_nvml *nvml, void *device)
{
	unsigned long long reasons = 0;
	int (*call)(void *, unsigned long long *) = nvml->device_get_current_clocks_event_reasons;
	int result;

	if (!call)
		call = nvml->device_get_current_clocks_throttle_reasons;
	result = call ? call(device, &reasons) : FW_NVML_NO_CALL;
	return figure(result, reasons);
}

static struct fw_nvml_figure ecc_errors(const struct fw_nvml *nvml, void *device,
					enum fw_nvml_ecc_counter counter)
{
	unsigned long long count = 0;
	int result = nvml->device_get_total_ecc_errors
			     ? nvml->device_get_total_ecc_errors(device, FW_NVML_ECC_UNCORRECTED,
								 (int)counter, &count)
			     : FW_NVML_NO_CALL;

	return figure(result, count);
}

static void read_health(const struct fw_nvml *nvml, void *device, struct fw_nvml_state *state)
{
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
	int on = 0, next = 0;
	int result = nvml->device_get_remapped_rows
			     ? nvml->device_get_remapped_rows(device, &corrected, &uncorrected,
							      &pending, &failed)
			     : FW_NVML_NO_CALL;

	state->rows_uncorrected = figure(result, uncorrected);
	state->rows_pending = figure(result, pending);
	state->rows_failed = figure(result, failed);
	result = nvml->device_get_ecc_mode ? nvml->device_get_ecc_mode(device, &on, &next)
					   : FW_NVML_NO_CALL;
	state->ecc = figure(result, (unsigned)on);
	state->ecc_uncorrected = ecc_errors(nvml, device, FW_NVML_ECC_SINCE_LOAD);
	state->ecc_uncorrected_lifetime = ecc_errors(nvml, device, FW_NVML_ECC_LIFETIME);
}

void fw_nvml_read_state(const struct fw_nvml *nvml, void *device, struct fw_nvml_state *state)
{
	unsigned mig = 0, pending = 0;
	int result;

	*state = (struct fw_nvml_state){ 0 };
	if (!device)
		return;
	read_utilization(nvml, device, state);
	read_memory(nvml, device, state);
	read_health(nvml, device, state);
	state->sm_mhz = ask_of(nvml->device_get_clock_info, device, FW_NVML_CLOCK_SM);
	state->memory_mhz = ask_of(nvml->device_get_clock_info, device, FW_NVML_CLOCK_MEMORY);
	state->power_mw = ask(nvml->device_get_power_usage, device);
	state->power_limit_mw = ask(nvml->device_get_enforced_power_limit, device);
	state->celsius = ask_of(nvml->device_get_temperature, device, 0);
	state->clocks_reasons = clocks_reasons(nvml, device);
	state->link_gen = ask(nvml->device_get_curr_pcie_link_generation, device);
	state->link_width = ask(nvml->device_get_curr_pcie_link_width, device);
	state->compute_mode = ask_mode(nvml->device_get_compute_mode, device);
	state->persistence = ask_mode(nvml->device_get_persistence_mode, device);
	result = nvml->device_get_mig_mode ? nvml->device_get_mig_mode(device, &mig, &pending)
					   : FW_NVML_NO_CALL;
	state->mig = figure(result, mig);
	state->mig_pending = figure(result, pending);
}

int fw_nvml_processes(const struct fw_nvml *nvml, void *device, enum fw_nvml_process_kind kind,
		      struct fw_nvml_process *processes, unsigned room, unsigned *count)
{
	int (*const calls[])(void *, unsigned *, struct fw_nvml_process *) = {
		nvml->device_get_compute_running_processes,
		nvml->device_get_graphics_running_processes,
		nvml->device_get_mps_compute_running_processes,
	};
	int result;

	*count = room;
	result = calls[kind] ? calls[kind](device, count, processes) : FW_NVML_NO_CALL;
	if (result && result != FW_NVML_INSUFFICIENT_SIZE)
		*count = 0;
	if (!result && *count > room)
		*count = room;
	return result;
}
