/*
 * A stand-in for libnvidia-ml.so.1. $FW_FAKE_NVML names a text file, read again at every call, so that a
 * test can change it under a running program. A line is KEY VALUE; a value of !N makes the call answer
 * N; "#" starts a comment; the last line that fits counts.
 *
 *   driver 580.159.04        cuda 13000      init !9          count 8
 *   GPU.KEY VALUE            GPU is a number, or * for all; the keys are the names in the calls below
 *   3.* !15                  every call on GPU 3 answers 15: the GPU is lost
 *   @4 count 7               from the 4th question for the count on, so that no clock is needed
 *   GPU.process PID BYTES    one line a process (BYTES -: not available); GPU.graphics, GPU.mps likewise
 *   GPU.procutil PID US SM MEM ENC DEC
 *   GPU.gpmID VALUE          a metric of GPM; GPU.gpm_min_ms N: samples closer than that answer 0
 *
 * What no line says has a default: an idle H200.
 */
#include "gpu/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API        __attribute__((visibility("default")))
#define MAX_GPUS   64u
#define LINE_BYTES 256
#define WORD_BYTES 128

/* A GPU's handle points to its row, those of its MIG devices to the bytes after the first. */
static char handles[MAX_GPUS][16];
static unsigned ticks; /* questions for the count */

struct sample {
	const void *device;
	struct timespec time;
};

/* The position of a handle. */
static unsigned gpu_of(const void *device)
{
	return (unsigned)((const char *)device - handles[0]) / 16;
}

static bool is_key(const char *key, int gpu, const char *name)
{
	char own[WORD_BYTES], all[WORD_BYTES], lost[WORD_BYTES];

	if (gpu < 0)
		return !strcmp(key, name);
	snprintf(own, sizeof(own), "%d.%s", gpu, name);
	snprintf(all, sizeof(all), "*.%s", name);
	snprintf(lost, sizeof(lost), "%d.*", gpu);
	return !strcmp(key, own) || !strcmp(key, all) || !strcmp(key, lost) || !strcmp(key, "*.*");
}

/* What is looked for, and what was found. */
struct reader {
	int gpu; /* -1: not of a GPU */
	const char *name;
	char value[LINE_BYTES]; /* the last that fits */
	bool is_found;
	/* For lists: the values of all lines that fit. */
	char (*list)[LINE_BYTES];
	unsigned room, count;
};

static void take_line(struct reader *reader, char *line)
{
	char *value;
	unsigned long from = 0;

	line[strcspn(line, "#\n")] = 0;
	if (line[0] == '@')
		from = strtoul(line + 1, &line, 10);
	line += strspn(line, " ");
	value = line + strcspn(line, " ");
	if (*value)
		*value++ = 0;
	value += strspn(value, " ");
	if (ticks < from || !is_key(line, reader->gpu, reader->name))
		return;
	snprintf(reader->value, sizeof(reader->value), "%s", value);
	reader->is_found = true;
	if (reader->list && value[0] != '!' && reader->count < reader->room)
		snprintf(reader->list[reader->count++], LINE_BYTES, "%s", value);
}

static void read_states(struct reader *reader)
{
	const char *path = getenv("FW_FAKE_NVML");
	FILE *file = path ? fopen(path, "r") : NULL;
	char line[LINE_BYTES];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		take_line(reader, line);
	fclose(file);
}

/* The result that a call answers; its value, where that is 0. */
static int look_up(int gpu, const char *name, const char *otherwise, char value[LINE_BYTES])
{
	struct reader reader = { .gpu = gpu, .name = name };

	read_states(&reader);
	if (reader.is_found && reader.value[0] == '!')
		return (int)strtol(reader.value + 1, NULL, 10);
	snprintf(value, LINE_BYTES, "%s", reader.is_found ? reader.value : otherwise);
	return 0;
}

static int look_up_number(int gpu, const char *name, unsigned long long otherwise,
			  unsigned long long *number)
{
	char value[LINE_BYTES], fallback[32];
	int result;

	snprintf(fallback, sizeof(fallback), "%llu", otherwise);
	result = look_up(gpu, name, fallback, value);
	if (!result)
		*number = strtoull(value, NULL, 0);
	return result;
}

static int text(int gpu, const char *name, const char *otherwise, char *out, unsigned length)
{
	char value[LINE_BYTES];
	int result = look_up(gpu, name, otherwise, value);

	if (!result && strlen(value) >= length)
		return FW_NVML_INSUFFICIENT_SIZE;
	if (!result)
		snprintf(out, length, "%s", value);
	return result;
}

static int number(const void *device, const char *name, unsigned otherwise, unsigned *out)
{
	unsigned long long value = 0;
	int result = look_up_number((int)gpu_of(device), name, otherwise, &value);

	if (!result)
		*out = (unsigned)value;
	return result;
}

static int wide(const void *device, const char *name, unsigned long long otherwise,
		unsigned long long *out)
{
	return look_up_number((int)gpu_of(device), name, otherwise, out);
}

/* Every call as src/gpu/nvml.def declares it, so that both stay the same. */
#define FW_SYM(required, symbol, field, args) API int fake_##field args __asm__(symbol);
#include "gpu/nvml.def"
#undef FW_SYM

int fake_init(void)
{
	char value[LINE_BYTES];

	return look_up(-1, "init", "", value);
}

int fake_shutdown(void)
{
	return 0;
}

int fake_system_get_driver_version(char *version, unsigned length)
{
	return text(-1, "driver", "580.159.04", version, length);
}

int fake_system_get_cuda_driver_version(int *version)
{
	unsigned long long value = 0;
	int result = look_up_number(-1, "cuda", 13000, &value);

	if (!result)
		*version = (int)value;
	return result;
}

int fake_system_get_process_name(unsigned pid, char *name, unsigned length)
{
	snprintf(name, length, "/usr/bin/process-%u", pid);
	return 0;
}

static int device_count(unsigned *count)
{
	unsigned long long value = 0;
	int result = look_up_number(-1, "count", 1, &value);

	if (!result)
		*count = value < MAX_GPUS ? (unsigned)value : MAX_GPUS;
	return result;
}

int fake_device_get_count(unsigned *count)
{
	ticks++;
	return device_count(count);
}

int fake_device_get_handle_by_index(unsigned index, void **device)
{
	unsigned count = 0, ignored;
	int result = device_count(&count);

	if (!result && index >= count)
		return 2; /* invalid argument */
	if (result)
		return result;
	*device = handles[index];
	return number(*device, "handle", 0, &ignored);
}

int fake_device_get_handle_by_uuid(const char *uuid, void **device)
{
	unsigned count = 0;
	char own[FW_NVML_NAME_BYTES];

	if (device_count(&count))
		return FW_NVML_UNKNOWN;
	for (unsigned i = 0; i < count; i++)
		if (!fake_device_get_uuid(handles[i], own, sizeof(own)) && !strcmp(own, uuid)) {
			*device = handles[i];
			return 0;
		}
	return FW_NVML_NOT_FOUND;
}

int fake_device_get_name(void *device, char *name, unsigned length)
{
	return text((int)gpu_of(device), "name", "NVIDIA H200", name, length);
}

int fake_device_get_uuid(void *device, char *uuid, unsigned length)
{
	char own[64];
	unsigned long at = (unsigned long)((char *)device - handles[0]);

	snprintf(own, sizeof(own), "%s-00000000-0000-0000-0000-%012lx", at % 16 ? "MIG" : "GPU",
		 at % 16 ? at : at / 16);
	return text((int)gpu_of(device), "uuid", own, uuid, length);
}

int fake_device_get_pci_info(void *device, struct fw_nvml_pci *pci)
{
	unsigned gpu = gpu_of(device);

	*pci = (struct fw_nvml_pci){ .bus = 0x17 + gpu, .device_id = 0x233510deu };
	snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "0000:%02X:00.0", pci->bus & 255u);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
	return text((int)gpu, "bus_id", pci->bus_id, pci->bus_id, sizeof(pci->bus_id));
}

int fake_device_get_minor_number(void *device, unsigned *minor)
{
	return number(device, "minor", gpu_of(device), minor);
}

int fake_device_get_cuda_compute_capability(void *device, int *major, int *minor)
{
	unsigned cc = 0;
	int result = number(device, "cc", 90, &cc);

	*major = (int)cc / 10;
	*minor = (int)cc % 10;
	return result;
}

int fake_device_get_num_gpu_cores(void *device, unsigned *cores)
{
	return number(device, "cores", 16896, cores);
}

int fake_device_get_utilization_rates(void *device, struct fw_nvml_utilization *utilization)
{
	int result = number(device, "gpu_percent", 0, &utilization->gpu);

	return result ? result : number(device, "memory_percent", 0, &utilization->memory);
}

int fake_device_get_memory_info_v2(void *device, struct fw_nvml_memory *memory)
{
	int result;

	if (memory->version != FW_NVML_MEMORY_VERSION)
		return 25; /* argument version mismatch */
	memory->reserved = 0;
	result = wide(device, "memory_total", 150754820096ull, &memory->total);
	if (!result)
		result = wide(device, "memory_used", 0, &memory->used);
	if (!result)
		result = wide(device, "memory_reserved", 0, &memory->reserved);
	memory->free = memory->total - memory->used - memory->reserved;
	return result;
}

int fake_device_get_clock_info(void *device, int type, unsigned *mhz)
{
	return type == FW_NVML_CLOCK_MEMORY ? number(device, "memory_mhz", 3201, mhz)
					    : number(device, "sm_mhz", 345, mhz);
}

int fake_device_get_max_clock_info(void *device, int type, unsigned *mhz)
{
	return type == FW_NVML_CLOCK_MEMORY ? number(device, "memory_mhz_max", 3201, mhz)
					    : number(device, "sm_mhz_max", 1980, mhz);
}

int fake_device_get_power_usage(void *device, unsigned *milliwatts)
{
	return number(device, "power_mw", 76000, milliwatts);
}

int fake_device_get_enforced_power_limit(void *device, unsigned *milliwatts)
{
	return number(device, "power_limit_mw", 700000, milliwatts);
}

int fake_device_get_temperature(void *device, int sensor, unsigned *celsius)
{
	return sensor ? FW_NVML_NOT_SUPPORTED : number(device, "celsius", 31, celsius);
}

int fake_device_get_current_clocks_event_reasons(void *device, unsigned long long *reasons)
{
	return wide(device, "clocks_reasons", FW_NVML_CLOCKS_IDLE, reasons);
}

int fake_device_get_current_clocks_throttle_reasons(void *device, unsigned long long *reasons)
{
	return wide(device, "clocks_reasons", FW_NVML_CLOCKS_IDLE, reasons);
}

int fake_device_get_curr_pcie_link_generation(void *device, unsigned *generation)
{
	return number(device, "link_gen", 5, generation);
}

int fake_device_get_curr_pcie_link_width(void *device, unsigned *width)
{
	return number(device, "link_width", 16, width);
}

int fake_device_get_max_pcie_link_generation(void *device, unsigned *generation)
{
	return number(device, "link_gen_max", 5, generation);
}

int fake_device_get_gpu_max_pcie_link_generation(void *device, unsigned *generation)
{
	return number(device, "link_gen_gpu_max", 5, generation);
}

int fake_device_get_max_pcie_link_width(void *device, unsigned *width)
{
	return number(device, "link_width_max", 16, width);
}

int fake_device_get_pcie_throughput(void *device, int counter, unsigned *kib_per_second)
{
	return counter == FW_NVML_PCIE_TX ? number(device, "pcie_tx", 0, kib_per_second)
					  : number(device, "pcie_rx", 0, kib_per_second);
}

int fake_device_get_ecc_mode(void *device, int *current, int *pending)
{
	unsigned on = 0;
	int result = number(device, "ecc", 1, &on);

	*current = *pending = (int)on;
	return result;
}

int fake_device_get_total_ecc_errors(void *device, int type, int counter, unsigned long long *count)
{
	static const char *const names[2][2] = {
		{ "ecc_corrected", "ecc_corrected_lifetime" },
		{ "ecc_uncorrected", "ecc_uncorrected_lifetime" },
	};

	return wide(device, names[type & 1][counter & 1], 0, count);
}

int fake_device_get_remapped_rows(void *device, unsigned *corrected, unsigned *uncorrected,
				  unsigned *pending, unsigned *failed)
{
	int result = number(device, "rows_corrected", 0, corrected);

	if (!result)
		result = number(device, "rows_uncorrected", 0, uncorrected);
	if (!result)
		result = number(device, "rows_pending", 0, pending);
	return result ? result : number(device, "rows_failed", 0, failed);
}

int fake_device_get_compute_mode(void *device, int *mode)
{
	unsigned value = 0;
	int result = number(device, "compute_mode", 0, &value);

	*mode = (int)value;
	return result;
}

int fake_device_get_persistence_mode(void *device, int *mode)
{
	unsigned value = 0;
	int result = number(device, "persistence", 1, &value);

	*mode = (int)value;
	return result;
}

int fake_device_get_mig_mode(void *device, unsigned *current, unsigned *pending)
{
	int result = number(device, "mig", 0, current);

	return result ? result : number(device, "mig_pending", *current, pending);
}

int fake_device_get_max_mig_device_count(void *device, unsigned *count)
{
	return number(device, "mig_max", 7, count);
}

int fake_device_get_mig_device_handle_by_index(void *device, unsigned index, void **mig)
{
	unsigned count = 0;
	int result = number(device, "mig_devices", 0, &count);

	if (!result && (index >= count || index >= 15))
		return FW_NVML_NOT_FOUND;
	if (!result)
		*mig = handles[gpu_of(device)] + 1 + index;
	return result;
}

/* The lines of a list; NVML asks for room first. */
static int read_list(const void *device, const char *name, char list[][LINE_BYTES], unsigned room,
		     unsigned *count)
{
	struct reader reader = { .gpu = (int)gpu_of(device), .name = name };

	reader.list = list;
	reader.room = room;
	read_states(&reader);
	if (reader.is_found && reader.value[0] == '!')
		return (int)strtol(reader.value + 1, NULL, 10);
	*count = reader.count;
	return 0;
}

#define MAX_LINES 128u
static int processes(const void *device, const char *name, unsigned *count,
		     struct fw_nvml_process *out)
{
	static char list[MAX_LINES][LINE_BYTES];
	unsigned found = 0, room = *count;
	int result = read_list(device, name, list, MAX_LINES, &found);

	if (result)
		return result;
	*count = found;
	if (found > room)
		return FW_NVML_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < found; i++) {
		char *rest;

		out[i].pid = (unsigned)strtoul(list[i], &rest, 10);
		rest += strspn(rest, " ");
		out[i].memory = *rest == '-' ? FW_NVML_NO_VALUE : strtoull(rest, NULL, 10);
		out[i].gpu_instance = out[i].compute_instance = FW_NVML_NO_INSTANCE;
	}
	return 0;
}

int fake_device_get_compute_running_processes(void *device, unsigned *count,
					      struct fw_nvml_process *out)
{
	return processes(device, "process", count, out);
}

int fake_device_get_graphics_running_processes(void *device, unsigned *count,
					       struct fw_nvml_process *out)
{
	return processes(device, "graphics", count, out);
}

int fake_device_get_mps_compute_running_processes(void *device, unsigned *count,
						  struct fw_nvml_process *out)
{
	return processes(device, "mps", count, out);
}

int fake_device_get_process_utilization(void *device, struct fw_nvml_process_utilization *samples,
					unsigned *count, unsigned long long last_seen_us)
{
	static char list[MAX_LINES][LINE_BYTES];
	unsigned found = 0, room = samples ? *count : 0;
	int result = read_list(device, "procutil", list, MAX_LINES, &found);

	(void)last_seen_us; /* real drivers return older ones too */
	if (result)
		return result;
	*count = found;
	if (found > room)
		return FW_NVML_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < found; i++)
		if (sscanf(list[i], "%u %llu %u %u %u %u", &samples[i].pid, &samples[i].time_us,
			   &samples[i].sm, &samples[i].memory, &samples[i].encoder,
			   &samples[i].decoder) != 6)
			return FW_NVML_UNKNOWN;
	return found ? 0 : FW_NVML_NOT_FOUND;
}

int fake_gpm_query_device_support(void *device, struct fw_nvml_gpm_support *support)
{
	return support->version == 1 ? number(device, "gpm", 1, &support->is_supported) : 25;
}

int fake_gpm_sample_alloc(void **sample)
{
	*sample = calloc(1, sizeof(struct sample));
	return *sample ? 0 : 20; /* memory */
}

int fake_gpm_sample_free(void *sample)
{
	free(sample);
	return 0;
}

int fake_gpm_sample_get(void *device, void *sample)
{
	struct sample *own = sample;
	unsigned ignored;

	own->device = device;
	clock_gettime(CLOCK_MONOTONIC, &own->time);
	return number(device, "gpm_sample", 0, &ignored);
}

int fake_gpm_metrics_get(struct fw_nvml_gpm_metrics *metrics)
{
	const struct sample *a = metrics->first, *b = metrics->second;
	long long ms = (b->time.tv_sec - a->time.tv_sec) * 1000LL +
		       (b->time.tv_nsec - a->time.tv_nsec) / 1000000;
	unsigned least = 0;

	if (metrics->version != 1 || !b->device || a->device != b->device)
		return 25;
	number(b->device, "gpm_min_ms", 0, &least);
	for (unsigned i = 0; i < metrics->count; i++) {
		char name[32], value[LINE_BYTES];

		snprintf(name, sizeof(name), "gpm%u", metrics->metrics[i].id);
		metrics->metrics[i].result = look_up((int)gpu_of(b->device), name, "0", value);
		metrics->metrics[i].value =
			metrics->metrics[i].result || ms < least ? 0 : strtod(value, NULL);
	}
	return 0;
}
