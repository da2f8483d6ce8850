#ifndef FW_GPU_CUPTI_PM_H
#define FW_GPU_CUPTI_PM_H
/* CUPTI's PM sampling and the metrics of the profiler host, opened at run time: no toolkit is needed to build. */
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Results of CUPTI's calls that we tell apart (CUptiResult). */
enum fw_cupti_result {
	FW_CUPTI_SUCCESS = 0,
	FW_CUPTI_INVALID_PARAMETER = 1,
	FW_CUPTI_INVALID_DEVICE = 2,
	FW_CUPTI_INVALID_OPERATION = 7,
	FW_CUPTI_OUT_OF_MEMORY = 8,
	FW_CUPTI_HARDWARE = 9,
	FW_CUPTI_NOT_COMPATIBLE = 14,
	FW_CUPTI_NOT_INITIALIZED = 15,
	FW_CUPTI_INVALID_METRIC_NAME = 17,
	FW_CUPTI_HARDWARE_BUSY = 26,
	FW_CUPTI_NOT_SUPPORTED = 27,
	FW_CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED = 33,
	FW_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	FW_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
	FW_CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED = 41,
	FW_CUPTI_MIG_DEVICE_NOT_SUPPORTED = 43,
	FW_CUPTI_INVALID_CHIP_NAME = 46,
	FW_CUPTI_UNKNOWN = 999
};

enum { FW_CUPTI_PROFILER_PM_SAMPLING = 1 }; /* CUpti_ProfilerType */

enum fw_cupti_pm_trigger { FW_CUPTI_PM_TRIGGER_SYSCLK, FW_CUPTI_PM_TRIGGER_TIME };

enum fw_cupti_pm_stop {
	FW_CUPTI_PM_STOP_OTHER,
	FW_CUPTI_PM_STOP_FULL, /* the image; there is more to decode */
	FW_CUPTI_PM_STOP_END
};

/*
 * The parameters of the calls. Each struct begins with its size, up to and with its last field as
 * CUPTI counts it: FW_CUPTI_SIZE. The second field is NULL.
 */
#define FW_CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct fw_cupti_params { /* of calls that take nothing */
	size_t size;
	void *reserved;
};

struct fw_cupti_chip_name {
	size_t size;
	void *reserved;
	size_t device;    /* CUDA's ordinal */
	const char *name; /* out */
};

struct fw_cupti_host { /* of calls that take a profiler host only */
	size_t size;
	void *reserved;
	void *host;
};

struct fw_cupti_host_initialize {
	size_t size;
	void *reserved;
	int kind; /* FW_CUPTI_PROFILER_PM_SAMPLING */
	const char *chip;
	const uint8_t *availability; /* or NULL */
	void *host;                  /* out */
};

struct fw_cupti_host_metrics {
	size_t size;
	void *reserved;
	void *host;
	const char **names;
	size_t count;
};

struct fw_cupti_host_image_size {
	size_t size;
	void *reserved;
	void *host;
	size_t bytes; /* out */
};

struct fw_cupti_host_image {
	size_t size;
	void *reserved;
	void *host;
	size_t bytes;
	uint8_t *image; /* filled */
};

struct fw_cupti_passes {
	size_t size;
	void *reserved;
	size_t bytes;
	uint8_t *image;
	size_t passes; /* out */
};

struct fw_cupti_evaluate {
	size_t size;
	void *reserved;
	void *host;
	const uint8_t *data;
	size_t data_bytes;
	size_t sample;
	const char **names;
	size_t count;
	double *values; /* filled */
};

struct fw_cupti_availability {
	size_t size;
	void *reserved;
	size_t device;
	size_t bytes;   /* out while image is NULL */
	uint8_t *image; /* filled */
};

struct fw_cupti_pm_object { /* of calls that take a sampler only */
	size_t size;
	void *reserved;
	void *object;
};

struct fw_cupti_pm_enable {
	size_t size;
	void *reserved;
	size_t device;
	void *object; /* out */
};

struct fw_cupti_pm_config {
	size_t size;
	void *reserved;
	void *object;
	size_t config_bytes;
	const uint8_t *config;
	size_t buffer_bytes; /* of the hardware's buffer */
	uint64_t interval;   /* ns, or cycles of the system clock */
	int trigger;         /* enum fw_cupti_pm_trigger */
	int append;          /* 0: keep the oldest when full */
};

struct fw_cupti_pm_data_size {
	size_t size;
	void *reserved;
	void *object;
	const char **names;
	size_t count;
	uint32_t samples; /* at most */
	size_t bytes;     /* out */
};

struct fw_cupti_pm_data_clear {
	size_t size;
	void *reserved;
	void *object;
	size_t bytes;
	uint8_t *data;
};

struct fw_cupti_pm_decode {
	size_t size;
	void *reserved;
	void *object;
	uint8_t *data;
	size_t bytes;
	int stop;         /* out: enum fw_cupti_pm_stop */
	uint8_t overflow; /* out: the hardware's buffer was full */
};

struct fw_cupti_pm_data_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t bytes;
	size_t total, populated, completed; /* out: samples */
};

struct fw_cupti_pm_sample_info {
	size_t size;
	void *reserved;
	void *object;
	const uint8_t *data;
	size_t bytes;
	size_t sample;
	uint64_t start, end; /* out: ns of CUPTI's clock */
};

/* The library's calls; an optional one may be NULL. Immutable after opening. */
struct fw_cupti_pm {
	void *handle, *host_handle;
#define FW_SYM(required, symbol, field, args) int(*field) args;
#include "gpu/cupti_pm.def"
#undef FW_SYM
};

/*
 * Opens a libcupti, by path or by a name that the loader looks up, and libnvperf_host beside it, which
 * libcupti asks the loader for by name. FW_ERR_UNSUPPORTED, with what is missing, where that fails; a
 * library before CUDA 12.6 has no PM sampling. CUPTI stays in the process until it ends: it does not
 * stand being unloaded after its first use.
 */
fw_status fw_cupti_pm_open(struct fw_cupti_pm *cupti, const char *library, struct fw_error *err);

/* A result in words; static storage, never NULL. */
const char *fw_cupti_result_text(int result);

#endif
