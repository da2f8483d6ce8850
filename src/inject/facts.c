#include "inject/facts.h"

#include "gpu/cuda.h"
#include "gpu/loader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_BYTES 4096u

/* Of the driver only this, each call as far as it is there. */
struct driver {
	void *handle;
	int (*get_version)(int *version);
	int (*device_get)(int *device, int ordinal);
	int (*device_get_name)(char *name, int bytes, int device);
	int (*device_get_uuid)(uint8_t uuid[16], int device);
	int (*device_get_attribute)(int *value, int attribute, int device);
	int (*device_total_mem)(size_t *bytes, int device);
};

static bool open_driver(struct driver *driver)
{
	static const struct fw_symbol symbols[] = {
		{ "cuDriverGetVersion", offsetof(struct driver, get_version), false },
		{ "cuDeviceGet", offsetof(struct driver, device_get), false },
		{ "cuDeviceGetName", offsetof(struct driver, device_get_name), false },
		{ "cuDeviceGetUuid_v2", offsetof(struct driver, device_get_uuid), false },
		{ "cuDeviceGetAttribute", offsetof(struct driver, device_get_attribute), false },
		{ "cuDeviceTotalMem_v2", offsetof(struct driver, device_total_mem), false },
	};

	*driver = (struct driver){ .handle = NULL };
	return !fw_symbols_load("libcuda.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]),
				driver, &driver->handle, NULL);
}

void fw_facts_text(struct fw_convert *convert, enum fw_rec_info_key key, const char *text)
{
	uint32_t id = fw_names_id(convert->names, convert->sink, text);
	struct fw_rec_info *info = fw_sink_add(convert->sink, FW_REC_INFO, sizeof(*info), key);

	if (info)
		info->text = id;
}

void fw_facts_value(struct fw_convert *convert, enum fw_rec_info_key key, int64_t value)
{
	struct fw_rec_info *info = fw_sink_add(convert->sink, FW_REC_INFO, sizeof(*info), key);

	if (info)
		info->value = value;
}

static size_t read_file(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, to, room - 1);

	if (fd >= 0)
		close(fd);
	to[got > 0 ? got : 0] = 0;
	return got > 0 ? (size_t)got : 0;
}

/* Arguments are separated by NUL there; here by a space. */
static void write_command(struct fw_convert *convert)
{
	char text[COMMAND_BYTES];
	size_t bytes = read_file("/proc/self/cmdline", text, sizeof(text));

	while (bytes && !text[bytes - 1])
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		if (!text[i])
			text[i] = ' ';
	text[bytes] = 0;
	fw_facts_text(convert, FW_REC_INFO_COMMAND, text);
	read_file("/proc/self/comm", text, sizeof(text));
	text[strcspn(text, "\n")] = 0;
	fw_facts_text(convert, FW_REC_INFO_PROCESS_NAME, text);
}

/* The first of the launchers' variables that is a number. */
static void write_number(struct fw_convert *convert, enum fw_rec_info_key key,
			 const char *const *variables)
{
	for (; *variables; variables++) {
		const char *text = getenv(*variables);
		char *end = NULL;
		long value = text ? strtol(text, &end, 10) : -1;

		if (text && end != text && !*end && value >= 0) {
			fw_facts_value(convert, key, value);
			return;
		}
	}
}

void fw_facts_process(struct fw_convert *convert, const struct fw_inject_options *options)
{
	static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					     "SLURM_PROCID", NULL };
	static const char *const sizes[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					     "SLURM_NTASKS", NULL };
	char host[256] = { 0 };

	if (!gethostname(host, sizeof(host) - 1))
		fw_facts_text(convert, FW_REC_INFO_HOST, host);
	write_command(convert);
	write_number(convert, FW_REC_INFO_RANK, ranks);
	write_number(convert, FW_REC_INFO_WORLD_SIZE, sizes);
	fw_facts_value(convert, FW_REC_INFO_GRAPH_NODES, options->graph_nodes);
	if (options->kernels[0])
		fw_facts_text(convert, FW_REC_INFO_SELECTED, options->kernels);
}

int fw_facts_driver_version(void)
{
	struct driver driver;
	int version = 0;

	if (!open_driver(&driver))
		return 0;
	if (!driver.get_version || driver.get_version(&version))
		version = 0;
	fw_symbols_unload(driver.handle);
	return version;
}

static int attribute(const struct driver *driver, int device, int which)
{
	int value = -1;

	if (!driver->device_get_attribute || driver->device_get_attribute(&value, which, device))
		return -1;
	return value;
}

static void write_device(struct fw_convert *convert, const struct driver *driver, uint32_t id)
{
	char name[128] = { 0 };
	struct fw_rec_device *to;
	int device = 0, major, minor;
	uint32_t name_id = 0;
	size_t bytes = 0;

	if (!driver->device_get || driver->device_get(&device, (int)id))
		return;
	if (driver->device_get_name && !driver->device_get_name(name, sizeof(name) - 1, device))
		name_id = fw_names_id(convert->names, convert->sink, name);
	to = fw_sink_add(convert->sink, FW_REC_DEVICE, sizeof(*to), id);
	if (!to)
		return;
	if (!driver->device_get_uuid || driver->device_get_uuid(to->uuid, device))
		memset(to->uuid, 0, sizeof(to->uuid));
	major = attribute(driver, device, FW_CUDA_CC_MAJOR);
	minor = attribute(driver, device, FW_CUDA_CC_MINOR);
	to->name = name_id;
	to->cc = major < 0 || minor < 0 ? -1 : major * 10 + minor;
	to->sms = attribute(driver, device, FW_CUDA_SM_COUNT);
	to->memory_bytes = -1;
	if (driver->device_total_mem && !driver->device_total_mem(&bytes, device))
		to->memory_bytes = (int64_t)bytes;
}

void fw_facts_devices(struct fw_convert *convert)
{
	uint64_t missing = convert->devices_seen & ~convert->devices;
	struct driver driver;

	if (!missing || !open_driver(&driver))
		return;
	for (uint32_t id = 0; id < FW_CONVERT_DEVICES; id++)
		if (missing & UINT64_C(1) << id)
			write_device(convert, &driver, id);
	/* Once: what the driver does not know now, it will not know later. */
	convert->devices |= missing;
	fw_symbols_unload(driver.handle);
}
