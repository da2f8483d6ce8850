#ifndef FW_TOP_MODEL_H
#define FW_TOP_MODEL_H
/* What top knows: the last reading of everything, short histories, verdicts and alarms. */
#include "base/error.h"
#include "base/vec.h"
#include "sample/devices.h"
#include "top/growth.h"
#include "top/history.h"
#include "top/verdict.h"

struct fw_proc;

struct fw_top_gpu {
	struct fw_gpu_sample sample;
	struct fw_verdict verdict;
	double floor_w; /* least power seen, 0: none */
	struct fw_history busy, sm, tensor, dram, memory;
};

/* Host memory that grows towards a limit. */
struct fw_memory_alarm {
	bool is_raised; /* the limit is less than FW_TOP_ALARM_S away */
	struct fw_value slope, seconds_left;
	double window_s;
};

#define FW_TOP_ALARM_S (24 * 3600.0)

struct fw_top_process {
	unsigned pid, gpu;
	uint64_t start;
	char name[32]; /* empty: not known here */
	struct fw_value values[FW_PROCESS_VALUE_COUNT];
	struct fw_growth growth;
	struct fw_memory_alarm alarm;
	struct fw_history gpu_memory, rss, cpu;
	bool is_seen;
};

struct fw_top_options {
	const char *nvml; /* NULL: libnvidia-ml.so.1 */
	const char *root; /* NULL: / */
	struct fw_devices_counters counters;
};

/* Its memory is bounded, however long it runs. One thread. */
struct fw_top {
	struct fw_devices *devices;
	struct fw_proc *proc;
	int64_t now_ns;    /* of the last reading */
	double interval_s; /* between the last two, 0: there was one */
	double real_s;     /* Unix time of the last reading */
	uint64_t readings;
	struct fw_machine_sample machine;
	struct fw_top_gpu gpus[FW_SAMPLE_GPUS]; /* machine.gpu_count of them */
	struct fw_vec processes;                /* struct fw_top_process, by GPU and pid */
};

fw_status fw_top_open(struct fw_top **top, const struct fw_top_options *options,
		      struct fw_error *err);

/* Reads everything anew at now_ns, of a steady clock. */
fw_status fw_top_update(struct fw_top *top, int64_t now_ns, struct fw_error *err);

void fw_top_close(struct fw_top *top);

#endif
