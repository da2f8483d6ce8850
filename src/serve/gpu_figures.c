#include "serve/gpu_figures.h"

#include "sample/exported.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_NS INT64_C(1000000000)

void fw_gpu_find_uuid(unsigned device, char uuid[FW_CUDA_UUID_BYTES])
{
	struct fw_cuda cuda;

	uuid[0] = '\0';
	if (fw_cuda_open(&cuda, NULL))
		return;
	if (cuda.init(0) || !fw_cuda_uuid(&cuda, (int)device, uuid))
		uuid[0] = '\0';
	fw_cuda_close(&cuda);
}

fw_status fw_gpu_figures_open(struct fw_gpu_figures *figures, const char *uuid, const char *library,
			      struct fw_error *err)
{
	fw_status status;

	*figures = (struct fw_gpu_figures){ .devices = NULL };
	if (pthread_mutex_init(&figures->lock, NULL))
		return fw_fail(err, FW_ERR_IO, "no mutex");
	snprintf(figures->uuid, sizeof(figures->uuid), "%s", uuid);
	figures->machine = calloc(1, sizeof(*figures->machine));
	status = figures->machine ? fw_devices_open(&figures->devices, library, err)
				  : fw_fail_nomem(err, sizeof(*figures->machine));
	if (status) {
		fw_gpu_figures_close(figures);
		return status;
	}
	return FW_OK;
}

static const struct fw_gpu_sample *find(const struct fw_gpu_figures *figures)
{
	const struct fw_machine_sample *machine = figures->machine;

	for (unsigned i = 0; i < machine->gpu_count && !machine->result; i++)
		if (figures->uuid[0] && !strcmp(machine->gpus[i].identity.uuid, figures->uuid))
			return &machine->gpus[i];
	return NULL;
}

static void write_value(const struct fw_gpu_sample *gpu, int which, struct fw_openmetrics *writer)
{
	const struct fw_metric_label uuid = { "UUID", gpu->identity.uuid };
	const struct fw_value_kind *kind = &fw_gpu_values[which];
	struct fw_exported exported;
	struct fw_metric_family family;

	if (!fw_value_is_known(gpu->values[which]))
		return;
	fw_exported(kind, "fullwarp_gpu_", &exported);
	family = (struct fw_metric_family){ exported.name, FW_METRIC_GAUGE, exported.unit,
					    kind->help };
	fw_openmetrics_family(writer, &family);
	fw_openmetrics_value(writer, &uuid, 1, gpu->values[which].number * exported.scale);
}

void fw_gpu_figures_write(struct fw_gpu_figures *figures, int64_t now_ns,
			  struct fw_openmetrics *writer)
{
	const struct fw_gpu_sample *gpu;

	pthread_mutex_lock(&figures->lock);
	if (!figures->read_ns || now_ns - figures->read_ns >= PERIOD_NS) {
		fw_devices_read(figures->devices, now_ns, figures->machine);
		figures->read_ns = now_ns;
	}
	gpu = find(figures);
	for (int i = 0; gpu && i < FW_GPU_VALUE_COUNT; i++)
		write_value(gpu, i, writer);
	pthread_mutex_unlock(&figures->lock);
}

void fw_gpu_figures_close(struct fw_gpu_figures *figures)
{
	if (figures->devices)
		fw_devices_close(figures->devices);
	free(figures->machine);
	pthread_mutex_destroy(&figures->lock);
	*figures = (struct fw_gpu_figures){ .devices = NULL };
}
