#ifndef FW_RECORD_COUNTERS_DEVICE_H
#define FW_RECORD_COUNTERS_DEVICE_H
/* One GPU of counters.fwr: its PM sampler, and its records. */
#include "base/vec.h"
#include "record/stream.h"
#include "sample/counter_source.h"
#include "sample/devices.h"
#include "sample/pm.h"

/* The name of the counter whose value is NVML's bits of why the clocks are below the maximum. */
#define FW_COUNTERS_REASONS "clocks_reasons"

struct fw_counters_device {
	uint32_t number;          /* NVML's index, by which the file names it */
	bool is_known;            /* its device record is written */
	bool is_used;             /* somebody uses it: from now on it is recorded */
	double idle_memory_bytes; /* when it was first seen */
	struct fw_pm *pm;         /* NULL: not sampled */
	bool is_pm_tried;
	enum fw_counter_source source; /* as last written; FW_COUNTERS_AUTO: not yet */
	int64_t clock_mono;            /* of the last clock record */
	int64_t last_end_mono;         /* of what is written */
	uint64_t dropped, wild;
	struct fw_vec samples; /* struct fw_pm_sample: those of one reading */
	int64_t values_mono;   /* of the last NVML reading */
};

/* Opens the sampler; false: why not is in err. */
bool fw_counters_device_sample(struct fw_counters_device *device, struct fw_pm_library *library,
			       const char *uuid, int64_t interval_ns, struct fw_error *err);

/*
 * Writes what was sampled since the last call. False: the sampler broke down and is closed; why is in
 * err. With a NULL stream the samples are thrown away.
 */
bool fw_counters_device_read(struct fw_counters_device *device, struct fw_record_stream *stream,
			     struct fw_error *err);

/* Writes what NVML and GPM said at now_mono; GPM's values are those since the reading before. */
void fw_counters_device_write(struct fw_counters_device *device, struct fw_record_stream *stream,
			      const struct fw_gpu_sample *sample, int64_t now_mono);

/* The device's record. */
void fw_counters_device_describe(struct fw_counters_device *device, struct fw_record_stream *stream,
				 const struct fw_gpu_sample *sample);

/* Closes the sampler and says how much was thrown away. stream may be NULL. */
void fw_counters_device_release(struct fw_counters_device *device, struct fw_record_stream *stream);

#endif
